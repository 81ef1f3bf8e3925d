import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { viewForServer, viewForTool } from '../../src/domain/rules/resolve.ts';
import type { Rules } from '../../src/domain/rules/rules.schema.ts';
import { advanceAll, applyEntries } from '../../src/domain/trust/apply.ts';
import type { Applied } from '../../src/domain/trust/apply.ts';
import type { Parts, Subject } from '../../src/domain/trust/parts.ts';
import { entryOf } from '../../src/postgres/ledger-page.ts';
import { inTransaction } from '../../src/postgres/pool.ts';

/** What is known of all subjects at a moment. */
export interface Truth {
  /** Everything in doubt, by subject and part. */
  readonly doubts: Readonly<Record<string, object>>;
  /** What happened to each part, in order, over the whole life of the ledger. */
  readonly changes: Readonly<Record<string, readonly string[]>>;
}

/** What follows from the ledger by pure computation: each subject's rows in their order, and time between them. */
export async function simulated(pool: pg.Pool, rules: Rules, now: number): Promise<Truth> {
  const subjects = await pool.query<Subject & { id: number; key: string }>(
    'select id, key, kind, server, name from subject',
  );
  const doubts: [string, object][] = [];
  const changes: Change[] = [];
  for (const { id, key, ...subject } of subjects.rows) {
    const view =
      subject.kind === 'server'
        ? viewForServer(rules, 0, subject.server)
        : viewForTool(rules, 0, subject.server, subject.name);
    let parts: Parts = {};
    const take = ({ parts: after, effects }: Applied) => {
      parts = after;
      changes.push(...effects.map(({ part, change, at }) => ({ key, part, change, at })));
    };
    for (const entry of await entriesOf(pool, id, subject.kind === 'server' ? 'server_' : '')) {
      take(advanceAll(subject, parts, entry.receivedAt, view, 0));
      take(applyEntries(subject, parts, [entry], view, 0));
    }
    take(advanceAll(subject, parts, now, view, 0));
    doubts.push(...doubtsOf(key, parts));
  }
  return { doubts: Object.fromEntries(doubts), changes: byPart(changes) };
}

async function entriesOf(pool: pg.Pool, subject: number, of: '' | 'server_') {
  const found = await pool.query<Parameters<typeof entryOf>[0]>(
    `select l.${of}seq as seq, l.kind, extract(epoch from l.at)::float8 * 1000 as at,
       extract(epoch from max(l.received_at) over (order by l.${of}seq))::float8 * 1000 as received_at,
       extract(epoch from l.started_at)::float8 * 1000 as started_at, null as trust_version, scope.text as scope,
       agent.text as agent, l.severity, l.category, l.structured, l.recoverable, l.probe, l.detail ->> 'by' as by,
       l.detail ->> 'reason' as reason, null as count
     from ledger l left join name scope on scope.id = l.scope left join name agent on agent.id = l.agent
     where l.${of}subject = $1 order by l.${of}seq`,
    [subject],
  );
  return found.rows.map(entryOf);
}

/**
 * What the workflows have made of it, as gates and people see it, at a moment when they have applied everything and every
 * deadline that has passed. Throws while there is no such moment.
 */
export async function projected(pool: pg.Pool): Promise<Truth & { readonly now: number }> {
  return inTransaction(pool, async (client) => {
    await client.query('set transaction isolation level repeatable read');
    const clock = await client.query<{ now: number; busy: string[] }>(
      `select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as now, array(
         select format('%s: %s of %s applied, due %s', key, applied_seq, ring_seq, due_at) from subject
         where ring_seq > applied_seq or due_at <= clock_timestamp()
       ) as busy`,
    );
    const { now = 0, busy = [] } = clock.rows[0] ?? {};
    if (busy.length > 0) throw new Error(busy.join('\n'));
    const trust = await client.query<{ key: string; parts: Parts }>(
      'select s.key, t.parts from trust t join subject s on s.id = t.subject',
    );
    const audit = await client.query<Change>(
      `select s.key, a.part, a.action as change, extract(epoch from a.at)::float8 * 1000 as at
       from audit a join subject s on s.id = a.subject where a.actor = 'surety' order by a.id`,
    );
    const doubts = Object.fromEntries(trust.rows.flatMap(({ key, parts }) => doubtsOf(key, parts)));
    return { now, doubts, changes: byPart(audit.rows) };
  });
}

/** All that is on record about the subjects of which the two say something else: a run that kills cannot be repeated to find out. */
export async function recordOf(pool: pg.Pool, shown: Truth, truth: Truth): Promise<string> {
  const parts = new Set([...Object.keys(shown.doubts), ...Object.keys(truth.doubts)]);
  const differing = [...parts].filter((part) => !isDeepStrictEqual(shown.doubts[part], truth.doubts[part]));
  const keys = differing.map((part) => part.slice(0, part.lastIndexOf('#')));
  const record = await pool.query<{ record: unknown }>(
    `select jsonb_build_object('subject', to_jsonb(s), 'trust', to_jsonb(t),
       'ledger', (select jsonb_agg(to_jsonb(l) order by l.seq) from ledger l where l.subject = s.id),
       'audit', (select jsonb_agg(to_jsonb(a) order by a.id) from audit a where a.subject = s.id)) as record
     from subject s left join trust t on t.subject = s.id where s.key = any($1)`,
    [keys],
  );
  return record.rows.map((row) => JSON.stringify(row.record, null, 1)).join('\n');
}

/** Versions count projections, which is how often somebody looked; all else must agree. Tallies are not for gates. */
function doubtsOf(key: string, parts: Parts): [string, object][] {
  return Object.entries(parts)
    .filter(([, state]) => state.status !== 'TRUSTED')
    .map(([part, state]) => {
      const { tally: _, ...shown } = state;
      return [`${key}#${part}`, 'episode' in shown ? { ...shown, episode: shown.episode.at } : shown];
    });
}

interface Change {
  readonly key: string;
  readonly part: string;
  readonly change: string;
  readonly at: number;
}

function byPart(changes: readonly Change[]): Record<string, string[]> {
  const parts: Record<string, string[]> = {};
  for (const { key, part, change, at } of changes) (parts[`${key}#${part}`] ??= []).push(`${change} ${Math.round(at)}`);
  return parts;
}

/** How often each kind of change happened. */
export function counted({ changes }: Truth): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of Object.values(changes)
    .flat()
    .map((change) => change.replace(/ \d+$/, ''))
    .toSorted()) {
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
