import type pg from 'pg';
import { CATEGORIES, SEVERITIES } from '../domain/outcome/outcome.ts';
import type { RuleView } from '../domain/rules/resolve.ts';
import type { Entry } from '../domain/trust/entry.ts';
import { KINDS, PROBE_STATES } from './codes.ts';
import type { Head } from './pull.ts';

const MOST_EVENTFUL = 100;
const MOST_SINGLE = 200;
const MOST_RATED = 10_000;
/** Of a tool of which too little is known to count its failures together: then more is, and the next page is large. */
const FIRST_RATED = 1000;
/** Rows that one page may stand for: reading them must not take a pull longer than it has. */
export const MOST_FOLDED = 50_000;
/** Entries that one page may have; each is some hundred bytes in a history. */
const MOST_ENTRIES = 1000;

interface PageRequest {
  readonly from: number;
  readonly fold: boolean;
  readonly scopes: readonly string[];
  readonly view: RuleView;
  /** Its failures can be counted together. */
  readonly isCalm: boolean;
}

interface Page {
  readonly entries: readonly Entry[];
  readonly upTo: number;
}

/** The next rows of a subject, bounded in what they weigh in a history rather than in how many there are. */
export async function readPage(client: pg.PoolClient, head: Head, request: PageRequest): Promise<Page> {
  if (request.from >= head.seq) return { entries: [], upTo: head.seq };
  if (head.kind === 'server') return readSingly(client, head, request.from, 'server_');
  return request.fold ? readFolded(client, head, request) : readSingly(client, head, request.from, '');
}

// `date_part` where `extract` would do: it counts in float8, which is several times as fast as numeric.
const COLUMNS = `l.kind, date_part('epoch', l.at) * 1000 as at, date_part('epoch', l.received_at) * 1000 as received_at,
  date_part('epoch', l.started_at) * 1000 as started_at,
  l.trust_version, scope.text as scope, agent.text as agent, l.severity, l.category, l.structured, l.recoverable,
  l.probe, l.detail ->> 'by' as by, l.detail ->> 'reason' as reason`;
const NAMES = 'left join name scope on scope.id = l.scope left join name agent on agent.id = l.agent';

async function readSingly(client: pg.PoolClient, head: Head, from: number, of: '' | 'server_'): Promise<Page> {
  const found = await client.query<Row>({
    name: `page by ${of}seq`,
    text: `select l.${of}seq as seq, ${COLUMNS}, null::int as count from ledger l ${NAMES}
     where l.${of}subject = $1 and l.${of}seq > $2 and l.${of}seq <= $3 order by l.${of}seq limit ${MOST_SINGLE}`,
    values: [head.id, from, head.seq],
  });
  // The version in a row is the tool's; a server tells what came before its episode by time.
  const rows = of === '' ? found.rows : found.rows.map((row) => ({ ...row, trust_version: null }));
  return { entries: rows.map(entryOf), upTo: lastSeq(found.rows, MOST_SINGLE, head.seq) };
}

/**
 * Successes are counted together between two eventful rows, per scope and, where a rate is kept, per slice of its window.
 * Those of a scope that is neither kept nor eventful here are left out.
 */
async function readFolded(
  client: pg.PoolClient,
  head: Head,
  request: PageRequest,
  mostRated = request.isCalm || request.scopes.length > 0 ? MOST_RATED : FIRST_RATED,
): Promise<Page> {
  const rules = [request.view.own, ...request.view.domains].map(({ rule }) => rule);
  const rated = rules.some((rule) => rule.rateThreshold !== null || rule.expectedFailureRate > 0);
  const byAgent = rules.some((rule) => rule.minReporters > 1);
  const sliceMs = rated ? Math.max(1, Math.floor((Math.min(...rules.map((r) => r.windowSeconds)) * 1000) / 20)) : 1e15;
  const isCoarse = !rated && !byAgent;
  const end = await endOfPage(client, head, request.from, isCoarse, mostRated);
  const found = await client.query<FoldedRow>({
    name: 'page, folded',
    text: `with page as materialized (
       select l.seq, l.kind, l.at, l.received_at, l.started_at, l.trust_version, l.scope, l.agent, l.severity, l.category,
         l.structured, l.recoverable, l.probe, case when l.kind > 2 then l.detail end as detail,
         sum((l.kind <> 0)::int) over (order by l.seq rows unbounded preceding) as segment,
         floor(floor(date_part('epoch', l.at) * 1000 + 0.5) / $5) as slice
       from ledger l where l.subject = $1 and l.seq > $2 and l.seq <= $3
     ), kept as (
       select id from name where text = any($4) union select scope from page where kind <> 0 and scope is not null
     ), entry as (
       select segment, seq, kind, at, received_at, started_at, trust_version, scope, agent, severity, category, structured,
         recoverable, probe, detail, null::int as count
       from page where kind <> 0
       union all
       select segment, max(seq), 0::smallint, max(at), max(received_at), null, null, scope, case when $6 then agent end,
         null, null, null, null, null, null, count(*)::int
       from page where kind = 0 and ($7 or scope is null or scope in (select id from kept))
       group by segment, slice, scope, case when $6 then agent end
     )
     select l.segment, l.seq, ${COLUMNS}, l.count from entry l ${NAMES} order by l.segment, l.kind = 0, l.seq`,
    values: [head.id, request.from, end, request.scopes, sliceMs, byAgent, rated],
  });
  const { rows, upTo } = cutToSize(found.rows, end);
  // Successes of very many scopes, with nothing in between: so few rows cannot be more entries than a page may have.
  const isTooMuch = rows.length > MOST_ENTRIES && !isCoarse && mostRated > MOST_ENTRIES;
  return isTooMuch ? readFolded(client, head, request, MOST_ENTRIES) : { entries: rows.map(entryOf), upTo };
}

/** A segment begins with an eventful row, and its successes belong together: a page ends before one, never within. */
function cutToSize(rows: readonly FoldedRow[], end: number): { rows: readonly FoldedRow[]; upTo: number } {
  const over = rows[MOST_ENTRIES];
  if (over === undefined) return { rows, upTo: end };
  const first = rows[0]?.segment ?? over.segment;
  const segment = over.segment === first ? first + 1 : over.segment;
  const next = rows.find((row) => row.segment === segment);
  if (next === undefined) return { rows, upTo: end };
  return { rows: rows.filter((row) => row.segment < segment), upTo: next.seq - 1 };
}

async function endOfPage(
  client: pg.PoolClient,
  head: Head,
  from: number,
  isCoarse: boolean,
  mostRated: number,
): Promise<number> {
  // Places follow each other; where some are missing the page is but smaller.
  if (!isCoarse) return Math.min(from + mostRated, head.seq);
  const found = await client.query<{ seq: number }>({
    name: 'end of a coarse page',
    text: `select seq from ledger where subject = $1 and seq > $2 and seq <= $3 and kind <> 0
     order by seq offset $4 limit 1`,
    values: [head.id, from, head.seq, MOST_EVENTFUL - 1],
  });
  return Math.min(found.rows[0]?.seq ?? head.seq, from + MOST_FOLDED);
}

function lastSeq(rows: readonly { seq: number }[], limit: number, headSeq: number): number {
  return rows.length < limit ? headSeq : (rows.at(-1)?.seq ?? headSeq);
}

interface Row {
  readonly seq: number;
  readonly kind: number;
  readonly at: number;
  readonly received_at: number;
  readonly started_at: number | null;
  readonly trust_version: number | null;
  readonly scope: string | null;
  readonly agent: string | null;
  readonly severity: number | null;
  readonly category: number | null;
  readonly structured: boolean | null;
  readonly recoverable: boolean | null;
  readonly probe: number | null;
  readonly by: string | null;
  readonly reason: string | null;
  /** Set on folded successes only. */
  readonly count: number | null;
}

interface FoldedRow extends Row {
  readonly segment: number;
}

/** Absent rather than null: an entry is written into a history, and most of it is absent. */
export function entryOf(row: Row): Entry {
  const kind = KINDS[row.kind] ?? 'unknown';
  const base = {
    seq: row.seq,
    at: Math.round(row.at),
    receivedAt: Math.round(row.received_at),
    ...(row.scope === null ? {} : { scope: row.scope }),
  };
  if (kind === 'reset' || kind === 'block' || kind === 'recover') {
    return { ...base, kind, by: row.by ?? 'unknown', reason: row.reason ?? '' };
  }
  const severity = row.severity === null ? undefined : SEVERITIES[row.severity];
  const category = row.category === null ? undefined : CATEGORIES[row.category];
  const probe = row.probe === null ? undefined : PROBE_STATES[row.probe];
  return {
    ...base,
    kind,
    ...(row.started_at === null ? {} : { startedAt: Math.round(row.started_at) }),
    ...(row.trust_version === null ? {} : { trustVersion: row.trust_version }),
    ...(row.agent === null ? {} : { agent: row.agent }),
    ...(severity === undefined ? {} : { severity }),
    ...(category === undefined ? {} : { category }),
    ...(row.structured === null ? {} : { evidence: row.structured ? 'structured' : 'text' }),
    ...(row.recoverable === null || row.recoverable ? {} : { recoverable: false }),
    ...(probe === undefined ? {} : { probe }),
    ...(row.count === null ? {} : { count: row.count }),
  };
}
