import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { ServerType } from '@hono/node-server';
import type pg from 'pg';
import { connect } from '../gate/connect.ts';
import { Names, Subjects } from '../postgres/intern.ts';
import { createPool } from '../postgres/pool.ts';
import { listTokens } from '../postgres/tokens.ts';
import { codeOf, Problem } from '../problem.ts';
import type { TemporalTarget } from '../temporal/connection.ts';
import { hearAnnouncements } from './announcements.ts';
import { createApi } from './app.ts';
import { createHealth } from './check-health.ts';
import type { TemporalUi } from './app.ts';
import { createFailedAttempts } from './failed-attempts.ts';
import { createLimits } from './limits.ts';

export interface ServeOptions {
  readonly databaseUrl: string;
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Asked whether it is there, for /readyz. */
  readonly temporal?: TemporalTarget | undefined;
  /** Requests of one token in ten seconds. */
  readonly mostRequests?: number;
  /** Where Temporal UI is, for links to it. */
  readonly temporalUi?: TemporalUi | undefined;
  /** Told of our own mistakes. */
  readonly log?: (message: string) => void;
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);
const MOST_REQUESTS = 2000;
const MOST_FAILED_ATTEMPTS = 50;

/** The HTTP API on a port. Beyond this machine it is offered only where there are tokens to tell who asks. */
export async function serveHttp(options: ServeOptions): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { databaseUrl, host, port } = options;
  const pool = createPool(databaseUrl, { name: 'surety http' });
  if (!LOOPBACK.has(host)) await refuseWithoutTokens(pool, host);
  const gate = await connect({ databaseUrl, approvalWaitMs: 0 });
  const limits = createLimits(pool, options.mostRequests ?? MOST_REQUESTS);
  const announcements = hearAnnouncements(databaseUrl);
  const health = createHealth(pool, options.temporal);
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  const api = createApi({
    failedAttempts: createFailedAttempts(MOST_FAILED_ATTEMPTS),
    pool,
    ledger,
    gate,
    limits,
    announcements,
    health: health.check,
    temporalUi: options.temporalUi,
    log: options.log,
  });
  const close = async (server?: ServerType) => {
    limits.stop();
    if (server !== undefined) await ended(server);
    await announcements.stop();
    await health.close();
    await gate.close();
    await pool.end();
  };
  try {
    const server = await listening(serve({ fetch: api.fetch, hostname: host, port }));
    const address = server.address() as AddressInfo;
    const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return { url: `http://${shown}:${address.port}`, close: () => close(server) };
  } catch (error) {
    await close();
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new Problem(
      `Port ${port} is in use, so the HTTP API cannot be offered there.`,
      'Set SURETY_HTTP_PORT to another.',
    );
  }
}

function listening(server: ServerType): Promise<ServerType> {
  return new Promise((ready, failed) => {
    server.once('listening', () => ready(server)).once('error', failed);
  });
}

/** Whoever waits for a person is let go: the question stays open. */
function ended(server: ServerType): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
}

async function refuseWithoutTokens(pool: pg.Pool, host: string): Promise<void> {
  const tokens = await listTokens(pool);
  if (tokens.some(({ revokedAt }) => revokedAt === null)) return;
  await pool.end();
  throw new Problem(
    `Nobody could tell who asks: there are no tokens, and ${host} can be reached from elsewhere.`,
    'Make one first: surety token create <name> --role admin',
  );
}
