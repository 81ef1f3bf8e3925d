import type { Config } from './config.ts';
import { Problem } from './problem.ts';
import { readStack } from './stack/stack-file.ts';

/** Where the ledger is: DATABASE_URL, or the stack that runs in the data directory. The URL holds the password. */
export async function locateLedger(config: Config): Promise<string> {
  if (config.databaseUrl !== undefined) return config.databaseUrl;
  const stack = await readStack(config.home);
  if (stack.running) return stack.stack.databaseUrl;
  throw new Problem(
    `No ledger: DATABASE_URL is not set, and ${stack.because}.`,
    'Start it with `surety up` (in a clone: npm start), or set SURETY_HOME or DATABASE_URL to where it is.',
  );
}
