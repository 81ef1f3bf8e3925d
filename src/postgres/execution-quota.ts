import type pg from 'pg';
import { inTransaction } from './pool.ts';

export interface QuotaRequest {
  readonly agent: string;
  readonly session: string;
  readonly callId: string;
  readonly most: number;
  /** How long after its first call a session's count begins anew. */
  readonly windowSeconds: number;
}

export interface QuotaAnswer {
  readonly allowed: boolean;
  readonly used: number;
  /** Epoch milliseconds, by the database's clock. */
  readonly resetsAt: number;
}

/**
 * Counts a call, unless the session has had its share. Calls of one session take turns at its row, whatever process they
 * come from. The same call counts once: safe to run twice.
 */
export async function takeQuota(pool: pg.Pool, request: QuotaRequest): Promise<QuotaAnswer> {
  const { agent, session, callId, most, windowSeconds } = request;
  const whose = [agent, session];
  return inTransaction(pool, async (client) => {
    await client.query(
      `insert into execution_quota (agent, session, used, started_at) values ($1, $2, 0, clock_timestamp())
       on conflict do nothing`,
      whose,
    );
    const locked = await client.query<{ used: number; resetsAt: number; isOver: boolean }>(
      `select used, extract(epoch from started_at)::float8 * 1000 + $3 * 1000.0::float8 as "resetsAt",
         started_at + $3 * interval '1 second' <= clock_timestamp() as "isOver"
       from execution_quota where agent = $1 and session = $2 for update`,
      [...whose, windowSeconds],
    );
    const [row] = locked.rows;
    if (row === undefined) throw new Error('the count of a session has gone while it was locked');
    const state = row.isOver ? await beginAnew(client, whose, windowSeconds) : row;
    const known = await client.query(
      'select 1 from execution_call where agent = $1 and session = $2 and call_id = $3',
      [...whose, callId],
    );
    if (known.rowCount !== 0) return { allowed: true, used: state.used, resetsAt: state.resetsAt };
    if (state.used >= most) return { allowed: false, used: state.used, resetsAt: state.resetsAt };
    await client.query('insert into execution_call (agent, session, call_id) values ($1, $2, $3)', [...whose, callId]);
    await client.query('update execution_quota set used = used + 1 where agent = $1 and session = $2', whose);
    return { allowed: true, used: state.used + 1, resetsAt: state.resetsAt };
  });
}

async function beginAnew(client: pg.PoolClient, whose: readonly string[], windowSeconds: number) {
  await client.query('delete from execution_call where agent = $1 and session = $2', [...whose]);
  const begun = await client.query<{ used: number; resetsAt: number }>(
    `update execution_quota set used = 0, started_at = clock_timestamp() where agent = $1 and session = $2
     returning used, extract(epoch from started_at)::float8 * 1000 + $3 * 1000.0::float8 as "resetsAt"`,
    [...whose, windowSeconds],
  );
  const [row] = begun.rows;
  if (row === undefined) throw new Error('the count of a session has gone while it was locked');
  return row;
}
