import { randomUUID } from 'node:crypto';
import { connect } from 'surety';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { viewForTool } from '../src/domain/rules/resolve.ts';
import type * as Apply from '../src/domain/trust/apply.ts';
import type * as Draft from '../src/domain/trust/draft.ts';
import { newOutcomeId } from '../src/postgres/outcome-id.ts';
import { createPool } from '../src/postgres/pool.ts';
import { publishRules } from '../src/postgres/rules.ts';
import type { Carried } from '../workflows/carried.ts';
import { DROPS, growLedger } from './grown-ledger.ts';
import type { GrownLedger } from './grown-ledger.ts';
import { alternate, median, percentileByRound, row, shipped } from './measure.ts';
import type { Row } from './measure.ts';
import { untilApplied } from './stack.ts';
import type { BenchStack } from './stack.ts';

const [TIMED, AGAIN, ROUNDS] = [50, 100, 28];
const MILLIONS = [0.1, 1, 10];
const PASSES = 1500;
const REPORTED = [100, 1000, 10_000, 100_000] as const;
const REPORT_ROUNDS = 5;
const FAILED = { success: false, error: { message: 'upstream exploded', status: 500 } };

/** Neither the failures of a tool nor the rows of a ledger make the next one cost more. */
export async function growth(stack: BenchStack): Promise<readonly Row[]> {
  return [...(await ofFailures()), ...(await ofReports(stack)), ...(await ofRows(stack))];
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
  await alternate(sides, ROUNDS / 4);
  const seen = await alternate(sides, ROUNDS);
  const bytesAfter = (failures: number) => {
    const watermark = { generation: randomUUID(), seq: failures, id: newOutcomeId() };
    const memory = { subject, watermark, version: 1, rules, parts: partsAfter(failures) };
    const carried: Carried = { memory, rejected: 0, reported: [] };
    return JSON.stringify(carried).length;
  };
  return [
    row('judging failure 1,000 / 100', 'ns', seen.thousandth, seen.hundredth, { atMost: 1.2 }),
    row('judging failure 10,000 / 100', 'ns', seen.tenThousandth, seen.hundredth, { atMost: 1.2 }),
    row('judging failure 100,000 / 100', 'ns', seen.hundredThousandth, seen.hundredth, { atMost: 1.2 }),
    row('carried state after 100,000 failures / 100', 'bytes', [bytesAfter(100_000)], [bytesAfter(100)], {
      atMost: 1.2,
    }),
  ];
}

/** Ten failures more, reported at once, of tools that have had so many: until they are acknowledged, and until judged. */
async function ofReports({ databaseUrl }: BenchStack): Promise<readonly Row[]> {
  const pool = createPool(databaseUrl, { max: 1 });
  await publishRules(pool, parseRules({ defaultRule: { blockAfter: null } }), 'bench');
  const gate = await connect({ databaseUrl, agent: 'bench' });
  const seen = REPORTED.map(() => ({ acknowledged: [] as number[], judged: [] as number[] }));
  const fail = async (tool: string, times: number) => {
    for (let left = times; left > 0; left -= 4000) {
      await Promise.all(Array.from({ length: Math.min(left, 4000) }, () => gate.report({ tool, ...FAILED })));
    }
  };
  for (let round = 0; round < REPORT_ROUNDS; round += 1) {
    const toolOf = (failures: number) => `grown-${round}-${failures}`;
    for (const failures of REPORTED) await fail(toolOf(failures), failures);
    const times = REPORTED.map(() => ({ acknowledged: [] as number[], judged: [] as number[] }));
    for (let again = 0; again < 10; again += 1) {
      for (const step of REPORTED.keys()) {
        const at = (again + step) % REPORTED.length;
        await untilApplied(pool);
        const begin = performance.now();
        await fail(toolOf(REPORTED[at] ?? 0), 10);
        times[at]?.acknowledged.push(performance.now() - begin);
        await untilApplied(pool);
        times[at]?.judged.push(performance.now() - begin);
      }
    }
    for (const [at, { acknowledged, judged }] of times.entries()) {
      seen[at]?.acknowledged.push(median(acknowledged));
      seen[at]?.judged.push(median(judged));
    }
  }
  await gate.close();
  await pool.end();
  const [first, ...later] = seen;
  if (first === undefined) throw new Error('nothing was measured');
  return later.flatMap(({ acknowledged, judged }, at) => {
    const number = (REPORTED[at + 1] ?? 0).toLocaleString('en-US');
    return [
      row(`recording failure ${number} / 100`, 'ms', acknowledged, first.acknowledged, { atMost: 1.2 }),
      row(`recording and judging failure ${number} / 100`, 'ms', judged, first.judged),
    ];
  });
}

/** Flushes and pulls, in turn on ledgers of different sizes; now and then, of one after the other, a partition is dropped meanwhile. */
async function ofRows({ databaseUrl }: BenchStack): Promise<readonly Row[]> {
  const ledgers: GrownLedger[] = [];
  for (const millions of MILLIONS) ledgers.push(await growLedger(databaseUrl, millions));
  const between = Math.floor(PASSES / DROPS);
  const isDropDue = (pass: number, nth: number) =>
    pass % between === Math.floor(((nth + 1) * between) / (ledgers.length + 1)) && pass < between * DROPS;
  for (let pass = 0; pass < PASSES; pass += 1) {
    // Each is as often the one that follows the largest.
    for (const step of ledgers.keys()) {
      const nth = (pass + step) % ledgers.length;
      await ledgers[nth]?.flushAndPull(pass, isDropDue(pass, nth));
    }
  }
  const seen = [];
  for (const ledger of ledgers) seen.push(await ledger.end());
  const [least, ...more] = seen;
  if (least === undefined) throw new Error('nothing was measured');
  return more.flatMap((grown) => {
    const { label, inserts, pulls, insertsInDrops, pullsInDrops } = grown;
    const flat = { atMost: 1.2 };
    const against = `${label} / ${least.label}`;
    return [
      row(`flush of 100 outcomes, p50: ${against}`, 'ms', p(inserts, 0.5), p(least.inserts, 0.5), flat),
      row(`flush of 100 outcomes, p99: ${against}`, 'ms', p(inserts, 0.99), p(least.inserts, 0.99), flat),
      row(`pull, p99: ${against}`, 'ms', p(pulls, 0.99), p(least.pulls, 0.99), flat),
      row(`flush while a partition is dropped, median: ${against}`, 'ms', insertsInDrops, least.insertsInDrops, flat),
      row(`pull while a partition is dropped, median: ${against}`, 'ms', pullsInDrops, least.pullsInDrops, flat),
    ];
  });
}

const p = percentileByRound;
