import { expect, test } from 'vitest';
import { BufferFull, NotRecorded } from '../../src/gate/errors.ts';
import { createReporter } from '../../src/gate/reporter.ts';
import type { LedgerOutcome } from '../../src/domain/outcome/ledger-outcome.ts';

const outcome = (callId: string): LedgerOutcome => ({ kind: 'success', server: 'local', name: 't', at: 1, callId });
const idsOf = (outcomes: readonly LedgerOutcome[]) => outcomes.map(({ callId }) => callId);

/** A ledger that does as it is told and remembers what it was sent. */
function ledger(answers: (batch: string[], attempt: number) => Promise<unknown>, limit = 10) {
  const batches: string[][] = [];
  const prepared: number[] = [];
  const reporter = createReporter({
    prepare: (outcomes) => {
      prepared.push(outcomes.length);
      return Promise.resolve(() => answers(idsOf(outcomes), batches.push(idsOf(outcomes))).then(() => new Map()));
    },
    limit,
  });
  const report = (reported: LedgerOutcome) =>
    new Promise<void>((resolve, reject) => {
      reporter.add({
        outcome: reported,
        settled: (_, error) => (error === undefined ? resolve() : reject(error)),
      });
    });
  return { reporter: { ...reporter, report }, batches, prepared };
}

const manyOf = (count: number) => Array.from({ length: count }, (_, index) => outcome(String(index)));

const unreachable = () => Promise.reject(Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' }));

test('what is reported while a batch is on its way goes together as the next', async () => {
  const { reporter, batches } = ledger(() => new Promise((done) => setTimeout(done, 20)));
  const first = reporter.report(outcome('a'));
  await new Promise((done) => setTimeout(done, 5));
  await Promise.all([first, reporter.report(outcome('b')), reporter.report(outcome('c'))]);
  expect(batches).toEqual([['a'], ['b', 'c']]);
});

test('a full batch is made ready while the one before it is on its way, and follows it', async () => {
  let release: () => void = () => undefined;
  const { reporter, batches, prepared } = ledger(() => new Promise<void>((done) => (release = done)), 10_000);
  const first = reporter.report(outcome('first'));
  await new Promise((done) => setTimeout(done, 5));
  const full = manyOf(4000).map(reporter.report);
  const less = reporter.report(outcome('less'));
  await new Promise((done) => setTimeout(done, 20));
  expect([prepared, batches.length]).toEqual([[1, 4000], 1]);
  for (const sent of [[first], full, [less]]) {
    release();
    await Promise.all(sent);
    await new Promise((done) => setTimeout(done, 5));
  }
  expect(batches.map(({ length }) => length)).toEqual([1, 4000, 1]);
});

test('a batch made ready never overtakes one that has to be sent again', async () => {
  const { reporter, batches } = ledger((_, attempt) => (attempt < 3 ? unreachable() : Promise.resolve()), 10_000);
  await Promise.all(manyOf(8000).map(reporter.report));
  expect(batches.map(([id]) => id)).toEqual(['0', '0', '0', '4000']);
});

test('a ledger that is away is tried again with the very same reports, and the pressure is visible', async () => {
  const { reporter, batches } = ledger((_, attempt) => (attempt < 3 ? unreachable() : Promise.resolve()));
  const reported = reporter.report(outcome('a'));
  await new Promise((done) => setTimeout(done, 20));
  expect(reporter.pressure()).toMatchObject({ waiting: 1, failing: { message: 'connection refused' } });
  await reported;
  expect(batches).toEqual([['a'], ['a'], ['a']]);
  expect(reporter.pressure()).toEqual({ waiting: 0, limit: 10, failing: null });
});

test('a report the ledger refuses is rejected alone; its neighbours are recorded', async () => {
  const refusal = Object.assign(new Error('invalid input'), { code: '22P02' });
  const { reporter } = ledger((batch) => (batch.includes('bad') ? Promise.reject(refusal) : Promise.resolve()));
  const settled = await Promise.allSettled(['a', 'b', 'bad', 'c'].map((id) => reporter.report(outcome(id))));
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
});

test('a full buffer refuses visibly, and makes room known', async () => {
  let release: () => void = () => undefined;
  const { reporter } = ledger(() => new Promise<void>((done) => (release = done)));
  const taken = Array.from({ length: 10 }, (_, index) => reporter.report(outcome(String(index))));
  await expect(reporter.report(outcome('one too many'))).rejects.toThrow(BufferFull);
  const settled: unknown[] = [];
  const late = ['a', 'b', 'c'].map((id) =>
    reporter.addWhenRoom({ outcome: outcome(id), settled: (places, error) => settled.push(error ?? places) }),
  );
  await new Promise((done) => setTimeout(done, 5));
  release();
  await Promise.all([...taken, ...late]);
  expect(reporter.pressure().waiting).toBe(3);
  await new Promise((done) => setTimeout(done, 5));
  release();
  await reporter.close(1000);
  expect(settled).toEqual([new Map(), new Map(), new Map()]);
});

test('of many that wait for room each finds its own, and none is lost', async () => {
  const { reporter, batches } = ledger(() => new Promise((done) => setTimeout(done, 1)));
  const errors: unknown[] = [];
  const settled = (_: unknown, error?: Error) => {
    if (error !== undefined) errors.push(error);
  };
  await Promise.all(
    Array.from({ length: 100 }, (_, index) => reporter.addWhenRoom({ outcome: outcome(String(index)), settled })),
  );
  await reporter.close(1000);
  expect(errors).toEqual([]);
  expect(new Set(batches.flat()).size).toBe(100);
});

test('closing sends what waits', async () => {
  const { reporter, batches } = ledger(() => new Promise((done) => setTimeout(done, 10)));
  const reports = [reporter.report(outcome('a')), reporter.report(outcome('b'))];
  await reporter.close(1000);
  await Promise.all(reports);
  expect(batches.flat()).toEqual(['a', 'b']);
  await expect(reporter.report(outcome('c'))).rejects.toThrow(NotRecorded);
});

test('closing while the ledger is away rejects what waits: nothing is dropped silently', async () => {
  const { reporter } = ledger(unreachable);
  const reports = Promise.allSettled([reporter.report(outcome('a')), reporter.report(outcome('b'))]);
  await new Promise((done) => setTimeout(done, 5));
  const later = Promise.allSettled([reporter.report(outcome('c'))]);
  await reporter.close(100);
  for (const result of [...(await reports), ...(await later)]) {
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'NotRecorded' } });
  }
});
