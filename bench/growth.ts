import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { viewForTool } from '../src/domain/rules/resolve.ts';
import type * as Apply from '../src/domain/trust/apply.ts';
import type * as Draft from '../src/domain/trust/draft.ts';
import { appendOutcomes } from '../src/postgres/append.ts';
import { Names, Subjects } from '../src/postgres/intern.ts';
import { newOutcomeId } from '../src/postgres/outcome-id.ts';
import { createPartitions, dropPartitions } from '../src/postgres/partitions.ts';
import { createPool } from '../src/postgres/pool.ts';
import { pull } from '../src/postgres/pull.ts';
import type { QueryConfig } from 'pg';
import { loadHistory } from './load.ts';
import { alternate, percentileByRound, row, shipped } from './measure.ts';
import type { Row } from './measure.ts';
import type { BenchStack } from './stack.ts';

const TOOLS = 1000;
const [TIMED, AGAIN] = [50, 400];
const PASSES = 1500;
const WEEK_MS = 7 * 86_400_000;

/** Neither the failures of a tool nor the rows of a ledger make the next one cost more. */
export async function growth(stack: BenchStack): Promise<readonly Row[]> {
  return [...(await ofFailures()), ...(await ofRows(stack))];
}

async function ofFailures(): Promise<readonly Row[]> {
  const { applyOne } = (await import(shipped('src/domain/trust/apply'))) as typeof Apply;
  const { draftOf } = (await import(shipped('src/domain/trust/draft'))) as typeof Draft;
  const rules = viewForTool(parseRules({ defaultRule: { blockAfter: null } }), 1, 'local', 't');
  const subject = { kind: 'tool', server: 'local', name: 't' } as const;
  const fail = (draft: ReturnType<typeof draftOf>, at: number) => {
    const failure = { kind: 'failure', severity: 'server_error', category: 'quality', evidence: 'text' } as const;
    applyOne(draft, { ...failure, seq: at, at, receivedAt: at, recoverable: true });
  };
  const partsAfter = (failures: number) => {
    const draft = draftOf(subject, {}, rules, 1);
    for (let at = 1; at <= failures; at += 1) fail(draft, at);
    return draft.parts;
  };
  /** Each of the next few failures after so many, again and again from the same state. */
  const after = (failures: number) => {
    const parts = partsAfter(failures);
    return () => {
      let took = 0n;
      for (let again = 0; again < AGAIN; again += 1) {
        const draft = draftOf(subject, { ...parts }, rules, 1);
        const begin = process.hrtime.bigint();
        for (let at = 1; at <= TIMED; at += 1) fail(draft, failures + at);
        took += process.hrtime.bigint() - begin;
      }
      return Number(took) / (AGAIN * TIMED);
    };
  };
  const sides = {
    hundredth: after(100),
    thousandth: after(1000),
    tenThousandth: after(10_000),
    hundredThousandth: after(100_000),
  };
  await alternate(sides, 2);
  const seen = await alternate(sides);
  const bytesAfter = (failures: number) => JSON.stringify(partsAfter(failures)).length;
  return [
    row('recording failure 1,000 / 100', 'ns', seen.thousandth, seen.hundredth, { atMost: 1.2 }),
    row('recording failure 10,000 / 100', 'ns', seen.tenThousandth, seen.hundredth, { atMost: 1.2 }),
    row('recording failure 100,000 / 100', 'ns', seen.hundredThousandth, seen.hundredth, { atMost: 1.2 }),
    row('carried state after 100,000 failures / 100', 'bytes', [bytesAfter(100_000)], [bytesAfter(100)], {
      atMost: 1.2,
    }),
  ];
}

/** Flushes and pulls with ever more rows in the ledger, half of them in a partition that is being dropped meanwhile. */
async function ofRows({ databaseUrl }: BenchStack): Promise<readonly Row[]> {
  const pool = createPool(databaseUrl, { max: 4 });
  const now = Date.now();
  const levels: { label: string; inserts: number[]; pulls: number[] }[] = [];
  const past = now - 20 * WEEK_MS;
  let [loaded, recent] = [0, 0];
  // The first level is there twice: what comes first meets a database that has just started, and would flatter the rest.
  for (const millions of [0.1, 0.1, 1, 10]) {
    const perTool = (millions * 1_000_000) / TOOLS;
    // The old half has been dropped at the level before, the recent one has stayed.
    await createPartitions(pool, past);
    await loadHistory(pool, { tools: TOOLS, perTool: perTool / 2, at: past, prefix: 'grown' });
    await loadHistory(pool, { tools: TOOLS, perTool: perTool / 2 - recent, at: now, prefix: 'grown' });
    recent = perTool / 2;
    loaded += perTool;
    // Loaded long ago, as far as the database is concerned: what the loading left to be done is done.
    await settled(pool);
    let dropping: Promise<readonly string[]> | undefined;
    const measured = await flushesAndPulls(pool, () => {
      dropping ??= dropPartitions(pool, now, 30);
    });
    const dropped = (await dropping) ?? [];
    if (dropped.length === 0) throw new Error(`nothing was dropped with ${millions} million rows`);
    levels.push({ label: `${millions} M rows`, ...measured });
  }
  await pool.end();
  const [least, ...more] = levels.slice(1);
  if (least === undefined) throw new Error(`nothing was loaded of ${loaded}`);
  return more.flatMap(({ label, inserts, pulls }) => [
    row(`flush of 100 outcomes, p50: ${label} / ${least.label}`, 'ms', p(inserts, 0.5), p(least.inserts, 0.5), {
      atMost: 1.2,
    }),
    row(`flush of 100 outcomes, p99: ${label} / ${least.label}`, 'ms', p(inserts, 0.99), p(least.inserts, 0.99), {
      atMost: 1.2,
    }),
    row(`pull, p99: ${label} / ${least.label}`, 'ms', p(pulls, 0.99), p(least.pulls, 0.99), { atMost: 1.2 }),
  ]);
}

const p = percentileByRound;

async function settled(pool: ReturnType<typeof createPool>): Promise<void> {
  const query_timeout = 600_000;
  for (const text of ['vacuum (analyze) ledger', 'vacuum (analyze) subject', 'checkpoint']) {
    await pool.query({ text, query_timeout } as QueryConfig);
  }
}

/** `drop` is called in the middle of it. */
async function flushesAndPulls(pool: ReturnType<typeof createPool>, drop: () => void) {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  const published = { rules: parseRules({}), version: 0 };
  const generation =
    (await pool.query<{ generation: string }>('select generation from installation')).rows[0]?.generation ?? '';
  const [inserts, pulls]: [number[], number[]] = [[], []];
  for (let round = 0; round < PASSES; round += 1) {
    if (round === PASSES / 2) drop();
    const outcomes = Array.from({ length: 100 }, (_, i) => ({
      ...({ kind: 'success', server: 'local', name: `grown-${(round * 100 + i) % TOOLS}` } as const),
      ...{ at: Date.now(), callId: newOutcomeId() },
    }));
    const begin = performance.now();
    await appendOutcomes(ledger, outcomes, published);
    inserts.push(performance.now() - begin);
    const key = `tool:local/grown-${round % TOOLS}`;
    const seq = (await pool.query<{ seq: number }>('select seq from subject where key = $1', [key])).rows[0]?.seq ?? 0;
    const since = { generation, seq: seq - 1, id: null };
    const pulling = performance.now();
    await pull(pool, { key, since, version: 0, rulesVersion: -1, rulesShape: 0, scopes: [], fold: true });
    pulls.push(performance.now() - pulling);
  }
  // The first few meet cold caches and unprepared statements.
  return { inserts: inserts.slice(50), pulls: pulls.slice(50) };
}
