import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { viewForTool } from '../src/domain/rules/resolve.ts';
import { applyOne } from '../src/domain/trust/apply.ts';
import { draftOf } from '../src/domain/trust/draft.ts';
import { appendOutcomes } from '../src/postgres/append.ts';
import { Names, Subjects } from '../src/postgres/intern.ts';
import { newOutcomeId } from '../src/postgres/outcome-id.ts';
import { createPartitions, dropPartitions } from '../src/postgres/partitions.ts';
import { createPool } from '../src/postgres/pool.ts';
import { pull } from '../src/postgres/pull.ts';
import type { QueryConfig } from 'pg';
import { loadHistory } from './load.ts';
import { alternate, percentileByRound, row } from './measure.ts';
import type { Row } from './measure.ts';
import type { BenchStack } from './stack.ts';

const TOOLS = 1000;
const TIMED = 10_000;
const WEEK_MS = 7 * 86_400_000;

/** Neither the failures of a tool nor the rows of a ledger make the next one cost more. */
export async function growth(stack: BenchStack): Promise<readonly Row[]> {
  return [...(await ofFailures()), ...(await ofRows(stack))];
}

async function ofFailures(): Promise<readonly Row[]> {
  const rules = viewForTool(parseRules({ defaultRule: { blockAfter: null } }), 1, 'local', 't');
  const subject = { kind: 'tool', server: 'local', name: 't' } as const;
  const after = (failures: number) => {
    const draft = draftOf(subject, {}, rules, 1);
    let at = 0;
    const fail = () => {
      at += 1;
      const failure = { kind: 'failure', severity: 'server_error', category: 'quality', evidence: 'text' } as const;
      applyOne(draft, { ...failure, seq: at, at, receivedAt: at, recoverable: true });
    };
    for (let i = 0; i < failures; i += 1) fail();
    const begin = process.hrtime.bigint();
    for (let i = 0; i < TIMED; i += 1) fail();
    const took = Number(process.hrtime.bigint() - begin) / TIMED;
    return { took, bytes: JSON.stringify(draft.parts).length };
  };
  const seen = await alternate({
    hundredth: () => after(100).took,
    thousandth: () => after(1000).took,
    tenThousandth: () => after(10_000).took,
    hundredThousandth: () => after(100_000).took,
  });
  return [
    row('recording failure 1,000 / 100', 'ns', seen.thousandth, seen.hundredth, { atMost: 1.2 }),
    row('recording failure 10,000 / 100', 'ns', seen.tenThousandth, seen.hundredth, { atMost: 1.2 }),
    row('recording failure 100,000 / 100', 'ns', seen.hundredThousandth, seen.hundredth, { atMost: 1.2 }),
    row('carried state after 100,000 failures / 100', 'bytes', [after(100_000).bytes], [after(100).bytes], {
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
  for (const millions of [0.1, 1, 10]) {
    const perTool = (millions * 1_000_000) / TOOLS;
    // The old half has been dropped at the level before, the recent one has stayed.
    await createPartitions(pool, past);
    await loadHistory(pool, { tools: TOOLS, perTool: perTool / 2, at: past, prefix: 'grown' });
    await loadHistory(pool, { tools: TOOLS, perTool: perTool / 2 - recent, at: now, prefix: 'grown' });
    recent = perTool / 2;
    loaded += perTool;
    // Loaded long ago, as far as the database is concerned: what the loading left to be done is done.
    await settled(pool);
    const dropping = dropPartitions(pool, now, 30).catch(() => []);
    const measured = await flushesAndPulls(pool);
    await dropping;
    levels.push({ label: `${millions} M rows`, ...measured });
  }
  await pool.end();
  const [least, ...more] = levels;
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

async function flushesAndPulls(pool: ReturnType<typeof createPool>) {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  const published = { rules: parseRules({}), version: 0 };
  const generation =
    (await pool.query<{ generation: string }>('select generation from installation')).rows[0]?.generation ?? '';
  const [inserts, pulls]: [number[], number[]] = [[], []];
  for (let round = 0; round < 1000; round += 1) {
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
