import type pg from 'pg';

export interface QuotaRequest {
  readonly agent: string;
  readonly session: string;
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

type Count = Omit<QuotaAnswer, 'allowed'>;

const IS_OVER = `quota.started_at + $4 * interval '1 second' <= clock_timestamp()`;
const RESETS_AT = `extract(epoch from quota.started_at)::float8 * 1000 + $4 * 1000.0::float8 as "resetsAt"`;

/**
 * Counts a call, unless the session has had its share. Calls of one session take turns at its row, whatever process they
 * come from. Whoever runs it twice counts twice: no name that a caller gives to a call makes it free.
 */
export async function takeQuota(pool: pg.Pool, request: QuotaRequest): Promise<QuotaAnswer> {
  const { agent, session, most, windowSeconds } = request;
  const values = [agent, session, most, windowSeconds];
  const taken = await pool.query<Count>(
    `insert into execution_quota as quota (agent, session, used, started_at)
     select $1, $2, 1, clock_timestamp() where $3::int > 0
     on conflict (agent, session) do update set
       used = case when ${IS_OVER} then 1 else quota.used + 1 end,
       started_at = case when ${IS_OVER} then clock_timestamp() else quota.started_at end
     where ${IS_OVER} or quota.used < $3
     returning quota.used, ${RESETS_AT}`,
    values,
  );
  if (taken.rows[0] !== undefined) return { allowed: true, ...taken.rows[0] };
  const spent = await pool.query<Count>(
    `select quota.used, ${RESETS_AT} from execution_quota as quota
     where agent = $1 and session = $2 and $3::int is not null`,
    values,
  );
  return { allowed: false, ...(spent.rows[0] ?? { used: 0, resetsAt: Date.now() + windowSeconds * 1000 }) };
}
