import type { Client } from '@temporalio/client';
import pg from 'pg';
import { Names } from '../postgres/intern.ts';
import { createPartitions, dropPartitions } from '../postgres/partitions.ts';
import { pause, pauseUnless } from '../pause.ts';
import { currentRules } from '../postgres/rules.ts';
import { ringBells } from './ringing.ts';
import { recordSilentProbes } from './silent-probes.ts';

export interface UpkeepOptions {
  readonly pool: pg.Pool;
  readonly databaseUrl: string;
  readonly client: Client;
  readonly taskQueue: string;
  readonly log: (message: string) => void;
}

const LEADER_LOCK = 7_264_011_306;
const ROUND_MS = 1000;
const RETRY_MS = 2000;
const HOUSEKEEPING_MS = 600_000;

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
  let complaint = '';
  while (!stopped.aborted) {
    const connection = new pg.Client({ connectionString: options.databaseUrl, application_name: 'surety upkeep' });
    // Kept listening: a connection may break with two errors, and one that nobody hears ends the process.
    const lost = new Promise<Error>((resolve) => connection.on('error', resolve));
    try {
      await connection.connect();
      const lock = await connection.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [LEADER_LOCK]);
      if (lock.rows[0]?.mine === true) await keepUp(options, connection, lost, stopped);
      complaint = '';
    } catch (error) {
      // The database or Temporal is away. Say so once, not every two seconds.
      const message = error instanceof Error ? error.message || error.name : String(error);
      if (message !== complaint) options.log(`upkeep waits: ${message}`);
      complaint = message;
    } finally {
      await connection.end().catch(() => undefined);
    }
    await pause(RETRY_MS, stopped);
  }
}

async function keepUp(
  { pool, client, taskQueue, log }: UpkeepOptions,
  connection: pg.Client,
  lost: Promise<Error>,
  stopped: AbortSignal,
): Promise<void> {
  const names = new Names(pool);
  let wake: () => void = () => undefined;
  connection.on('notification', () => wake());
  await connection.query('listen surety_bell');
  let housekeepingAt = 0;
  const broken = lost.then((error) => {
    throw error;
  });
  broken.catch(() => undefined);
  while (!stopped.aborted) {
    const bell = new Promise<void>((resolve) => {
      wake = resolve;
    });
    if (Date.now() >= housekeepingAt) {
      await createPartitions(pool, Date.now());
      const { rules, version, unreadable } = await currentRules(pool);
      if (unreadable)
        log(`rules version ${unreadable.version} cannot be read, ${version} holds: ${unreadable.complaint}`);
      await dropPartitions(pool, Date.now(), rules.retentionDays);
      housekeepingAt = Date.now() + HOUSEKEEPING_MS;
    }
    await recordSilentProbes(pool, names);
    const { more } = await ringBells({ pool, client, taskQueue });
    if (!more) await pauseUnless(Promise.race([bell, broken]), ROUND_MS, stopped);
  }
}
