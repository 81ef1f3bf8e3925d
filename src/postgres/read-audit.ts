import type pg from 'pg';
import type { Subject } from '../domain/trust/parts.ts';

/** What became of trust, and who brought it about. */
export interface AuditEntry extends Subject {
  readonly subject: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly part: string | null;
  readonly actor: string;
  readonly action: string;
  readonly reason: string;
}

export interface AuditRequest {
  /** All subjects if absent. */
  readonly subjects?: readonly number[];
  readonly since?: number;
  readonly action?: string;
  readonly limit: number;
}

/** Newest first. Entries that concern no subject (rules, break glass) are left out. */
export async function readAudit(pool: pg.Pool, request: AuditRequest): Promise<readonly AuditEntry[]> {
  const found = await pool.query<AuditEntry>(
    `select a.subject, extract(epoch from a.at)::float8 * 1000 as at, a.part, a.actor, a.action, a.reason,
       s.kind, s.server, s.name
     from audit a join subject s on s.id = a.subject
     where ($1::bigint[] is null or a.subject = any($1))
       and ($2::float8 is null or a.at >= to_timestamp($2::float8 / 1000))
       and ($3::text is null or a.action = $3)
     order by a.id desc limit $4`,
    [request.subjects ?? null, request.since ?? null, request.action ?? null, request.limit],
  );
  return found.rows;
}
