import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import type pg from 'pg';
import { inject } from 'vitest';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { connect } from '../../src/gate/index.ts';
import type { ConnectOptions, Gate } from '../../src/gate/index.ts';
import { serveHttp } from '../../src/http/serve.ts';
import { claimInstallation } from '../../src/installation.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { publishRules } from '../../src/postgres/rules.ts';
import { createToken } from '../../src/postgres/tokens.ts';
import type { TemporalTarget } from '../../src/temporal/connection.ts';
import { prepareNamespace } from '../../src/temporal/namespace.ts';
import { startWorker } from '../../src/temporal/start-worker.ts';
import type { RunningWorker } from '../../src/temporal/start-worker.ts';
import { withDatabase } from './global-setup.ts';

export const TASK_QUEUE = 'surety';
export const PUBLIC_URL = 'https://surety.example';

/** A database and a namespace of a test's own, on the servers that all tests share. */
export interface Installation {
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  readonly pool: pg.Pool;
  readonly client: Client;
  /** Starts a worker; it is stopped with the installation at the latest. */
  startWorker(): Promise<RunningWorker>;
  connect(options?: ConnectOptions): Promise<Gate>;
  /** Where an agent of that name speaks HTTP, and its token. */
  remote(agent: string): Promise<{ readonly url: string; readonly token: string }>;
  /** Publishes rules as surety.json would hold them. */
  publish(rules: unknown): Promise<number>;
  close(): Promise<void>;
}

/** How gates speak with the ledger. */
export type Way = 'ledger' | 'http';

export async function createInstallation(rules: unknown = {}, way: Way = 'ledger'): Promise<Installation> {
  const servers = inject('servers');
  const name = `surety_${randomUUID().slice(0, 8)}`;
  const databaseUrl = withDatabase(servers.databaseUrl, name);
  const admin = createPool(servers.databaseUrl, { max: 1 });
  await admin.query(`create database ${name} template ${servers.template}`);
  const pool = createPool(databaseUrl);
  const address = servers.temporalAddress;
  const target: TemporalTarget = { address, namespace: name, connectionOptions: { address } };
  const connection = await Connection.connect({ address: servers.temporalAddress });
  await createNamespace(connection, target);
  await claimInstallation(pool, connection, target);
  await publishRules(pool, parseRules(rules), 'test');
  const client = new Client({ connection, namespace: name });
  const workers: RunningWorker[] = [];
  const gates: Gate[] = [];
  let serving: ReturnType<typeof serveHttp> | undefined;
  const remote = async (agent = 'nobody') => {
    serving ??= serveHttp({ databaseUrl, host: '127.0.0.1', port: 0 });
    const made = createToken(pool, { name: agent, owner: 'olga', roles: ['agent'], createdBy: 'test' });
    return { url: (await serving).url, token: (await made).secret };
  };
  return {
    databaseUrl,
    temporal: target,
    pool,
    client,
    startWorker: async () => {
      const worker = await startWorker({
        databaseUrl,
        temporal: target,
        taskQueue: TASK_QUEUE,
        publicUrl: PUBLIC_URL,
        log: () => undefined,
      });
      workers.push(worker);
      return worker;
    },
    connect: async (options = {}) => {
      const gate = await connect({ ...(way === 'http' ? await remote(options.agent) : { databaseUrl }), ...options });
      gates.push(gate);
      return gate;
    },
    remote,
    publish: (next) => publishRules(pool, parseRules(next), 'test'),
    close: async () => {
      await Promise.all(gates.map((gate) => gate.close()));
      await (await serving)?.close();
      await Promise.all(workers.map((worker) => worker.stop()));
      await connection.close();
      await pool.end();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

async function createNamespace(connection: Connection, target: TemporalTarget): Promise<void> {
  await connection.workflowService.registerNamespace({
    namespace: target.namespace,
    workflowExecutionRetentionPeriod: { seconds: (7 * 86_400) as never },
  });
  // A new namespace is known to every part of the server only after its caches have been refreshed.
  await eventually(() => prepareNamespace(connection, target, true));
}

/** Tries until it no longer throws; the last error after `withinMs`. */
export async function eventually<T>(attempt: () => T | Promise<T>, withinMs = 20_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((done) => setTimeout(done, 50));
    }
  }
}
