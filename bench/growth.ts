import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { viewForTool } from '../src/domain/rules/resolve.ts';
import type * as Apply from '../src/domain/trust/apply.ts';
import type * as Draft from '../src/domain/trust/draft.ts';
import { growLedger } from './grown-ledger.ts';
import type { GrownLedger } from './grown-ledger.ts';
import { alternate, percentileByRound, row, shipped } from './measure.ts';
import type { Row } from './measure.ts';
import type { BenchStack } from './stack.ts';

const [TIMED, AGAIN, ROUNDS] = [50, 100, 28];
const MILLIONS = [0.1, 1, 10];
const PASSES = 1500;

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
  await alternate(sides, ROUNDS / 4);
  const seen = await alternate(sides, ROUNDS);
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

/** Flushes and pulls, in turn on ledgers of different sizes; halfway the older half of each is dropped meanwhile. */
async function ofRows({ databaseUrl }: BenchStack): Promise<readonly Row[]> {
  const ledgers: GrownLedger[] = [];
  for (const millions of MILLIONS) ledgers.push(await growLedger(databaseUrl, millions));
  for (let pass = 0; pass < PASSES; pass += 1) {
    if (pass === PASSES / 2) for (const ledger of ledgers) ledger.drop();
    // Each is as often the one that follows the largest.
    for (const at of ledgers.keys()) await ledgers[(pass + at) % ledgers.length]?.flushAndPull(pass);
  }
  const seen = [];
  for (const ledger of ledgers) seen.push(await ledger.end());
  const [least, ...more] = seen;
  if (least === undefined) throw new Error('nothing was measured');
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
