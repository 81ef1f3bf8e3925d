import type pg from 'pg';
import { serverKey, toolKey } from '../../src/domain/key/tool-key.ts';
import type { Rules } from '../../src/domain/rules/rules.schema.ts';
import { createSimulation } from '../../src/domain/simulate/simulate.ts';
import type { Parts, Subject } from '../../src/domain/trust/parts.ts';
import { readLedger } from '../../src/postgres/read-ledger.ts';

/** Everything in doubt, by subject and part. */
export type Doubts = Readonly<Record<string, object>>;

export interface Truth {
  readonly doubts: Doubts;
  /** How often each change happened, over the whole life of the ledger. */
  readonly changes: Readonly<Record<string, number>>;
}

/** What follows from the ledger by pure computation, at a moment. */
export async function simulated(pool: pg.Pool, rules: Rules, now: number): Promise<Truth> {
  const simulation = createSimulation(rules);
  const notices: string[] = [];
  for await (const row of readLedger(pool, 0)) notices.push(...simulation.row(row).notices);
  notices.push(...simulation.advance(now).notices);
  const pages = [...simulation.book.pages()].map(({ subject, parts }) => doubtsOf(keyOf(subject), parts));
  return { doubts: Object.assign({}, ...pages) as Doubts, changes: tally(notices) };
}

/** What the workflows have made of it, as gates and people see it. */
export async function projected(pool: pg.Pool): Promise<Truth> {
  const trust = await pool.query<{ key: string; parts: Parts }>(
    'select s.key, t.parts from trust t join subject s on s.id = t.subject',
  );
  const audit = await pool.query<{ action: string }>("select action from audit where actor = 'surety'");
  return {
    doubts: Object.assign({}, ...trust.rows.map(({ key, parts }) => doubtsOf(key, parts))) as Doubts,
    changes: tally(audit.rows.map(({ action }) => action)),
  };
}

/** Versions count projections, which is how often somebody looked; all else must agree. Tallies are not for gates. */
function doubtsOf(key: string, parts: Parts): Doubts {
  return Object.fromEntries(
    Object.entries(parts)
      .filter(([, state]) => state.status !== 'TRUSTED')
      .map(([part, state]) => {
        const { tally: _, ...shown } = state;
        return [`${key}#${part}`, 'episode' in shown ? { ...shown, episode: shown.episode.at } : shown];
      }),
  );
}

function keyOf({ kind, server, name }: Subject): string {
  return kind === 'server' ? serverKey(server) : toolKey(server, name);
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
