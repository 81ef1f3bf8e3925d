import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, DatabaseError } from 'pg';
import type { Home } from '../home.ts';
import { Problem } from '../problem.ts';
import { startChild, waitUntilReady } from '../stack/child.ts';
import type { Child } from '../stack/child.ts';
import type { StopStep } from '../stack/process.ts';
import { POSTGRES_ENV, chooseAccount } from './embedded-account.ts';
import type { Account } from './embedded-account.ts';
import { findPostgresBinaries } from './embedded-binaries.ts';
import { DATABASE_USER, dataDirectory, disarmStalePidFile, openCluster } from './embedded-cluster.ts';

const DATABASE = 'surety';
const READY_WITHIN_MS = 60_000;

/** Fast shutdown, which ends sessions and writes a checkpoint; then one that leaves recovery to the next start. */
export const POSTGRES_STOP: readonly StopStep[] = [
  { signal: 'SIGINT', waitMs: 10_000 },
  { signal: 'SIGQUIT', waitMs: 3_000 },
  { signal: 'SIGKILL', waitMs: 2_000 },
];

/** The part of the command line by which a Postgres of ours on this data directory is recognised. */
export function postgresCommandLine(home: Home): string {
  return `/postgres ${dataArguments(home).join(' ')} `;
}

function dataArguments(home: Home): string[] {
  return ['-D', dataDirectory(home), ...setting('listen_addresses', '127.0.0.1')];
}

export interface EmbeddedPostgres {
  readonly url: string;
  readonly child: Child;
}

export interface EmbeddedPostgresOptions {
  readonly home: Home;
  readonly port: number;
  readonly progress: (message: string) => void;
  /** The ways to try as root, if not all that we know. */
  readonly accounts?: readonly Account[];
  /** Called before anything is waited for, so that no child is ever unknown to the guard. */
  readonly onSpawn: (child: Child) => void;
}

/** Runs a Postgres of our own on 127.0.0.1, and resolves when it answers. */
export async function startPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { home, port, progress, accounts, onSpawn } = options;
  await mkdir(home.postgres, { recursive: true, mode: 0o700 });
  const binaries = await findPostgresBinaries();
  const account = await chooseAccount(home, binaries, accounts);
  const password = await openCluster(home, binaries, account, progress);
  await disarmStalePidFile(home);
  const logFile = join(home.logs, 'postgres.log');
  const [command = binaries.postgres, ...args] = [
    ...account.prefix,
    binaries.postgres,
    ...dataArguments(home),
    ...setting('port', String(port)),
    ...setting('unix_socket_directories', ''),
    ...setting('fsync', 'on'),
    ...setting('synchronous_commit', 'on'),
  ];
  const child = await startChild({
    name: 'Postgres',
    command,
    args,
    env: POSTGRES_ENV,
    runAs: account.runAs,
    logFile,
    stop: POSTGRES_STOP,
  });
  onSpawn(child);
  const at = (database: string) => `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/${database}`;
  await waitUntilReady(child, () => answers(at('postgres')), READY_WITHIN_MS);
  await createDatabase(at('postgres'));
  return { url: at(DATABASE), child };
}

function setting(name: string, value: string): string[] {
  return ['-c', `${name}=${value}`];
}

const STARTING_UP = '57P03'; // Which after a kill means recovering.

async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query('SELECT 1'));
    return true;
  } catch (error) {
    // Anything but a refusal by Postgres itself is a connection that did not come about, and may yet.
    if (!(error instanceof DatabaseError) || error.code === STARTING_UP) return false;
    throw new Problem(
      `Postgres was started but does not let us in: ${error.message}`,
      'If its password file was changed, put the old one back; else see logs/postgres.log in the data directory.',
      { cause: error },
    );
  }
}

async function createDatabase(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  });
}

async function withClient(url: string, use: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // A connection that breaks also emits this; the query that was running rejects with the same reason.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await use(client);
  } finally {
    await client.end();
  }
}
