import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Rule } from '../../../src/domain/rules/rules.schema.ts';
import { applyEntries, applyPage } from '../../../src/domain/trust/apply.ts';
import { calmOf, foldCalm } from '../../../src/domain/trust/calm.ts';
import type { CallEntry, Entry } from '../../../src/domain/trust/entry.ts';
import { ruleOfPart, WHOLE } from '../../../src/domain/trust/parts.ts';
import type { Parts, Subject } from '../../../src/domain/trust/parts.ts';
import { viewOf } from '../../support/trust.ts';

const NOW = 10_000_000;
const tool: Subject = { kind: 'tool', server: 'far', name: 't' };
const RATED = { countThreshold: null, rateThreshold: 0.5, minSamples: 5, windowSeconds: 600 };

interface Read {
  readonly parts: Parts;
  readonly entries: readonly Entry[];
}

/** A page of the ledger, read after another one; undefined where nothing of it may be folded. */
function folded(rule: Partial<Rule>, before: readonly Entry[], page: readonly Entry[]): Read | undefined {
  const view = viewOf(rule);
  const { parts } = applyPage(tool, {}, before, view, 1);
  const calm = calmOf(tool, parts, view);
  return calm === undefined ? undefined : { parts, entries: foldCalm(page, calm, ruleOfPart(tool, view, WHOLE)) };
}

function calls(count: number, call: Partial<CallEntry>, from = 1): CallEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'failure',
    severity: 'server_error',
    category: 'quality',
    seq: from + index,
    at: NOW + index,
    receivedAt: NOW + index,
    ...call,
  }));
}

const wentWell = (count: number): CallEntry[] => calls(1, { kind: 'success', count });

describe('failures that can change nothing', () => {
  test('are counted together, those in a row at the end by themselves', () => {
    const page = [...calls(30, {}, 2), ...calls(1, { kind: 'success', count: 9 }, 40), ...calls(3, {}, 41)];
    expect(folded(RATED, wentWell(1000), page)?.entries).toMatchObject([
      { kind: 'failure', count: 30, seq: 31, times: Array.from({ length: 10 }, (_, index) => NOW + 20 + index) },
      { kind: 'success', count: 9, seq: 40 },
      { kind: 'failure', count: 3, seq: 43 },
    ]);
  });

  test('may be as many as the rule bears', () => {
    expect(folded(RATED, wentWell(20_000), calls(9000, {}))?.entries).toMatchObject([{ count: 9000 }]);
  });

  test('stay apart by kind and by slice of the window', () => {
    const page = [...calls(5, {}), ...calls(5, { severity: 'validation' }, 6), ...calls(5, { at: NOW + 40_000 }, 11)];
    expect(folded(RATED, wentWell(1000), page)?.entries).toMatchObject([{ count: 5 }, { count: 5 }, { count: 5 }]);
  });

  test.each<[string, Partial<CallEntry>]>([
    ['a concern of security', { severity: 'security' }],
    ['a refused credential', { category: 'auth' }],
    ['what will not pass by itself', { recoverable: false }],
    ['a probe', { probe: 'live' }],
    ['a call that names a scope', { scope: 'host:a' }],
    ['a call that was never answered', { kind: 'unknown' }],
  ])('are not %s', (_, call) => {
    const page = calls(5, call);
    expect(folded(RATED, wentWell(1000), page)?.entries).toEqual(page);
  });

  test('are not those from before a reset that were reported late', () => {
    const reset: Entry = { kind: 'reset', seq: 1, at: NOW + 3, receivedAt: NOW + 3, by: 'eva', reason: '' };
    const well: Entry = { kind: 'success', count: 1000, seq: 2, at: NOW + 3, receivedAt: NOW + 3 };
    const read = folded(RATED, [reset, well], calls(5, {}, 3));
    expect(read?.entries).toMatchObject([{ seq: 3 }, { seq: 4 }, { seq: 5 }, { seq: 7, count: 2 }]);
  });

  test('are not more than the rule bears', () => {
    const page = calls(600, {});
    expect(folded(RATED, wentWell(1000), page)?.entries).toEqual(page);
  });

  test('are none once what went well has left the window', () => {
    const page = calls(5, { receivedAt: NOW + 700_000, at: NOW + 700_000 });
    expect(folded(RATED, wentWell(1000), page)?.entries).toEqual(page);
  });

  test('are none on a page with an order: after a reset nothing counts as it did', () => {
    const reset: Entry = { kind: 'reset', seq: 9, at: NOW, receivedAt: NOW, by: 'eva', reason: '' };
    const page = [...calls(5, {}), reset, ...calls(5, {}, 10)];
    expect(folded(RATED, wentWell(1000), page)?.entries).toEqual(page);
  });

  test.each<[string, Partial<Rule>]>([
    ['three in an hour are too many', {}],
    ['it matters who saw them', { ...RATED, minReporters: 2 }],
  ])('are not known where %s', (_, rule) => {
    expect(folded(rule, wentWell(1000), calls(5, {}))).toBeUndefined();
  });
});

/** Mostly what is folded, and now and then what is not. */
const mostly = <T extends string>(usual: readonly T[], rare: readonly T[]) =>
  fc.oneof({ weight: 40, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });
const call = fc.record({
  kind: mostly(['success', 'failure', 'failure'], ['unknown']),
  after: fc.oneof({ weight: 20, arbitrary: fc.nat(50) }, { weight: 1, arbitrary: fc.nat(30_000) }),
  late: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(60_000) }),
  scope: mostly(['', '', '', '', 'host:a'], ['host:b']),
  severity: mostly(['server_error', 'server_error', 'validation', 'timeout'], ['security']),
  category: mostly(['quality', 'quality', 'reachability'], ['auth', 'refusal']),
  recoverable: fc.oneof({ weight: 40, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
});
const order = fc.record({ kind: fc.constantFrom('reset' as const, 'recover' as const), after: fc.nat(50) });
const rules = fc.record({
  countThreshold: fc.constantFrom(null, null, 40),
  consecutiveThreshold: fc.constantFrom(null, null, 30),
  rateThreshold: fc.constantFrom(null, 0.5, 0.9),
  expectedFailureRate: fc.constantFrom(0, 0.05),
  decayPerHour: fc.constantFrom(0, 6),
  repeatedAuthThreshold: fc.constantFrom(null, 3),
  unknownCounts: fc.boolean(),
  windowSeconds: fc.constantFrom(60, 600),
});

function onClock(happened: readonly object[], from: number): Entry[] {
  let receivedAt = NOW + from;
  return happened.map((event, index) => {
    const { after, late = 0, scope, ...rest } = event as { after: number; late?: number; scope?: string };
    receivedAt += after;
    const place = { seq: from + index + 1, receivedAt, at: receivedAt - late };
    const where = { ...(scope === '' ? {} : { scope }), ...place };
    if ((rest as { kind?: string }).kind === 'success') return { kind: 'success', ...where, count: 1 + (index % 7) };
    return { ...rest, ...where, by: 'eva', reason: '' } as unknown as Entry;
  });
}

/** Where folded calls would reach a part in doubt the rest is read one by one, as it was before it was folded. */
function readToEnd(rule: Partial<Rule>, before: Parts, page: readonly Entry[], rows: readonly Entry[]) {
  const view = viewOf(rule);
  const { parts, effects, stoppedAfter = Infinity } = applyPage(tool, before, page, view, 2);
  const rest = rows.filter(({ seq }) => seq > stoppedAfter);
  const read = applyEntries(tool, parts, rest, view, 2);
  return { parts: read.parts, effects: [...effects, ...read.effects] };
}

test('folded or not, a page leads to the same trust, to the last field', () => {
  let saved = 0;
  const [some, many] = [fc.array(call, { maxLength: 20 }), fc.array(call, { minLength: 5, maxLength: 60 })];
  const page = fc.oneof(
    { weight: 5, arbitrary: many },
    {
      weight: 1,
      arbitrary: fc.tuple(many, order, many).map(([before, between, after]) => [...before, between, ...after]),
    },
  );
  const check = (rule: Partial<Rule>, well: number, before: readonly object[], after: readonly object[]) => {
    const entries = onClock(after, 1000);
    const start: Entry = { kind: 'success', count: 1 + well, seq: 1, at: NOW, receivedAt: NOW };
    const read = folded(rule, [start, ...onClock(before, 1)], entries);
    if (read === undefined) return;
    saved += entries.length - read.entries.length;
    const [together, singly] = [read.entries, entries].map((list) => readToEnd(rule, read.parts, list, entries));
    expect(together).toEqual(singly);
  };
  fc.assert(fc.property(rules, fc.nat(2000), some, page, check), { numRuns: 1500 });
  expect(saved).toBeGreaterThan(1000);
});
