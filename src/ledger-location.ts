import type { Config } from './config.ts';
import { Problem } from './problem.ts';
import { readStack } from './stack/stack-file.ts';

/**
 * Where the ledger is: SURETY_DATABASE_URL, the stack that runs in the data directory, or DATABASE_URL. In a project that has a
 * database of its own the last one names that, so a stack of ours goes before it. The URL holds the password.
 */
export async function locateLedger(config: Config): Promise<string> {
  if (config.databaseUrl !== undefined && config.isOwnDatabaseUrl) return config.databaseUrl;
  const stack = await readStack(config.home);
  if (stack.running) return stack.stack.databaseUrl;
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  throw new Problem(
    `No ledger: DATABASE_URL is not set, and ${stack.because}.`,
    'Start it with `surety up` (in a clone: npm start), or set SURETY_HOME or DATABASE_URL to where it is.',
  );
}
