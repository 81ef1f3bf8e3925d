import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Home } from '../home.ts';
import { Problem, codeOf, reasonOf } from '../problem.ts';
import { listCommandLines } from '../stack/process.ts';
import { POSTGRES_ENV } from './embedded-account.ts';
import type { Account } from './embedded-account.ts';
import type { PostgresBinaries } from './embedded-binaries.ts';

export const DATABASE_USER = 'surety';

export function dataDirectory(home: Home): string {
  return join(home.postgres, 'data');
}

/** Creates the cluster on the first start. Returns the password, which is kept beside it. */
export async function openCluster(
  home: Home,
  binaries: PostgresBinaries,
  account: Account,
  progress: (message: string) => void,
): Promise<string> {
  const passwordFile = join(home.postgres, 'password');
  if (!(await exists(join(dataDirectory(home), 'PG_VERSION')))) {
    progress('Creating the Postgres database directory');
    await createCluster(home, binaries, account, passwordFile);
  }
  try {
    return (await readFile(passwordFile, 'utf8')).trim();
  } catch (error) {
    throw new Problem(
      `The password of the database in ${home.postgres} cannot be read: ${reasonOf(error)}`,
      `Put ${passwordFile} back, or move ${home.postgres} away to start with an empty database.`,
      { cause: error },
    );
  }
}

async function createCluster(
  home: Home,
  binaries: PostgresBinaries,
  account: Account,
  passwordFile: string,
): Promise<void> {
  await writeFile(passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  await chown(passwordFile, account.owner.uid, account.owner.gid);
  // Made aside and renamed when complete: a start killed halfway leaves nothing that looks like a database.
  const unfinished = `${dataDirectory(home)}.new`;
  await rm(unfinished, { recursive: true, force: true });
  const options = [
    `--pgdata=${unfinished}`,
    `--username=${DATABASE_USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Order of text that no upgrade of the system's libraries can change under an index.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    // Syncs by default, and is left to: without it a power cut in the first minutes loses the cluster, and the 0.4 s
    // pass while Temporal starts.
    '--set=max_connections=200',
    '--set=shared_buffers=128MB',
  ];
  const [command = binaries.initdb, ...args] = [...account.prefix, binaries.initdb, ...options];
  try {
    await promisify(execFile)(command, args, { env: POSTGRES_ENV, cwd: '/', ...account.runAs });
  } catch (error) {
    throw new Problem(
      `The Postgres database directory could not be created (${account.how}): ${reasonOf(error)}`,
      `Check that ${home.postgres} may be written to and has room, or set DATABASE_URL.`,
      { cause: error },
    );
  }
  await rename(unfinished, dataDirectory(home));
}

/**
 * Makes a `postmaster.pid` left by a killed Postgres harmless. Postgres takes it for a live server's when its process
 * number belongs to anything of the same user: after a container's restart that is the rule, and a killed one that
 * nobody reaped counts too. Deleting the file would also switch off its check that no backend still writes; naming us,
 * its parent, which it knows not to be a server, leaves just that check.
 */
export async function disarmStalePidFile(home: Home): Promise<void> {
  const file = join(dataDirectory(home), 'postmaster.pid');
  try {
    const [pid, ...rest] = (await readFile(file, 'utf8')).split('\n');
    if (isServerHere(Number(pid), home)) return; // Somebody started one by hand. Postgres will say so itself.
    await writeFile(file, [String(process.pid), ...rest].join('\n'));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

function isServerHere(pid: number, home: Home): boolean {
  return listCommandLines().some((other) => other.pid === pid && other.commandLine.includes(dataDirectory(home)));
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
