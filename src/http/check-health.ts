import { Connection } from '@temporalio/client';
import type pg from 'pg';
import type { TemporalTarget } from '../temporal/connection.ts';
import { LEADER_LOCK } from '../upkeep/leader-lock.ts';
import type { Health, PartHealth } from './health.ts';

const ANSWER_WITHIN_MS = 2000;
/** As grpc.health.v1 has it. */
const SERVING = 1;
const FRONTEND = 'temporal.api.workflowservice.v1.WorkflowService';

/** Asks the ledger, whether any worker leads, and Temporal where it is known which. */
export function createHealth(
  pool: pg.Pool,
  temporal: TemporalTarget | undefined,
): { readonly check: Health; close(): Promise<void> } {
  const connection = temporal === undefined ? undefined : Connection.lazy(temporal.connectionOptions);
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  /** What is under way when its time is up goes on, and is waited for at the end. */
  const inTime = <T>(asked: Promise<T>, otherwise: T): Promise<T> => {
    const answered = asked.catch(() => otherwise).finally(() => running.delete(answered));
    running.add(answered);
    return before(ANSWER_WITHIN_MS, answered, otherwise);
  };
  return {
    check: async () => {
      if (isClosed) return told('unknown', connection && 'unknown', 'unknown');
      const [leads, serving] = await Promise.all([
        inTime(someoneLeads(pool), undefined),
        connection === undefined ? undefined : inTime(isServing(connection), false),
      ]);
      return told(
        upIf(leads !== undefined),
        serving === undefined ? undefined : upIf(serving),
        // Only the ledger knows whether one leads.
        leads === undefined ? 'unknown' : upIf(leads),
      );
    },
    close: async () => {
      isClosed = true;
      // The client tries again by a timer of its own, which on a closed connection throws where nobody can catch it.
      await Promise.all(running);
      await connection?.close();
    },
  };
}

/** The worker is up where somebody holds the lock that one of them leads by. */
async function someoneLeads(pool: pg.Pool): Promise<boolean | undefined> {
  const question = {
    // The locks of all databases are there; those of others are nobody's here.
    text: `select exists (select 1 from pg_locks where locktype = 'advisory' and granted
       and database = (select oid from pg_database where datname = current_database())
       and (classid::bigint << 32) | objid::bigint = $1) as leads`,
    values: [LEADER_LOCK],
    query_timeout: ANSWER_WITHIN_MS,
  };
  return (await pool.query<{ leads: boolean }>(question)).rows[0]?.leads === true;
}

async function isServing(connection: Connection): Promise<boolean> {
  const { status }: { status: number } = await connection.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
    connection.healthService.check({ service: FRONTEND }),
  );
  return status === SERVING;
}

async function before<T>(ms: number, answered: Promise<T>, otherwise: T): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<T>((done) => {
    timer = setTimeout(() => done(otherwise), ms);
  });
  try {
    return await Promise.race([answered, late]);
  } finally {
    clearTimeout(timer);
  }
}

function told(postgres: PartHealth, temporal: PartHealth | undefined, worker: PartHealth) {
  return { postgres, ...(temporal === undefined ? {} : { temporal }), worker };
}

function upIf(isUp: boolean): PartHealth {
  return isUp ? 'up' : 'down';
}
