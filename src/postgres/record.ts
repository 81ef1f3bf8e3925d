import type pg from 'pg';
import type { Category, Evidence, Severity } from '../domain/outcome/outcome.ts';
import type { Kind } from './codes.ts';
import { codeOf } from './codes.ts';
import { storableJson } from './text.ts';

/** A row for the ledger: its names interned, its time by the reporter's clock. */
export interface LedgerRow {
  readonly id: string;
  readonly subject: number;
  /** The server's head, when the tool belongs to a server. */
  readonly serverSubject: number | null;
  readonly kind: Kind;
  readonly at: number;
  readonly startedAt?: number;
  readonly trustVersion?: number;
  readonly scope: number | null;
  readonly agent: number | null;
  readonly session: number | null;
  readonly severity?: Severity;
  readonly category?: Category;
  readonly evidence?: Evidence;
  readonly recoverable?: boolean;
  readonly probe?: string;
  /** Known silent probe: recorded on behalf of a holder that died. */
  readonly silentProbe?: boolean;
  /** The workflow must hear of this row. */
  readonly rings: boolean;
  /** The failure counts on the server, not on the tool. */
  readonly onServer: boolean;
  readonly detail?: unknown;
}

export interface Recorded {
  readonly id: string;
  readonly subject: number;
  readonly seq: number;
  readonly serverSubject: number | null;
  readonly serverSeq: number | null;
}

export interface Flushed {
  /** Rows that were new. What is missing here had been recorded before. */
  readonly fresh: readonly Recorded[];
  /** Subjects whose bell is to be rung now. */
  readonly bells: readonly number[];
}

/**
 * One statement: heads are locked in id order, rows inserted in id order, heads advanced from the rows really inserted.
 * Locks are always taken in that order, so two flushes can wait for each other but not for ever. They leave room for the
 * key, which whoever takes a probe looks up while holding the row that its late holder's report is to delete. A server's
 * head is locked only when the row concerns it; else every tool of a server would queue behind it.
 */
const RECORD = `
with input as materialized (
  select distinct on (id) * from unnest(
    $1::uuid[], $2::bigint[], $3::bigint[], $4::smallint[], $5::float8[], $6::float8[], $7::bigint[], $8::integer[],
    $9::integer[], $10::integer[], $11::smallint[], $12::smallint[], $13::boolean[], $14::boolean[], $15::bigint[],
    $16::boolean[], $17::boolean[], $18::boolean[], $19::jsonb[]
  ) with ordinality as input (
    id, subject, server_subject, kind, at_ms, started_ms, trust_version, scope, agent, session, severity, category,
    structured, recoverable, token, silent, rings, on_server, detail, position)
  order by id, position
),
heads as materialized (
  -- A server about which something is still to be judged may turn out to be in doubt: what its tools do meanwhile concerns
  -- it, or it would matter whether a worker was there.
  select s.id, s.seq, s.attentive, s.attentive or s.ring_seq > s.applied_seq as listens from subject s
  where s.id in (
    select subject from input
    union select i.server_subject from input i join subject v on v.id = i.server_subject
    where i.on_server or v.attentive or v.ring_seq > v.applied_seq
  )
  order by s.id for no key update
),
clock as materialized (
  -- Read once the heads are locked: a row that waited for its place must not be older than the row before it, or what
  -- time changes in between would depend on who looked when. The reporter's clock may be off; only the time between
  -- event and sending is taken from it.
  select clock_timestamp() as now, count(*), extract(epoch from statement_timestamp()) * 1000 - $20::float8 as skew
  from heads
),
released as (
  delete from probe where token in (select token from input where token is not null)
  returning token, ended_at is null and expires_at > clock_timestamp() as live
),
numbered as (
  select i.*, h.seq + row_number() over (partition by i.subject order by i.position) as new_seq,
    case when i.on_server or v.listens
      then v.seq + row_number() over (partition by i.server_subject, i.on_server or v.listens order by i.position)
    end as new_server_seq
  from input i join heads h on h.id = i.subject left join heads v on v.id = i.server_subject
),
fresh as (
  insert into ledger (id, subject, seq, server_subject, server_seq, kind, at, received_at, started_at, trust_version,
    scope, agent, session, severity, category, structured, recoverable, probe, detail)
  select n.id, n.subject, n.new_seq, case when n.new_server_seq is not null then n.server_subject end, n.new_server_seq,
    n.kind,
    least(c.now, greatest(c.now - $21::float8 * interval '1 millisecond', to_timestamp((n.at_ms + c.skew) / 1000))),
    c.now, to_timestamp((n.started_ms + c.skew) / 1000), n.trust_version, n.scope, n.agent, n.session, n.severity,
    n.category, n.structured, n.recoverable,
    case when n.silent then 1
         when n.token is not null then case when exists (select 1 from released r where r.token = n.token and r.live)
           then 0 else 1 end
    end,
    n.detail
  from numbered n cross join clock c
  order by n.id
  on conflict (id) do nothing
  returning id, subject, seq, server_subject, server_seq, kind
),
-- Materialized, for correctness: of a head that changed since this statement began, Postgres looks the row up again when
-- it comes to updating it, and misses it in a union that the planner has merged into the join.
advance as materialized (
  -- Orders have places of their own and are no outcomes.
  select f.subject as id, max(f.seq) as seq, count(*) filter (where f.kind <= 2) as outcomes,
    count(*) filter (where f.kind = 1) as failures,
    max(f.seq) filter (where i.rings or h.attentive) as ring_seq
  from fresh f join input i on i.id = f.id join heads h on h.id = f.subject
  group by f.subject
  union all
  select f.server_subject, max(f.server_seq), count(*) filter (where f.kind <= 2), count(*) filter (where f.kind = 1),
    max(f.server_seq) filter (where i.on_server or v.attentive)
  from fresh f join input i on i.id = f.id join heads v on v.id = f.server_subject
  group by f.server_subject
),
advanced as (
  update subject s set
    seq = greatest(s.seq, a.seq),
    ring_seq = greatest(s.ring_seq, coalesce(a.ring_seq, 0)),
    outcomes = s.outcomes + a.outcomes,
    failures = s.failures + a.failures
  from advance a where a.id = s.id
  returning s.id, s.ring_seq > s.applied_seq and s.rung_at is null as wants_bell
)
select
  (select coalesce(json_agg(json_build_object('id', id, 'subject', subject, 'seq', seq, 'serverSubject', server_subject, 'serverSeq', server_seq)), '[]') from fresh) as fresh,
  (select coalesce(json_agg(id), '[]') from advanced where wants_bell) as bells`;

/**
 * Appends rows and answers when they are durable. Idempotent: a row that is already there, under whatever flush, is left
 * as it is.
 */
export async function record(
  pool: pg.Pool,
  rows: readonly LedgerRow[],
  clock: { readonly sentAt: number; readonly maxLatenessMs: number },
): Promise<Flushed> {
  const column = <T>(pick: (row: LedgerRow) => T) => rows.map(pick);
  const values = [
    column((row) => row.id),
    column((row) => row.subject),
    column((row) => row.serverSubject),
    column((row) => codeOf.kind(row.kind)),
    column((row) => row.at),
    column((row) => row.startedAt ?? null),
    column((row) => row.trustVersion ?? null),
    column((row) => row.scope),
    column((row) => row.agent),
    column((row) => row.session),
    column((row) => codeOf.severity(row.severity)),
    column((row) => codeOf.category(row.category)),
    column((row) => (row.evidence === undefined ? null : row.evidence === 'structured')),
    column((row) => row.recoverable ?? null),
    column((row) => row.probe ?? null),
    column((row) => row.silentProbe ?? false),
    column((row) => row.rings),
    column((row) => row.onServer),
    column((row) => (row.detail === undefined ? null : storableJson(row.detail))),
    clock.sentAt,
    clock.maxLatenessMs,
  ];
  for (let attempt = 1; ; attempt += 1) {
    try {
      const result = await pool.query<Flushed>({ name: 'record', text: RECORD, values });
      return result.rows[0] as Flushed;
    } catch (error) {
      if (attempt === 5 || !isSerialization(error)) throw error;
    }
  }
}

/** Asks for the bells, after the commit and apart from it: a notify inside would serialise every commit. */
export async function askForBells(pool: pg.Pool, subjects: readonly number[]): Promise<void> {
  if (subjects.length > 0) await pool.query("select pg_notify('surety_bell', $1)", [subjects.slice(0, 500).join(',')]);
}

function isSerialization(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === '40P01' || code === '40001';
}
