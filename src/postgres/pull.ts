import type pg from 'pg';
import type { RuleView } from '../domain/rules/resolve.ts';
import { viewForServer, viewForTool } from '../domain/rules/resolve.ts';
import type { Projection, Pulled, Watermark } from '../domain/trust/absorb.ts';
import type { Calm } from '../domain/trust/calm.ts';
import { foldCalm } from '../domain/trust/calm.ts';
import type { Severity } from '../domain/outcome/outcome.ts';
import type { Parts, Subject } from '../domain/trust/parts.ts';
import { isPlain, ruleOfPart, scopeOfPart, WHOLE } from '../domain/trust/parts.ts';
import type { Projected } from '../domain/trust/parts.schema.ts';
import { readParts } from '../domain/trust/parts.schema.ts';
import { codeOf } from './codes.ts';
import { readPage } from './ledger-page.ts';
import { inTransaction } from './pool.ts';
import { currentRules } from './rules.ts';

/** Less than the activity has: a pull that is given up must not go on reading. */
const PULL_WITHIN_MS = 8000;

export interface PullRequest {
  readonly key: string;
  /** Of a workflow that remembers something: should the ledger know nothing of it, it is to learn. */
  readonly subject?: Subject;
  /** Null at the first pull of a workflow that has no state yet. */
  readonly since: Watermark | null;
  readonly version: number;
  readonly rulesVersion: number;
  /** Of the rules the workflow has; another release may have left out what this one needs. */
  readonly rulesShape: number;
  /** The scopes that are kept. Successes of any other change nothing and are left out when folding. */
  readonly scopes: readonly string[];
  readonly fold: boolean;
  /** What of the tool's failures can change nothing, by the rules the workflow has. */
  readonly calm?: Calm;
}

export interface Head extends Subject {
  readonly id: number;
  readonly seq: number;
  readonly failures: number;
  readonly rejected: number;
  /** What some workflow has judged, perhaps one that is no more. */
  readonly applied: number;
  readonly generation: string;
  readonly now: number;
}

/**
 * What is new for a workflow, or undefined where the ledger has no such subject. Only takes the bell off the hook
 * besides reading, so it may run twice. Answering it locks the head row for that moment: a row that is being committed
 * meanwhile is either seen here or rings again. Everything up to the head's place is there to be read once it is
 * answered, so nobody who reports has to wait for the reading.
 *
 * Its statements are prepared: planning one over all partitions of the ledger takes longer than running it.
 */
export async function pull(pool: pg.Pool, request: PullRequest): Promise<Pulled | undefined> {
  const answered = (await answerBell(pool, request.key)) ?? (await makeHead(pool, request));
  if (answered === undefined) return undefined;
  // Along indexes: of a table that nobody has analysed yet the planner takes all rows of a subject for a handful, and would read and
  // sort a hundred thousand for the first two hundred.
  const limits = { statementMs: PULL_WITHIN_MS, alongIndexes: true };
  return inTransaction(pool, (client) => readNews(client, answered, request), limits);
}

interface Answered {
  readonly head: Head;
  readonly projection: Projection | undefined;
}

async function readNews(client: pg.PoolClient, { head, projection }: Answered, request: PullRequest): Promise<Pulled> {
  const { rules, version: rulesVersion } = await currentRules(client);
  const view =
    head.kind === 'server'
      ? viewForServer(rules, rulesVersion, head.server)
      : viewForTool(rules, rulesVersion, head.server, head.name);
  const broken = request.since === null ? undefined : await brokenSince(client, head, request.since);
  const from = request.since?.seq ?? projection?.seq ?? (await firstThatCounts(client, head, view));
  // A workflow without memory is about to adopt what was projected, and asks without knowing it.
  const { fold, scopes } = request.since === null ? kept(projection?.parts ?? {}) : request;
  const page =
    broken === undefined
      ? await readPage(client, head, { from, fold, scopes, view, isCalm: request.calm !== undefined })
      : { entries: [], upTo: head.seq };
  const projectedVersion = projection?.version ?? 0;
  const disagrees = broken !== undefined || projectedVersion > request.version;
  // Versions of rules are numbered by the database: after a restore the same number may mean other rules.
  const sameRules =
    rulesVersion === request.rulesVersion &&
    view.shape === request.rulesShape &&
    broken === undefined &&
    projectedVersion === request.version;
  return {
    subject: { kind: head.kind, server: head.server, name: head.name },
    watermark: { generation: head.generation, seq: page.upTo, id: (await idAt(client, head, page.upTo)) ?? null },
    entries:
      sameRules && request.calm !== undefined
        ? foldCalm(page.entries, request.calm, ruleOfPart(head, view, WHOLE))
        : page.entries,
    more: page.upTo < head.seq,
    failures: head.failures,
    ...(sameRules ? {} : { rules: view, ...(await sinceOf(client, rulesVersion)) }),
    projectedVersion,
    ...(projection !== undefined && (request.since === null || disagrees) ? { projection } : {}),
    ...(request.since === null ? { rejected: head.rejected } : {}),
    ...(broken === undefined ? {} : { broken }),
    now: head.now,
  };
}

/** Nothing of rules that nobody has published. */
async function sinceOf(client: pg.PoolClient, version: number): Promise<Pick<Pulled, 'rulesSince'>> {
  const found = await client.query<{ rulesSince: number }>(
    'select extract(epoch from published_at)::float8 * 1000 as "rulesSince" from rules where version = $1',
    [version],
  );
  return found.rows[0] ?? {};
}

/**
 * The projection is read while the head is held: what somebody projects meanwhile, as a run that was ended just now may,
 * would be ahead of that head, and its rows would be judged twice.
 */
async function answerBell(pool: pg.Pool, key: string): Promise<Answered | undefined> {
  return inTransaction(pool, async (client) => {
    const found = await client.query<Head>({
      name: 'answer bell',
      text: `update subject s set rung_at = null from installation i where s.key = $1
       returning s.id, s.kind, s.server, s.name, s.seq, s.failures, s.applied_seq as applied, s.rejected, i.generation,
         floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
      values: [key],
    });
    const [head] = found.rows;
    return head === undefined ? undefined : { head, projection: await readProjection(client, head.id) };
  });
}

/** The ledger was replaced by an empty one, and what the workflow holds against the tool must be known there, too. */
async function makeHead(pool: pg.Pool, { key, subject }: PullRequest): Promise<Answered | undefined> {
  if (subject === undefined) return undefined;
  await pool.query(
    'insert into subject (key, kind, server, name) values ($1, $2, $3, $4) on conflict (key) do nothing',
    [key, subject.kind, subject.server, subject.name],
  );
  return answerBell(pool, key);
}

async function brokenSince(client: pg.PoolClient, head: Head, since: Watermark): Promise<Pulled['broken']> {
  if (since.generation !== head.generation) return 'other generation';
  if (since.seq > head.seq) return 'ledger is behind';
  if (since.id === null) return undefined;
  const id = await idAt(client, head, since.seq);
  // A row that retention has dropped cannot be compared; one that is there must be the one that was read.
  return id === undefined || id === since.id ? undefined : 'ledger was rewritten';
}

async function idAt(client: pg.PoolClient, head: Head, seq: number): Promise<string | undefined> {
  const of = head.kind === 'server' ? 'server_' : '';
  const found = await client.query<{ id: string }>({
    name: `id at ${of}seq`,
    text: `select id from ledger where ${of}subject = $1 and ${of}seq = $2`,
    values: [head.id, seq],
  });
  return found.rows[0]?.id;
}

async function readProjection(client: pg.PoolClient, subject: number): Promise<Projection | undefined> {
  const found = await client.query<{ seq: number; parts: unknown } & Projected>({
    name: 'read projection',
    text: `select version, seq, status, reason, parts, extract(epoch from updated_at)::float8 * 1000 as at
     from trust where subject = $1`,
    values: [subject],
  });
  const [row] = found.rows;
  if (row === undefined) return undefined;
  const { parts, unreadable } = readParts(row.parts, row);
  return { version: row.version, seq: row.seq, parts, ...(unreadable ? { unreadable } : {}) };
}

function kept(parts: Parts): Pick<PullRequest, 'fold' | 'scopes'> {
  return { fold: isPlain(parts), scopes: Object.keys(parts).map(scopeOfPart) };
}

/**
 * A tool that was never in doubt owes nothing to rows that have left its window: a first pull need not read them. The
 * window is the one before now, or before the oldest row that could have put it in doubt and that nobody has judged.
 */
async function firstThatCounts(client: pg.PoolClient, head: Head, view: RuleView): Promise<number> {
  const rules = [view.own, ...view.domains].map(({ rule }) => rule);
  const longest = rules.map(({ windowSeconds, reachability, decayPerHour }) => {
    const window = head.kind === 'server' ? reachability.windowSeconds : windowSeconds;
    return window + (decayPerHour === 0 ? 0 : 3600 / decayPerHour);
  });
  const counted: Severity[] = [...rules.flatMap(({ severityFilter }) => severityFilter), 'security', 'repeated_auth'];
  const of = head.kind === 'server' ? 'server_' : '';
  const found = await client.query<{ seq: number }>(
    `with unjudged as (
       select received_at from ledger where ${of}subject = $1 and ${of}seq > $2 and kind <> 0
         and (kind > 1 or severity is null or severity = any($3) or category = $4)
       order by ${of}seq limit 1
     )
     select ${of}seq as seq from ledger where ${of}subject = $1
       and received_at < coalesce((select received_at from unjudged), now()) - $5::float8 * interval '1 second'
     order by ${of}seq desc limit 1`,
    [
      head.id,
      head.applied,
      counted.map(codeOf.severity),
      codeOf.category(head.kind === 'server' ? 'reachability' : 'auth'),
      Math.max(...longest),
    ],
  );
  return found.rows[0]?.seq ?? 0;
}
