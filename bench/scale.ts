import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { connect } from 'surety';
import type { Gate } from 'surety';
import { createPool } from '../src/postgres/pool.ts';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { publishRules } from '../src/postgres/rules.ts';
import { row } from './measure.ts';
import type { Row } from './measure.ts';
import { cpuSecondsOf, ownCpuSecondsOf, pidsOf, rssOf } from './processes.ts';
import { until, untilApplied } from './stack.ts';
import type { BenchStack } from './stack.ts';

const TOOLS = 10_000;
const FAILS_EVERY = 40;
/** In each pass of a round others fail: in all more than a worker keeps in its memory, so that later every bell replays. */
const TURNS = 9;
/** In the first round the worker's memory fills up with workflows, as far as it may; the third is held against the second. */
const PASSES = 3 * TURNS;
const AT_ONCE = 500;
const PAUSE_MS = 300;

/** Ten thousand tools, each used now and then: what the worker holds, what Temporal burns, and who lags behind. */
export async function scale(stack: BenchStack): Promise<readonly Row[]> {
  const pool = createPool(stack.databaseUrl, { max: 2 });
  // These fail so rarely that nothing is held against them, and every failure rings; others are new and fail three times.
  const rule = { countThreshold: 3, windowSeconds: 1 };
  await publishRules(pool, parseRules({ toolRules: { 'scale-*': rule } }), 'bench');
  const gate = await connect({ databaseUrl: stack.databaseUrl });
  const failure = { success: false, error: { message: 'upstream exploded', status: 500 } };
  const { worker, temporal, postgres } = pidsOf(stack.home);
  const [memory, lags, projected]: [number[], number[], number[]] = [[], [], []];
  const burnt = () => ({
    temporal: cpuSecondsOf(temporal),
    worker: ownCpuSecondsOf(worker),
    postgres: cpuSecondsOf(postgres),
  });
  const before = burnt();
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (let from = 0; from < TOOLS; from += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) => {
          const fails = (from + i) % FAILS_EVERY === pass % TURNS;
          return gate.report({ tool: `scale-${from + i}`, ...(fails ? failure : { success: true }) });
        }),
      );
      const acknowledged = performance.now();
      await untilApplied(pool, 900_000);
      lags.push(performance.now() - acknowledged);
      projected.push(await escalation(pool, gate, `broken-${pass}-${from}`, failure));
      await sleep(PAUSE_MS);
    }
    memory.push(rssOf(worker) / 1e6);
    console.error(`scale: pass ${pass + 1} of ${PASSES}, worker ${memory.at(-1)?.toFixed(0)} MB`);
  }
  const after = burnt();
  const size = await pool.query<{ bytes: number }>(
    "select sum(pg_total_relation_size(relid)) as bytes from pg_partition_tree('ledger') where isleaf",
  );
  await gate.close();
  await pool.end();
  const inPass = TOOLS / AT_ONCE;
  const rounds = (values: readonly number[], inRound: number) =>
    [values.slice(2 * inRound), values.slice(inRound, 2 * inRound)] as const;
  // Each pass with what is held in it: three failures in each of its steps.
  const [outcomes, failures] = [TOOLS + 3 * inPass, TOOLS / FAILS_EVERY + 3 * inPass];
  const cpu = (of: keyof typeof after) => [((after[of] - before[of]) / (outcomes * PASSES)) * 1000];
  const bells = `${((failures / outcomes) * 1000).toFixed(0)} of them doorbells`;
  return [
    row(`worker memory, third round / second, ${TOOLS} tools`, 'MB', ...rounds(memory, TURNS), { atMost: 1.2 }),
    row(`Temporal CPU per 1,000 outcomes, ${bells}`, 's', cpu('temporal')),
    row(`worker CPU per 1,000 outcomes, ${bells}`, 's', cpu('worker')),
    row(`Postgres CPU per 1,000 outcomes, ${bells}`, 's', cpu('postgres')),
    row('disk per outcome, indexes included', 'bytes', [Number(size.rows[0]?.bytes) / (outcomes * PASSES)]),
    row('acknowledged → judged, third round / second', 'ms', ...rounds(lags, TURNS * inPass), { atMost: 1.5 }),
    row('third failure acknowledged → projected, third round / second', 'ms', ...rounds(projected, TURNS * inPass), {
      atMost: 1.5,
    }),
  ];
}

/** Milliseconds from the acknowledgement of a third failure until gates can read what follows from it. */
async function escalation(pool: pg.Pool, gate: Gate, tool: string, failure: object): Promise<number> {
  for (let i = 0; i < 3; i += 1) await gate.report({ tool, ...failure });
  const begin = performance.now();
  const text = `select 1 from trust t join subject s on s.id = t.subject where s.key = $1 and t.status = 'ESCALATED'`;
  await until(async () => (await pool.query(text, [`tool:local/${tool}`])).rowCount === 1, `${tool} is held`);
  return performance.now() - begin;
}
