import type pg from 'pg';
import { matchesSubject } from '../domain/simulate/orders.ts';
import type { Status } from '../domain/trust/trust.ts';
import type { Standing } from './snapshot.ts';

/** A tool or server that has been heard of, with its trust as projected. */
export interface KnownSubject extends Standing {
  readonly status: Status;
  readonly outcomes: number;
  readonly failures: number;
  /** Reports that could not be understood. */
  readonly rejected: number;
  /** Rows that the workflow must apply and has not. */
  readonly unapplied: number;
  readonly appliedSeq: number;
  /** Epoch milliseconds. */
  readonly firstSeenAt: number;
}

export interface SubjectFilter {
  /** As people write it: `name`, `server/name`, globs of them, `server:name`. */
  readonly pattern?: string;
  readonly keys?: readonly string[];
  readonly limit?: number;
}

/** Of `subject s` and, where there is one, `trust t`. */
export const KNOWN = `s.id, s.key, s.kind, s.server, s.name, s.outcomes, s.failures, s.rejected,
       s.applied_seq as "appliedSeq", greatest(0, s.ring_seq - s.applied_seq) as unapplied,
       extract(epoch from s.first_seen_at)::float8 * 1000 as "firstSeenAt",
       coalesce(t.version, 0) as version, coalesce(t.seq, 0) as seq, coalesce(t.status, 'TRUSTED') as status,
       extract(epoch from t.due_at)::float8 * 1000 as "dueAt", coalesce(t.parts, '{}') as parts`;

/** Those in doubt first, strictest first; then whatever has failed most. */
export async function readSubjects(pool: pg.Pool, filter: SubjectFilter = {}): Promise<readonly KnownSubject[]> {
  const { pattern, keys, limit } = filter;
  const found = await pool.query<KnownSubject>(
    `select ${KNOWN}
     from subject s left join trust t on t.subject = s.id
     where ($1::text is null or case s.kind
         when 'tool' then s.name like $1 or s.server || '/' || s.name like $1
         else 'server:' || s.server like $1 or $1 = '%' end)
       and ($2::text[] is null or s.key = any($2))
     order by array_position(array['BLOCKED', 'ESCALATED', 'RECOVERING'], t.status) nulls last,
       s.failures desc, s.outcomes desc, s.server, s.name
     limit $3`,
    [pattern === undefined ? null : likeOf(pattern), keys ?? null, limit ?? null],
  );
  return pattern === undefined ? found.rows : found.rows.filter((subject) => matchesSubject(pattern, subject));
}

function likeOf(glob: string): string {
  return glob
    .replace(/[\\%_]/g, (character) => `\\${character}`)
    .replaceAll('*', '%')
    .replaceAll('?', '_');
}

/** What is projected of these subjects; a key that is not known, or was never in doubt, is TRUSTED. */
export async function readStatuses(pool: pg.Pool, keys: readonly string[]): Promise<ReadonlyMap<string, Status>> {
  const found = await pool.query<{ key: string; status: Status }>(
    'select s.key, t.status from subject s join trust t on t.subject = s.id where s.key = any($1)',
    [keys],
  );
  return new Map(found.rows.map(({ key, status }) => [key, status]));
}
