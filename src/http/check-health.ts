import { Connection } from '@temporalio/client';
import type pg from 'pg';
import type { TemporalTarget } from '../temporal/connection.ts';
import { LEADER_LOCK } from '../upkeep/leader-lock.ts';
import type { Health } from './health.ts';

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
  const temporalAnswers = async (asked: Connection) => {
    const { status }: { status: number } = await asked.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      asked.healthService.check({ service: FRONTEND }),
    );
    return upIf(status === SERVING);
  };
  return {
    check: async () => {
      const [leads, answer] = await Promise.all([
        // The worker is up where somebody holds the lock that one of them leads by.
        pool
          .query<{ leads: boolean }>(
            `select exists (select 1 from pg_locks where locktype = 'advisory' and granted
               and (classid::bigint << 32) | objid::bigint = $1) as leads`,
            [LEADER_LOCK],
          )
          .then(({ rows }) => rows[0]?.leads === true)
          .catch(() => undefined),
        connection === undefined ? undefined : temporalAnswers(connection).catch(() => upIf(false)),
      ]);
      return {
        postgres: upIf(leads !== undefined),
        ...(answer === undefined ? {} : { temporal: answer }),
        worker: upIf(leads === true),
      };
    },
    close: async () => connection?.close(),
  };
}

function upIf(isUp: boolean): 'up' | 'down' {
  return isUp ? 'up' : 'down';
}
