import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as TemporalClient } from '@temporalio/client';
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import type { Config } from '../../src/config.ts';
import { Problem } from '../../src/problem.ts';
import { startStack } from '../../src/stack/stack.ts';
import type { Stack } from '../../src/stack/stack.ts';
import { readStack } from '../../src/stack/stack-file.ts';
import { connectTemporal, targetFromEnvironment } from '../../src/temporal/connection.ts';
import type { TemporalTarget } from '../../src/temporal/connection.ts';
import { connectWorker } from '../../src/temporal/native-connection.ts';
import { prepareNamespace, readInstallation, writeInstallation } from '../../src/temporal/namespace.ts';
import { SuretyDueAt, SuretyState } from '../../src/temporal/search-attributes.ts';
import { freePort } from '../support/free-port.ts';
import { runStack, serversOn, stackConfig, temporaryHome } from './support.ts';

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function connected(target: TemporalTarget): Promise<Connection> {
  const connection = await connectTemporal(target);
  onTestFinished(() => connection.close());
  return connection;
}

async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const error: unknown = await promise.then(
    () => 'it succeeded',
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
}

describe('the stack', { timeout: 120_000 }, () => {
  it('keeps its data from one start to the next', async () => {
    const home = await temporaryHome();
    const config = await stackConfig(home, { TEMPORAL_NAMESPACE: 'team-a' });

    const first = await startStack(config);
    await query(first.databaseUrl, "CREATE TABLE kept AS SELECT 'still here' AS word");
    expect(first.temporal.namespace).toBe('team-a');
    const connection = await connectTemporal(first.temporal);
    expect(await readInstallation(connection, first.temporal)).toBeUndefined();
    expect(await writeInstallation(connection, first.temporal, 'installation-1')).toBeUndefined();
    await connection.close();
    await first.stop();
    expect(serversOn(home)).toEqual([]);

    const second = await runStack(config);
    expect(await query(second.databaseUrl, 'SELECT word FROM kept')).toEqual([{ word: 'still here' }]);
    const again = await connected(second.temporal);
    expect(await readInstallation(again, second.temporal)).toBe('installation-1');
  });

  it('is ready when it says so: workflows with our search attributes start at once, and are kept for a week', async () => {
    const { temporal, databaseUrl, uiUrl, notes } = await runStack(await stackConfig(await temporaryHome()));
    expect(notes).toEqual([]);
    const connection = await connected(temporal);
    const client = new TemporalClient({ connection, namespace: temporal.namespace });
    await client.workflow.start('anything', {
      taskQueue: 'nobody-listens',
      workflowId: 'tool:local/example',
      typedSearchAttributes: [
        { key: SuretyState, value: 'ESCALATED' },
        { key: SuretyDueAt, value: new Date() },
      ],
    });
    const { config } = await connection.workflowService.describeNamespace({ namespace: temporal.namespace });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(7 * 86_400);
    expect((await fetch(String(uiUrl))).status).toBe(200);

    const settings = [
      'fsync',
      'synchronous_commit',
      'listen_addresses',
      'max_connections',
      'unix_socket_directories',
      'data_checksums',
    ];
    const rows = await query(
      databaseUrl,
      `SELECT name, setting FROM pg_settings WHERE name IN ('${settings.join("','")}')`,
    );
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      listen_addresses: '127.0.0.1',
      max_connections: '200',
      unix_socket_directories: '',
      data_checksums: 'on',
    });
    await expect(query(databaseUrl.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow(
      'password authentication failed',
    );
  });

  it('can be found by others while it runs, and by nobody else', async () => {
    const home = await temporaryHome();
    const config = await stackConfig(home);
    expect(await readStack(home)).toEqual({ running: false, because: `nothing is running on ${home}` });
    const stack = await startStack(config);
    expect(await readStack(home)).toMatchObject({
      running: true,
      stack: {
        pid: process.pid,
        databaseUrl: stack.databaseUrl,
        temporalAddress: stack.temporal.address,
        uiUrl: stack.uiUrl,
      },
    });
    for (const secret of ['stack.json', 'postgres/password', 'temporal.db', 'temporal.db-wal', 'logs/temporal.log']) {
      expect([secret, (await stat(join(home, secret))).mode & 0o777]).toEqual([secret, 0o600]);
    }
    await stack.stop();
    expect((await readStack(home)).running).toBe(false);
  });

  it('runs once on a data directory', async () => {
    const home = await temporaryHome();
    await runStack(await stackConfig(home));
    const problem = await problemOf(startStack(await stackConfig(home)));
    expect(problem.message).toBe(`Surety is already running on ${home} (pid ${process.pid})`);
    expect(serversOn(home)).toHaveLength(2);
  });

  it('takes over the lock of a process that is gone, also when its number is in use again', async () => {
    const home = await temporaryHome();
    const config = await stackConfig(home);
    await mkdir(join(home, 'locks'));
    await writeFile(join(home, 'locks/1'), JSON.stringify({ pid: 1, startedAt: 'before the last reboot' }));
    await writeFile(join(home, 'locks/999999999'), JSON.stringify({ pid: 999999999, startedAt: 'x' }));
    await writeFile(join(home, 'locks/2'), ''); // What a power cut leaves.
    await runStack(config);
  });

  it.each([
    ['SURETY_TEMPORAL_PORT', 'Temporal'],
    ['SURETY_UI_PORT', "Temporal's UI"],
    ['SURETY_POSTGRES_PORT', 'Postgres'],
  ])('names the port that is in use and %s', async (variable, purpose) => {
    const home = await temporaryHome();
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const problem = await problemOf(startStack(await stackConfig(home, { [variable]: String(port) })));
    expect(problem.message).toBe(`Port ${port}, wanted for ${purpose}, is in use`);
    expect(problem.wayOut).toContain(variable);
    expect(serversOn(home)).toEqual([]);
    expect(await readdir(join(home, 'locks'))).toEqual([]);
  });

  it('names a Temporal server that does not answer, within seconds, and stops what it had started', async () => {
    const home = await temporaryHome();
    const address = `127.0.0.1:${await freePort()}`;
    const problem = await problemOf(startStack(await stackConfig(home, { TEMPORAL_ADDRESS: address })));
    expect(problem.message).toContain(`Temporal at ${address} cannot be reached`);
    expect(problem.wayOut).toContain('TEMPORAL_ADDRESS');
    expect(serversOn(home)).toEqual([]);
  }, 20_000);

  it('names a database that does not answer, without its password', async () => {
    const home = await temporaryHome();
    const port = await freePort();
    const config = await stackConfig(home, { DATABASE_URL: `postgres://me:s3cret@127.0.0.1:${port}/ledger` });
    const problem = await problemOf(startStack(config));
    expect(problem.message).toContain(`Postgres at 127.0.0.1:${port}/ledger (DATABASE_URL) cannot be used`);
    expect(problem.message).not.toContain('s3cret');
  });
});

describe('with servers that are not ours', { timeout: 60_000 }, () => {
  let theirs: Stack;
  let theirHome: string;
  let connection: Connection;

  beforeAll(async () => {
    theirHome = await mkdtemp(join(tmpdir(), 'surety-'));
    theirs = await startStack(await stackConfig(theirHome));
    connection = await connectTemporal(theirs.temporal);
  }, 60_000);

  afterAll(async () => {
    await connection.close();
    await theirs.stop();
    await rm(theirHome, { recursive: true });
  });

  async function configFor(namespace: string): Promise<Config> {
    return loadConfig({
      SURETY_HOME: await temporaryHome(),
      DATABASE_URL: theirs.databaseUrl,
      TEMPORAL_ADDRESS: theirs.temporal.address,
      TEMPORAL_NAMESPACE: namespace,
    });
  }

  async function register(namespace: string, searchAttributes: Record<string, number>): Promise<void> {
    const workflowExecutionRetentionPeriod = msToTs('1 day');
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  }

  it('starts none, adds the search attributes that are missing, and speaks of a short retention', async () => {
    await register('bare', { SuretyTool: 2 });
    const config = await configFor('bare');
    const stack = await runStack(config);
    expect(stack).toMatchObject({ databaseUrl: theirs.databaseUrl, uiUrl: undefined, temporal: { namespace: 'bare' } });
    expect(stack.notes).toEqual([expect.stringContaining('keeps closed workflows for 1 days only')]);
    expect(serversOn(config.home)).toEqual([]);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'bare' });
    expect(customAttributes).toEqual({
      SuretyTool: 2,
      SuretyServer: 2,
      SuretyState: 2,
      SuretyReason: 2,
      SuretyDueAt: 6,
    });
  });

  it('connects a worker in the same way as a client', async () => {
    const worker = await connectWorker(targetFromEnvironment((await configFor('bare')).temporal.env));
    await worker.close();
    const address = `127.0.0.1:${await freePort()}`;
    const problem = await problemOf(connectWorker(targetFromEnvironment({ TEMPORAL_ADDRESS: address })));
    expect(problem.message).toContain(`Temporal at ${address} cannot be reached`);
  });

  it('says how to create a namespace that is missing', async () => {
    const problem = await problemOf(startStack(await configFor('nope')));
    expect(problem.message).toBe(`Temporal at ${theirs.temporal.address} has no namespace "nope"`);
    expect(problem.wayOut).toContain('temporal operator namespace create');
  });

  it('refuses a search attribute of another type', async () => {
    await register('odd', { SuretyState: 3 });
    const problem = await problemOf(startStack(await configFor('odd')));
    expect(problem.message).toContain('Search attribute SuretyState of namespace odd has the wrong type');
  });

  it("explains what to do where an operator's calls are closed to us, as on Temporal Cloud", async () => {
    await register('closed', { SuretyTool: 2, SuretyState: 2 });
    const target = { ...theirs.temporal, namespace: 'closed' };
    const denied = () => Promise.reject(Object.assign(new Error('7 PERMISSION_DENIED: not for you'), { code: 7 }));
    const closed = Object.create(connection, {
      operatorService: { value: { listSearchAttributes: denied, addSearchAttributes: denied } },
    }) as Connection;
    const problem = await problemOf(prepareNamespace(closed, target, false));
    expect(problem.message).toContain(
      'lacks the search attributes SuretyServer, SuretyReason, SuretyDueAt, and we could not',
    );
    expect(problem.wayOut).toContain('--name SuretyDueAt --type Datetime');

    await prepareNamespace(connection, target, false);
    expect(await prepareNamespace(closed, target, false)).toEqual([expect.stringContaining('for 1 days only')]);
  });

  it('keeps what others have written into the namespace beside the installation', async () => {
    const target = { ...theirs.temporal, namespace: 'shared' };
    await register('shared', { SuretyTool: 2 });
    const updateInfo = { description: 'a team', data: { owner: 'them' } };
    await connection.workflowService.updateNamespace({ namespace: 'shared', updateInfo });
    expect(await writeInstallation(connection, target, 'one')).toBeUndefined();
    const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace: 'shared' });
    expect(namespaceInfo).toMatchObject({
      description: 'a team',
      data: { owner: 'them', 'surety.installation': 'one' },
    });
  });

  it('does not take a missing profile file for localhost', async () => {
    const config = loadConfig({
      SURETY_HOME: await temporaryHome(),
      TEMPORAL_CONFIG_FILE: '/nonexistent.toml',
      DATABASE_URL: theirs.databaseUrl,
    });
    expect((await problemOf(startStack(config))).message).toContain('TEMPORAL_CONFIG_FILE is "/nonexistent.toml"');
  });
});
