import type pg from 'pg';

export interface Health {
  readonly installation: string | null;
  readonly schema: { readonly number: number; readonly name: string } | null;
  /** Subjects with rows to apply, and for how many seconds one of them has waited since its newest such row. */
  readonly waiting: number;
  readonly waitingSeconds: number | null;
  /** Subjects whose deadline passed without anything happening, and by how much the oldest. */
  readonly overdue: number;
  readonly overdueSeconds: number | null;
  readonly disagreements: number;
  readonly partitions: readonly string[];
  /** Rows whose id speaks of a time far from when they came. */
  readonly strays: number;
  /** The database's clock, epoch milliseconds. */
  readonly now: number;
}

/** What `surety doctor` wants to know of the ledger, in one question. */
export async function readHealth(pool: pg.Pool, disagreementsSince: number): Promise<Health> {
  const found = await pool.query<Health>(
    `select (select id from installation) as installation,
       (select json_build_object('number', number, 'name', name) from migration order by number desc limit 1) as schema,
       (select count(*) from subject where ring_seq > applied_seq) as waiting,
       (select extract(epoch from now() - min(l.received_at))::float8 from subject s join ledger l
          on l.subject = s.id and l.seq = s.ring_seq and s.kind = 'tool'
          or l.server_subject = s.id and l.server_seq = s.ring_seq and s.kind = 'server'
        where s.ring_seq > s.applied_seq) as "waitingSeconds",
       (select count(*) from subject where due_at < now()) as overdue,
       (select extract(epoch from now() - min(due_at))::float8 from subject where due_at < now()) as "overdueSeconds",
       (select count(*) from audit where action = 'disagreement' and at >= to_timestamp($1::float8 / 1000))
         as disagreements,
       (select coalesce(json_agg(c.relname), '[]') from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'ledger'::regclass) as partitions,
       (select count(*) from ledger_stray) as strays,
       extract(epoch from clock_timestamp())::float8 * 1000 as now`,
    [disagreementsSince],
  );
  return found.rows[0] as Health;
}
