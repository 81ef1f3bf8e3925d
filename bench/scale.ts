import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'surety';
import { createPool } from '../src/postgres/pool.ts';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { publishRules } from '../src/postgres/rules.ts';
import { row } from './measure.ts';
import type { Row } from './measure.ts';
import { cpuSecondsOf, pidsOf, rssOf } from './processes.ts';
import { untilApplied } from './stack.ts';
import type { BenchStack } from './stack.ts';

const TOOLS = 10_000;
const PASSES = 10;
const FAILS_EVERY = 40;
const AT_ONCE = 500;
const PAUSE_MS = 300;

/** Ten thousand tools, each used now and then: what the worker holds, what Temporal burns, and who lags behind. */
export async function scale(stack: BenchStack): Promise<readonly Row[]> {
  const pool = createPool(stack.databaseUrl, { max: 2 });
  // The same tools fail again and again, and that is how they are: none is held, and none is new after the first pass.
  await publishRules(pool, parseRules({ defaultRule: { rateThreshold: 0.9, minSamples: 1000 } }), 'bench');
  const gate = await connect({ databaseUrl: stack.databaseUrl });
  const failure = { success: false, error: { message: 'upstream exploded', status: 500 } };
  const { worker, temporal, postgres } = pidsOf(stack.home);
  const [memory, lags]: [number[], number[]] = [[], []];
  const burnt = () => ({
    temporal: cpuSecondsOf(temporal),
    worker: cpuSecondsOf(worker),
    postgres: cpuSecondsOf(postgres),
  });
  const before = burnt();
  for (let pass = 0; pass < PASSES; pass += 1) {
    for (let from = 0; from < TOOLS; from += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) => {
          const fails = (from + i) % FAILS_EVERY === 0;
          return gate.report({ tool: `scale-${from + i}`, ...(fails ? failure : { success: true }) });
        }),
      );
      const acknowledged = performance.now();
      await untilApplied(pool, 900_000);
      lags.push(performance.now() - acknowledged);
      await sleep(PAUSE_MS);
    }
    memory.push(rssOf(worker) / 1e6);
  }
  const after = burnt();
  const size = await pool.query<{ bytes: number }>(
    "select sum(pg_total_relation_size(relid)) as bytes from pg_partition_tree('ledger') where isleaf",
  );
  await gate.close();
  await pool.end();
  const cpu = (of: keyof typeof after) => [((after[of] - before[of]) / (TOOLS * PASSES)) * 1000];
  const half = PASSES / 2;
  return [
    row(`worker memory, later passes / first ones, ${TOOLS} tools`, 'MB', memory.slice(half), memory.slice(0, half), {
      atMost: 1.2,
    }),
    row(`Temporal CPU per 1,000 outcomes, ${1000 / FAILS_EVERY} of them doorbells`, 's', cpu('temporal')),
    row(`worker CPU per 1,000 outcomes, ${1000 / FAILS_EVERY} of them doorbells`, 's', cpu('worker')),
    row(`Postgres CPU per 1,000 outcomes, ${1000 / FAILS_EVERY} of them doorbells`, 's', cpu('postgres')),
    row('disk per outcome, indexes included', 'bytes', [Number(size.rows[0]?.bytes) / (TOOLS * PASSES)]),
    row(
      'acknowledged → judged, a trickle, later passes / first ones',
      'ms',
      lags.slice(lags.length / 2),
      lags.slice(TOOLS / AT_ONCE, lags.length / 2),
      { atMost: 1.5 },
    ),
  ];
}
