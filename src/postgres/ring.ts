import type pg from 'pg';

export interface Bell {
  readonly id: number;
  readonly key: string;
  readonly kind: 'tool' | 'server';
  readonly server: string;
  readonly name: string;
  /** It was rung before, and nobody has answered. */
  readonly again: boolean;
}

/** Long enough for a busy worker to answer, short enough that a lost signal is not noticed. */
const UNANSWERED_SECONDS = 20;

/**
 * Takes the bells that are to be rung now: rows the workflow has not applied, a deadline that has passed, rules that are
 * newer than what a subject in doubt was judged by. At most one per subject is unanswered at a time.
 */
export async function takeBells(pool: pg.Pool, limit: number, rulesVersion: number): Promise<readonly Bell[]> {
  const taken = await pool.query<Bell>(
    `with wanted as (
       select id from subject where ring_seq > applied_seq and (rung_at is null or rung_at < now() - $2::int * interval '1 second')
       union
       select id from subject where due_at < now() - interval '2 seconds'
         and (rung_at is null or rung_at < now() - $2::int * interval '1 second')
       union
       select s.id from subject s join trust t on t.subject = s.id
       where t.status <> 'TRUSTED' and t.rules_version < $3
         and (s.rung_at is null or s.rung_at < now() - $2::int * interval '1 second')
       limit $1
     ), locked as (
       select id, rung_at from subject where id in (select id from wanted) order by id for update skip locked
     )
     update subject s set rung_at = now() from locked where s.id = locked.id
     returning s.id, s.key, s.kind, s.server, s.name, locked.rung_at is not null as again`,
    [limit, UNANSWERED_SECONDS, rulesVersion],
  );
  return taken.rows;
}

/** A signal that could not be sent was never rung. */
export async function returnBells(pool: pg.Pool, subjects: readonly number[]): Promise<void> {
  await pool.query('update subject set rung_at = null where id = any($1)', [subjects]);
}
