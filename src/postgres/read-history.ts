import type pg from 'pg';
import { CATEGORIES, SEVERITIES } from '../domain/outcome/outcome.ts';
import type { Category, Severity } from '../domain/outcome/outcome.ts';
import type { Kind } from './codes.ts';
import { KINDS, PROBE_STATES } from './codes.ts';

/** One row of the ledger, for people. */
export interface HistoryEntry {
  readonly id: string;
  readonly subject: number;
  readonly seq: number;
  readonly kind: Kind;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly receivedAt: number;
  readonly scope: string | null;
  readonly agent: string | null;
  readonly session: string | null;
  readonly severity: Severity | null;
  readonly category: Category | null;
  readonly probe: (typeof PROBE_STATES)[number] | null;
  /** Of a failure what was kept of it, of an order who gave it and why. */
  readonly detail: Readonly<Record<string, unknown>>;
  /** By which kind of grant a call ran that failed, and who gave it. */
  readonly granted: { readonly kind: string; readonly by: string | null } | null;
}

export interface HistoryRequest {
  readonly subjects: readonly number[];
  /** Servers have a sequence of their own over their tools' rows. */
  readonly ofServers: boolean;
  readonly failuresOnly: boolean;
  readonly limit: number;
  /** Only rows of this scope. */
  readonly scope?: string;
  /** Only rows up to this moment, epoch milliseconds. */
  readonly until?: number;
}

interface Row extends Omit<HistoryEntry, 'kind' | 'severity' | 'category' | 'probe' | 'detail'> {
  readonly kind: number;
  readonly severity: number | null;
  readonly category: number | null;
  readonly probe: number | null;
  readonly detail: Record<string, unknown> | null;
}

/** The newest rows of each subject, newest first. */
export async function readHistory(pool: pg.Pool, request: HistoryRequest): Promise<readonly HistoryEntry[]> {
  const of = request.ofServers ? 'server_' : '';
  const found = await pool.query<Row>(
    `select l.id, wanted.id as subject, l.${of}seq as seq, l.kind, l.severity, l.category, l.probe, l.detail,
       extract(epoch from l.at)::float8 * 1000 as at, extract(epoch from l.received_at)::float8 * 1000 as "receivedAt",
       scope.text as scope, agent.text as agent, session.text as session,
       (select json_build_object('kind', g.kind, 'by', g.given_by) from approval_grant g
        where g.id::text = l.detail ->> 'grant') as granted
     from unnest($1::bigint[]) as wanted (id) cross join lateral (
       select * from ledger where ${of}subject = wanted.id ${request.failuresOnly ? 'and kind in (1, 2)' : ''}
         and ($3::text is null or scope = (select id from name where text = $3))
         and ($4::float8 is null or at <= to_timestamp($4::float8 / 1000))
       order by ${of}seq desc limit $2
     ) l left join name scope on scope.id = l.scope left join name agent on agent.id = l.agent
       left join name session on session.id = l.session
     order by l.received_at desc, l.${of}seq desc limit $2`,
    [request.subjects, request.limit, request.scope ?? null, request.until ?? null],
  );
  return found.rows.map((row) => ({
    ...row,
    kind: KINDS[row.kind] ?? 'unknown',
    severity: row.severity === null ? null : (SEVERITIES[row.severity] ?? null),
    category: row.category === null ? null : (CATEGORIES[row.category] ?? null),
    probe: row.probe === null ? null : (PROBE_STATES[row.probe] ?? null),
    detail: row.detail ?? {},
  }));
}
