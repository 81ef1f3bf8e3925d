import type pg from 'pg';
import { serverKey, toolKey } from '../../src/domain/key/tool-key.ts';
import type { Rules } from '../../src/domain/rules/rules.schema.ts';
import { createSimulation } from '../../src/domain/simulate/simulate.ts';
import type { Parts, Subject } from '../../src/domain/trust/parts.ts';
import { inTransaction } from '../../src/postgres/pool.ts';
import { readLedger } from '../../src/postgres/read-ledger.ts';

/** What is known of all subjects at a moment. */
export interface Truth {
  /** Everything in doubt, by subject and part. */
  readonly doubts: Readonly<Record<string, object>>;
  /** How often each change happened, over the whole life of the ledger. */
  readonly changes: Readonly<Record<string, number>>;
}

/** What follows from the ledger by pure computation. */
export async function simulated(pool: pg.Pool, rules: Rules, now: number): Promise<Truth> {
  const simulation = createSimulation(rules);
  const notices: string[] = [];
  for await (const row of readLedger(pool, 0)) notices.push(...simulation.row(row).notices);
  notices.push(...simulation.advance(now).notices);
  const pages = [...simulation.book.pages()].flatMap(({ subject, parts }) => doubtsOf(keyOf(subject), parts));
  return { doubts: Object.fromEntries(pages), changes: counted(notices) };
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
    const audit = await client.query<{ action: string }>("select action from audit where actor = 'surety'");
    const doubts = Object.fromEntries(trust.rows.flatMap(({ key, parts }) => doubtsOf(key, parts)));
    return { now, doubts, changes: counted(audit.rows.map(({ action }) => action)) };
  });
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

function keyOf({ kind, server, name }: Subject): string {
  return kind === 'server' ? serverKey(server) : toolKey(server, name);
}

function counted(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
