import type { Client } from '@temporalio/client';
import pg from 'pg';
import { pruneApprovals } from '../postgres/approval-end.ts';
import { Names } from '../postgres/intern.ts';
import { createPartitions, dropPartitions, pruneForeign } from '../postgres/partitions.ts';
import { letGo } from '../postgres/pool.ts';
import { createWaker, pause } from '../pause.ts';
import { reasonOf, unlessRepeated } from '../problem.ts';
import { currentRules } from '../postgres/rules.ts';
import { pruneDeliveries } from '../postgres/webhook-deliveries.ts';
import { carryApprovals, restartApprovals } from './approvals.ts';
import { LEADER_LOCK } from './leader-lock.ts';
import { ringWhoDisagrees } from './disagreement.ts';
import { ringBells } from './ringing.ts';
import { recordSilentProbes } from './silent-probes.ts';
import { carryDeliveries, restartDeliveries } from './webhooks.ts';

export interface UpkeepOptions {
  readonly pool: pg.Pool;
  readonly databaseUrl: string;
  readonly client: Client;
  readonly taskQueue: string;
  readonly log: (message: string) => void;
}

const ROUND_MS = 1000;
const RETRY_MS = 2000;
const HOUSEKEEPING_MS = 600_000;
const RETRY_HOUSEKEEPING_MS = 30_000;

/**
 * Keeps the ledger and the workflows in step: rings bells, ends silent probes, adds and drops partitions. Runs in every
 * worker, and works in one at a time: the lock belongs to a connection, so it is free as soon as its holder is gone.
 */
export function startUpkeep(options: UpkeepOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const done = lead(options, stopping.signal);
  return {
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}

async function lead(options: UpkeepOptions, stopped: AbortSignal): Promise<void> {
  const complain = unlessRepeated(options.log);
  while (!stopped.aborted) {
    const connection = new pg.Client({
      connectionString: options.databaseUrl,
      application_name: 'surety upkeep',
      // A leader that hangs, or whose machine is gone, must not lead for the hours that TCP would wait for it.
      options:
        '-c idle_session_timeout=15s -c tcp_keepalives_idle=5 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=2',
      connectionTimeoutMillis: 5000,
      query_timeout: 10_000,
      keepAlive: true,
    });
    const waker = createWaker();
    // Kept listening: a connection may break with two errors, and one that nobody hears ends the process.
    connection.on('error', waker.fail).on('end', () => waker.fail(new Error('the connection ended')));
    connection.on('notification', waker.wake);
    try {
      await connection.connect();
      const lock = await connection.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [LEADER_LOCK]);
      if (lock.rows[0]?.mine === true) await keepUp(options, connection, waker, complain, stopped);
      complain('');
    } catch (error) {
      complain(`upkeep waits: ${reasonOf(error)}`);
    } finally {
      await letGo(connection);
    }
    await pause(RETRY_MS, stopped);
  }
}

async function keepUp(
  { pool, client, taskQueue, log }: UpkeepOptions,
  connection: pg.Client,
  waker: ReturnType<typeof createWaker>,
  complain: (message: string) => void,
  stopped: AbortSignal,
): Promise<void> {
  const names = new Names(pool);
  await connection.query('listen surety_bell');
  await ringWhoDisagrees({ pool, client });
  await restartApprovals(pool);
  await restartDeliveries(pool);
  for (let housekeepingAt = 0; !stopped.aborted;) {
    // Also keeps the session from being taken for idle; who cannot say this is no longer the leader.
    await connection.query('select 1');
    const { more: moreBells } = await ringBells({ pool, client, taskQueue }, log);
    const { more: moreQuestions } = await carryApprovals({ pool, client, taskQueue }).catch((error: unknown) => {
      complain(`questions wait: ${reasonOf(error)}`);
      return { more: false };
    });
    const { more: moreDeliveries } = await carryDeliveries({ pool, client, taskQueue }).catch((error: unknown) => {
      complain(`webhooks wait: ${reasonOf(error)}`);
      return { more: false };
    });
    // What else there is to do must not keep bells from being rung, so its failures are told and left at that.
    await recordSilentProbes(pool, names).catch((error: unknown) => complain(`silent probes wait: ${reasonOf(error)}`));
    if (Date.now() >= housekeepingAt) {
      housekeepingAt = Date.now() + HOUSEKEEPING_MS;
      await keepHouse(pool, log).catch((error: unknown) => {
        complain(`partitions wait: ${reasonOf(error)}`);
        housekeepingAt = Date.now() + RETRY_HOUSEKEEPING_MS;
      });
    }
    if (!moreBells && !moreQuestions && !moreDeliveries) await waker.sleep(ROUND_MS, stopped);
  }
}

async function keepHouse(pool: pg.Pool, log: (message: string) => void): Promise<void> {
  await createPartitions(pool, Date.now());
  await restartApprovals(pool);
  await restartDeliveries(pool);
  const { rules, version, unreadable } = await currentRules(pool);
  if (unreadable) log(`rules version ${unreadable.version} cannot be read, ${version} holds: ${unreadable.complaint}`);
  await dropPartitions(pool, Date.now(), rules.retentionDays);
  await pruneForeign(pool, rules.retentionDays);
  await pruneApprovals(pool, rules.retentionDays);
  await pruneDeliveries(pool, rules.retentionDays);
}
