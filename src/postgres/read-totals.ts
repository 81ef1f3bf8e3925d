import type pg from 'pg';

export interface Totals {
  readonly tools: number;
  readonly servers: number;
  readonly blocked: number;
  readonly escalated: number;
  readonly recovering: number;
  readonly outcomes: number;
  readonly failures: number;
  readonly rejected: number;
  /** Rows that wait to be applied. */
  readonly unapplied: number;
  /** Who opened the gate for everything, if it is open now. Epoch milliseconds. */
  readonly breakGlass: { readonly until: number; readonly by: string; readonly reason: string } | null;
}

/** The whole installation in numbers. A server's rows are its tools' rows, so outcomes are counted on tools only. */
export async function readTotals(pool: pg.Pool): Promise<Totals> {
  const found = await pool.query<Totals>(
    `select count(*) filter (where s.kind = 'tool') as tools, count(*) filter (where s.kind = 'server') as servers,
       count(*) filter (where t.status = 'BLOCKED') as blocked,
       count(*) filter (where t.status = 'ESCALATED') as escalated,
       count(*) filter (where t.status = 'RECOVERING') as recovering,
       coalesce(sum(s.outcomes) filter (where s.kind = 'tool'), 0)::float8 as outcomes,
       coalesce(sum(s.failures) filter (where s.kind = 'tool'), 0)::float8 as failures,
       coalesce(sum(s.rejected), 0)::float8 as rejected,
       coalesce(sum(greatest(0, s.ring_seq - s.applied_seq)), 0)::float8 as unapplied,
       (select json_build_object('until', extract(epoch from until)::float8 * 1000, 'by', by, 'reason', reason)
        from (select * from break_glass order by id desc limit 1) newest where until > now()) as "breakGlass"
     from subject s left join trust t on t.subject = s.id`,
  );
  return found.rows[0] as Totals;
}
