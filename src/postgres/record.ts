import type pg from 'pg';
import type { Category, Evidence, Severity } from '../domain/outcome/outcome.ts';
import { codeOf } from '../problem.ts';
import type { Kind } from './codes.ts';
import { columnsOf, concernedBy } from './columns.ts';
import type { Concerned } from './columns.ts';
import { MOST_FOLDED } from './ledger-page.ts';

/** A row for the ledger: its names interned, its time by the reporter's clock. */
export interface LedgerRow {
  readonly id: string;
  readonly subject: number;
  /** Whose number that was when it was looked up; absent where it has just been read. */
  readonly subjectKey?: string | undefined;
  /** The server's head, when the tool belongs to a server. */
  readonly serverSubject: number | null;
  readonly serverKey?: string | undefined;
  readonly kind: Kind;
  readonly at: number;
  readonly startedAt?: number | undefined;
  readonly trustVersion?: number | undefined;
  readonly scope: number | null;
  readonly agent: number | null;
  readonly session: number | null;
  readonly severity?: Severity | undefined;
  readonly category?: Category | undefined;
  readonly evidence?: Evidence | undefined;
  readonly recoverable?: boolean | undefined;
  readonly probe?: string | undefined;
  /** Known silent probe: recorded on behalf of a holder that died. */
  readonly silentProbe?: boolean | undefined;
  /** The tool's workflow must hear of this row at once. */
  readonly rings: boolean;
  /** It is told to whom it is held against, the tool or its server, when that one's patience is over. */
  readonly canWait: boolean;
  /** The failure counts on the server, not on the tool. */
  readonly onServer: boolean;
  readonly detail?: unknown;
}

export interface Flushed {
  /** By the subject's key, a place that none of the rows lies behind: its newest row, had they been recorded before. */
  readonly places: ReadonlyMap<string, number>;
  /** Subjects whose bell is to be rung now. */
  readonly bells: readonly number[];
}

/**
 * One statement: heads are locked in id order, rows inserted in id order, heads advanced from the rows really inserted.
 * Locks are always taken in that order, so two flushes can wait for each other but not for ever. They leave room for the
 * key, which whoever takes a probe looks up while holding the row that its late holder's report is to delete. A server's
 * head is locked only when the row concerns it; else every tool of a server would queue behind it.
 *
 * A row's place is its subject's last one plus its place in the flush, which the caller has counted: places are unique
 * and in order, and where a row had been recorded before, one is left out.
 */
function recording(mayMeetItself: boolean): string {
  // Where none can be left out, all that were placed are there.
  const inserted = mayMeetItself ? 'join fresh using (id)' : '';
  return `
with input as (
  select * from unnest(
    $1::uuid[], $2::bigint[], $3::int[], $4::bigint[], $5::int[], $6::smallint[], $7::float8[], $8::float8[],
    $9::bigint[], $10::integer[], $11::integer[], $12::integer[], $13::smallint[], $14::smallint[], $15::boolean[],
    $16::boolean[], $17::bigint[], $18::boolean[], $19::boolean[], $20::boolean[], $21::boolean[], $22::boolean[], $23::jsonb[]
  ) as input (
    id, subject, place, server_subject, server_place, kind, at_ms, started_ms, trust_version, scope, agent, session,
    severity, category, structured, recoverable, token, silent, rings, can_wait, on_server, concerns_server, detail)
),
heads as materialized (
  -- A server about which something is still to be judged may turn out to be in doubt: what its tools do meanwhile, also
  -- later in this flush, concerns it, or it would matter whether a worker was there.
  select s.id, s.key, s.seq, s.attentive, s.attentive or s.ring_seq > s.applied_seq as listens, s.patient_scope
  from subject s
    join unnest($27::bigint[], $28::text[], $29::boolean[]) as wanted (id, key, certain) on wanted.id = s.id
  where coalesce(wanted.key = s.key, true) and (wanted.certain or s.attentive or s.ring_seq > s.applied_seq)
  order by s.id for no key update of s
),
clock as materialized (
  -- Read once the heads are locked: a row that waited for its place must not be older than the row before it, or what
  -- time changes in between would depend on who looked when. The reporter's clock may be off; only the time between
  -- event and sending is taken from it.
  select clock_timestamp() as now, clock_timestamp() - $25::float8 * interval '1 millisecond' as earliest, count(*),
    extract(epoch from statement_timestamp()) * 1000 - $24::float8 as skew,
    -- By the newer rules anything but a success may count: what the reporter says can wait, or needs no bell, is not known.
    exists (select 1 from rules where version > $26::int) as outdated
  from heads
),
released as (
  delete from probe where token = any($30::bigint[])
  returning token, ended_at is null and expires_at > clock_timestamp() as live
),
placed as materialized (
  select i.*, h.seq + i.place as seq,
    i.rings or h.attentive or i.on_server is null and (
      i.can_wait and i.scope is distinct from h.patient_scope or c.outdated and i.kind <> 0) as wakes,
    case when i.concerns_server or v.listens then i.server_subject end as concerned,
    case when i.concerns_server or v.listens then v.seq + i.server_place end as server_seq,
    v.attentive or i.on_server and i.can_wait is null as wakes_server,
    i.can_wait and i.on_server is null as may_wake, i.can_wait and i.on_server as may_wake_server
  from input i join heads h on h.id = i.subject left join heads v on v.id = i.server_subject cross join clock c
),
fresh as (
  insert into ledger (id, subject, seq, server_subject, server_seq, kind, at, received_at, started_at, trust_version,
    scope, agent, session, severity, category, structured, recoverable, probe, detail)
  select p.id, p.subject, p.seq, p.concerned, p.server_seq, p.kind,
    least(c.now, greatest(c.earliest, to_timestamp((p.at_ms + c.skew) / 1000))),
    c.now, to_timestamp((p.started_ms + c.skew) / 1000), p.trust_version, p.scope, p.agent, p.session, p.severity,
    p.category, p.structured, p.recoverable,
    case when p.silent then 1
         when p.token is not null then case when exists (select 1 from released r where r.token = p.token and r.live)
           then 0 else 1 end
    end,
    p.detail
  from placed p cross join clock c
  order by p.id
  ${mayMeetItself ? 'on conflict (id) do nothing' : ''}
  returning id
),
-- Materialized, for correctness: of a head that changed since this statement began, Postgres looks the row up again when
-- it comes to updating it, and misses it in a union that the planner has merged into the join.
advance as materialized (
  -- Orders have places of their own and are no outcomes.
  select subject as id, max(seq) as seq, count(*) filter (where kind <= 2) as outcomes,
    count(*) filter (where kind = 1) as failures, max(seq) filter (where wakes) as ring_seq,
    max(seq) filter (where may_wake) as counted_seq
  from placed ${inserted} group by subject
  union all
  select concerned, max(server_seq), count(*) filter (where kind <= 2), count(*) filter (where kind = 1),
    max(server_seq) filter (where wakes_server), max(server_seq) filter (where may_wake_server)
  from placed ${inserted} where concerned is not null group by concerned
),
advanced as (
  update subject s set
    seq = greatest(s.seq, a.seq),
    -- Successes do not ring, but they are not left to pile up until nobody can read them in one go.
    ring_seq = greatest(s.ring_seq, a.ring_seq, case when a.seq - s.applied_seq > ${MOST_FOLDED} then a.seq end,
      case when s.patient_seq = s.applied_seq and s.patient_rules = $26::int and not c.outdated
        and s.failures + a.failures < s.patient_failures and (s.patient_until is null or c.now < s.patient_until)
        then null else a.counted_seq end),
    outcomes = s.outcomes + a.outcomes,
    failures = s.failures + a.failures
  from advance a cross join clock c where a.id = s.id
  returning s.id, a.seq, s.ring_seq > s.applied_seq and s.rung_at is null as wants_bell
)
select h.id, h.key, coalesce(a.seq, h.seq) as seq, coalesce(a.wants_bell, false) as wants_bell
from heads h left join advanced a on a.id = h.id`;
}

/**
 * Looking for each row before inserting it nearly doubles what the row costs, and hardly any has been recorded before:
 * the first statement finds that out by failing, the second leaves such rows as they are.
 */
const RECORD = { name: 'record', text: recording(false) };
const RECORD_AGAIN = { name: 'record again', text: recording(true) };

/** Rows as the statement takes them. */
export interface Prepared {
  readonly columns: readonly unknown[];
  readonly concerned: Concerned;
}

export function prepare(rows: readonly LedgerRow[]): Prepared {
  return { columns: columnsOf(rows), concerned: concernedBy(rows) };
}

interface Circumstances {
  readonly sentAt: number;
  readonly maxLatenessMs: number;
  /** Of the rules that say what can wait; null where nothing can. */
  readonly rulesVersion: number | null;
}

/**
 * Appends rows and answers when they are durable. Idempotent: a row that is already there, under whatever flush, is left
 * as it is.
 */
export async function record(
  pool: pg.Pool,
  { columns, concerned: { arrays, heads } }: Prepared,
  { sentAt, maxLatenessMs, rulesVersion }: Circumstances,
): Promise<Flushed> {
  const values = [...columns, sentAt, maxLatenessMs, rulesVersion, ...arrays];
  let statement = RECORD;
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { rows: advanced } = await pool.query<Advanced>({ ...statement, values });
      const found = new Set(advanced.map(({ id }) => id));
      for (const head of heads) if (!found.has(head)) throw new UnknownHeads();
      return {
        places: new Map(advanced.map(({ key, seq }) => [key, seq])),
        bells: advanced.filter(({ wants_bell }) => wants_bell).map(({ id }) => id),
      };
    } catch (error) {
      if (attempt === 5) throw error;
      if (codeOf(error) === DUPLICATE) statement = RECORD_AGAIN;
      else if (!isSerialization(error)) throw error;
    }
  }
}

/**
 * A head is not, or no longer, the one that was looked up: the database was restored under a process that remembers
 * numbers. What had a head is recorded; the rest is to be sent again with numbers looked up anew.
 */
export class UnknownHeads extends Error {
  override readonly name = 'UnknownHeads';
}

interface Advanced {
  readonly id: number;
  readonly key: string;
  readonly seq: number;
  readonly wants_bell: boolean;
}

/** Asks for the bells, after the commit and apart from it: a notify inside would serialise every commit. */
export async function askForBells(pool: pg.Pool, subjects: readonly number[]): Promise<void> {
  if (subjects.length > 0) await pool.query("select pg_notify('surety_bell', $1)", [subjects.slice(0, 500).join(',')]);
}

const DUPLICATE = '23505';

function isSerialization(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40P01' || code === '40001';
}
