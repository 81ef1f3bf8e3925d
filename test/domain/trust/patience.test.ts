import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Rule } from '../../../src/domain/rules/rules.schema.ts';
import { applyEntries } from '../../../src/domain/trust/apply.ts';
import type { CallEntry } from '../../../src/domain/trust/entry.ts';
import { isPlain } from '../../../src/domain/trust/parts.ts';
import type { Subject } from '../../../src/domain/trust/parts.ts';
import { patienceOf } from '../../../src/domain/trust/patience.ts';
import { viewOf } from '../../support/trust.ts';

const NOW = 10_000_000;
const tool: Subject = { kind: 'tool', server: 'local', name: 't' };

function patience(rule: Partial<Rule>, calls: readonly Partial<CallEntry>[] = [], now = NOW) {
  const view = viewOf(rule);
  return patienceOf(tool, applyEntries(tool, {}, calls.map(entry), view, 1).parts, view, now);
}

function entry(call: Partial<CallEntry>, index = 0): CallEntry {
  const at = call.at ?? call.receivedAt ?? NOW;
  return {
    seq: index + 1,
    kind: 'failure',
    severity: 'server_error',
    category: 'quality',
    at,
    receivedAt: at,
    ...call,
  };
}

const succeeded = (count: number): Partial<CallEntry> => ({ kind: 'success', count });

describe('a tool is left alone', () => {
  const rated = { countThreshold: null, rateThreshold: 0.5, minSamples: 5, windowSeconds: 600 };

  test('for half of the failures that its rate would bear, until what went well leaves the window', () => {
    // 10 of 1,000 failed: another 980 make it a half. A slice is 30 s, and twenty of them are the window.
    expect(patience(rated, [succeeded(990), ...Array.from({ length: 10 }, () => ({}))])).toEqual({
      scope: '',
      failures: 490,
      until: 10_020_000 + 19 * 30_000,
    });
  });

  test('not by what a window of another length had counted', () => {
    const { parts } = applyEntries(tool, {}, [succeeded(990), {}].map(entry), viewOf(rated), 1);
    const view = viewOf({ ...rated, windowSeconds: 1200 });
    expect(patienceOf(tool, parts, view, NOW)).toBeUndefined();
  });

  test('not beyond the time at which half as many would do', () => {
    const earlier = { ...succeeded(600), receivedAt: NOW - 300_000 };
    expect(patience(rated, [earlier, succeeded(390), ...Array.from({ length: 10 }, () => ({}))])).toEqual({
      scope: '',
      failures: 490,
      until: 10_020_000 + 9 * 30_000,
    });
  });

  test('for half of what a count leaves, however long that takes', () => {
    expect(patience({ countThreshold: 30 }, [{}, {}])).toEqual({ scope: '', failures: 14, until: null });
  });

  test('not for a few failures: those people see one by one', () => {
    expect(patience({ countThreshold: 9 })).toBeUndefined();
    expect(patience(rated, [succeeded(3), {}])).toBeUndefined();
  });

  test('not as soon as anything is held against it', () => {
    const held = { severity: 'security', scope: 'host:a' } as const;
    expect(patience({ countThreshold: 100 }, [held])).toBeUndefined();
  });

  test('for failures of the scope that failed last, by the rule that its host has', () => {
    const domains = [{ pattern: 'b', rule: viewOf({ countThreshold: 21 }).own.rule }];
    const view = { ...viewOf({ countThreshold: 100 }), domains };
    const calls = [{}, { scope: 'host:a' }, { scope: 'host:b', receivedAt: NOW + 1 }].map(entry);
    const { parts } = applyEntries(tool, {}, calls, view, 1);
    expect(patienceOf(tool, parts, view, NOW)).toEqual({ scope: 'host:b', failures: 10, until: null });
  });

  test('not where one agent alone would not be patient any more', () => {
    const seen = Array.from({ length: 15 }, () => ({ agent: 'ann' }));
    expect(patience({ countThreshold: 20, minReporters: 3 }, seen)).toBeUndefined();
  });

  test('never so long that parts of new agents alone could be too many', () => {
    const scopes = Array.from({ length: 480 }, (_, index) => ({ scope: `host:${index}` }));
    expect(patience({ countThreshold: 1000, minReporters: 2 }, scopes)).toMatchObject({ failures: 20 });
  });

  test('never for more than are read within a moment', () => {
    expect(patience({ countThreshold: 100_000 })).toMatchObject({ failures: 2500 });
  });
});

const share = fc.integer({ min: 1, max: 20 }).map((twentieths) => twentieths / 20);
const rules = fc.record({
  countThreshold: fc.option(fc.integer({ min: 8, max: 200 })),
  consecutiveThreshold: fc.option(fc.integer({ min: 8, max: 80 })),
  rateThreshold: fc.option(share),
  minSamples: fc.integer({ min: 1, max: 150 }),
  expectedFailureRate: fc.constantFrom(0, 0, 0.05, 0.3, 0.9),
  decayPerHour: fc.constantFrom(0, 0, 6),
  minReporters: fc.constantFrom(1, 1, 2),
  windowSeconds: fc.constantFrom(60, 600),
});
const severity = fc.constantFrom('server_error' as const, 'server_error' as const, 'validation' as const);
const agent = fc.constantFrom('ann', 'bob');
const late = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(60_000) });
const call = fc.record({
  kind: fc.constantFrom('success' as const, 'success' as const, 'failure' as const),
  // Half a minute is a slice of one of the windows and half of the other.
  after: fc.oneof({ weight: 9, arbitrary: fc.nat(50) }, { weight: 1, arbitrary: fc.nat(30_000) }),
  late,
  scope: fc.constantFrom('', '', '', 'host:a'),
  agent,
  severity,
});
/** Of the scope that is waited with: what would come to a threshold soonest. */
const worse = fc.record({
  kind: fc.constantFrom('failure' as const, 'failure' as const, 'failure' as const, 'success' as const),
  after: fc.oneof({ weight: 15, arbitrary: fc.nat(20) }, { weight: 1, arbitrary: fc.nat(60_000) }),
  late,
  agent,
  severity,
});

interface Call {
  readonly kind: CallEntry['kind'];
  readonly after: number;
  readonly late: number;
  readonly scope: string;
  readonly agent: string;
}

/** On the ledger's clock, which never goes back. */
function onClock(calls: readonly Call[], from: number): CallEntry[] {
  let receivedAt = from;
  return calls.map(({ after, late, scope, ...rest }, index) => {
    receivedAt += after;
    return entry({ ...rest, ...(scope === '' ? {} : { scope }), receivedAt, at: receivedAt - late }, index);
  });
}

test('what is waited with changes nothing: neither fewer failures than it takes, nor what goes well meanwhile', () => {
  let waited = 0;
  const check = (
    rule: Partial<Rule>,
    before: readonly Call[],
    pause: number,
    after: readonly Omit<Call, 'scope'>[],
  ) => {
    const view = viewOf(rule);
    const past = onClock(before, NOW);
    const now = (past.at(-1)?.receivedAt ?? NOW) + pause;
    let { parts } = applyEntries(tool, {}, past, view, 1);
    const known = patienceOf(tool, parts, view, now);
    if (known === undefined) return;
    const { scope, until } = known;
    const slice = (rule.windowSeconds ?? 0) * 50;
    let failed = 0;
    for (const next of onClock(
      after.map((one) => ({ ...one, scope })),
      now,
    )) {
      if (next.kind === 'failure') failed += 1;
      // Twice as many do nothing before the slice of now ends: half of them are for what leaves the window later.
      const isEarly = until === null || next.receivedAt < (Math.floor(now / slice) + 1) * slice;
      if (failed >= (isEarly ? 2 : 1) * known.failures || next.receivedAt >= (until ?? Infinity)) return;
      waited += 1;
      ({ parts } = applyEntries(tool, parts, [next], view, 1));
      expect(isPlain(parts)).toBe(true);
    }
  };
  const [few, many] = [fc.array(call, { maxLength: 60 }), fc.array(worse, { minLength: 20, maxLength: 80 })];
  fc.assert(fc.property(rules, few, fc.nat(90_000), many, check), { numRuns: 1500 });
  expect(waited).toBeGreaterThan(5000);
});
