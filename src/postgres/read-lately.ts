import type pg from 'pg';
import { SEVERITIES } from '../domain/outcome/outcome.ts';
import type { Severity } from '../domain/outcome/outcome.ts';
import type { Subject } from '../domain/trust/parts.ts';

/** What a tool has been doing lately, in few numbers. */
export interface Lately {
  /** The newest outcomes in equal shares, oldest first: how many, and how many of them failed or were never answered. */
  readonly buckets: readonly { readonly outcomes: number; readonly failures: number }[];
  readonly lastFailure: { readonly at: number; readonly severity: Severity | null; readonly message: string } | null;
}

/** Read by index from the end of each tool's rows: a tool of a million outcomes costs no more than one of two hundred. */
const MOST_ROWS = 200;
const MOST_BUCKETS = 20;

interface Row {
  readonly subject: number;
  readonly buckets: Lately['buckets'];
  readonly at: number | null;
  readonly severity: number | null;
  readonly message: string | null;
}

export async function readLately(
  pool: pg.Pool,
  subjects: readonly (Pick<Subject, 'kind'> & { readonly id: number })[],
): Promise<ReadonlyMap<number, Lately>> {
  const rows = await Promise.all(
    (['tool', 'server'] as const).map((kind) =>
      readRows(
        pool,
        kind,
        subjects.filter((subject) => subject.kind === kind).map(({ id }) => id),
      ),
    ),
  );
  return new Map(
    rows.flat().map(({ subject, buckets, at, severity, message }) => {
      const named = severity === null ? null : (SEVERITIES[severity] ?? null);
      const lastFailure = at === null ? null : { at, severity: named, message: message ?? '' };
      return [subject, { buckets, lastFailure }];
    }),
  );
}

async function readRows(pool: pg.Pool, kind: Subject['kind'], ids: readonly number[]): Promise<readonly Row[]> {
  if (ids.length === 0) return [];
  // A server has a sequence of its own over its tools' rows.
  const of = kind === 'server' ? 'server_' : '';
  const found = await pool.query<Row>(
    `select wanted.id as subject, coalesce(lately.buckets, '[]') as buckets,
       extract(epoch from failure.at)::float8 * 1000 as at, failure.severity, failure.detail ->> 'message' as message
     from unnest($1::bigint[]) as wanted (id)
     left join lateral (
       select json_agg(json_build_object('outcomes', outcomes, 'failures', failures) order by bucket) as buckets from (
         select bucket, count(*) as outcomes, count(*) filter (where kind <> 0) as failures from (
           select kind, ntile(${MOST_BUCKETS}) over (order by seq) as bucket from (
             select kind, ${of}seq as seq from ledger where ${of}subject = wanted.id and kind <= 2
             order by ${of}seq desc limit ${MOST_ROWS}
           ) newest
         ) shared group by bucket
       ) counted
     ) lately on true
     left join lateral (
       select at, severity, detail from ledger where ${of}subject = wanted.id and kind in (1, 2)
       order by ${of}seq desc limit 1
     ) failure on true`,
    [ids],
  );
  return found.rows;
}

/** An order that somebody gave. */
export interface GivenOrder {
  readonly at: number;
  readonly order: 'reset' | 'block' | 'recover';
  readonly scope: string | null;
  readonly by: string;
  readonly reason: string;
}

/** The newest first. */
export async function readOrders(pool: pg.Pool, subject: number, limit: number): Promise<readonly GivenOrder[]> {
  const found = await pool.query<GivenOrder>(
    `select extract(epoch from l.at)::float8 * 1000 as at, (array['reset', 'block', 'recover'])[l.kind - 2] as "order",
       n.text as scope, coalesce(l.detail ->> 'by', 'unknown') as by, coalesce(l.detail ->> 'reason', '') as reason
     from ledger l left join name n on n.id = l.scope
     where l.subject = $1 and l.kind in (3, 4, 5) order by l.seq desc limit $2`,
    [subject, limit],
  );
  return found.rows;
}
