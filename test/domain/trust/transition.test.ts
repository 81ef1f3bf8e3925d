import { describe, expect, test } from 'vitest';
import type { EffectiveRule } from '../../../src/domain/rules/rule.ts';
import { forServer, DEFAULT_RULE } from '../../../src/domain/rules/rule.ts';
import type { OrderGiven, OrderName, TrustEvent } from '../../../src/domain/trust/event.ts';
import { advance, dueAt, transition } from '../../../src/domain/trust/transition.ts';
import { TRUSTED } from '../../../src/domain/trust/trust.ts';
import type { TrustState } from '../../../src/domain/trust/trust.ts';
import { failed, HOUR, rule, succeeded } from '../../support/trust.ts';

/** Applies events in order, each after time has done what it does by then. Every change is projected as version 1, 2, … */
function after(events: readonly TrustEvent[], by: EffectiveRule = rule(), from: TrustState = TRUSTED) {
  let state = from;
  let version = 0;
  const changes: string[] = [];
  for (const event of events) {
    for (const step of [
      (s: TrustState) => advance(s, event.at, by, version + 1),
      (s: TrustState) => transition(s, event, by, version + 1),
    ]) {
      const next = step(state);
      if (next.effects.length > 0) version += 1;
      changes.push(...next.effects.map(({ change }) => change));
      state = next.state;
    }
  }
  return { state, changes };
}

const order = (name: OrderName, at: number): OrderGiven => ({
  type: 'orderGiven',
  order: name,
  at,
  by: 'eva',
  reason: 'why',
});
const escalated = [failed(0), failed(1), failed(2)];
const due = 2 + HOUR / 2;

describe('TRUSTED', () => {
  test.each<[string, readonly TrustEvent[], EffectiveRule, string]>([
    ['below the threshold stays', [failed(0), failed(1)], rule(), 'TRUSTED'],
    ['the threshold escalates', escalated, rule(), 'ESCALATED'],
    ['failures that left the window do not count', [failed(0), failed(1), failed(HOUR + 2)], rule(), 'TRUSTED'],
    ['a failure as old as the window counts', [failed(0), failed(1), failed(HOUR)], rule(), 'ESCALATED'],
    [
      'severities outside the filter do not count',
      [0, 1, 2, 3].map((at) => failed(at, { severity: 'not_found' })),
      rule(),
      'TRUSTED',
    ],
    [
      'an uncounted failure never escalates, whatever stands before it',
      [failed(0), failed(1), failed(2, { severity: 'timeout' })],
      rule(),
      'TRUSTED',
    ],
    ['text that speaks of security escalates at once', [failed(0, { severity: 'security' })], rule(), 'ESCALATED'],
    [
      'evidence of a security failure blocks at once',
      [failed(0, { severity: 'security', evidence: 'structured' })],
      rule(),
      'BLOCKED',
    ],
    [
      '…whatever the filter says',
      [failed(0, { severity: 'security', evidence: 'structured' })],
      rule({ severityFilter: [] }),
      'BLOCKED',
    ],
    [
      'four refused credentials do not',
      [0, 1, 2, 3].map((at) => failed(at, { severity: 'permission', category: 'auth' })),
      rule(),
      'TRUSTED',
    ],
    [
      'five refused credentials escalate, whatever the filter says',
      [0, 1, 2, 3, 4].map((at) => failed(at, { severity: 'permission', category: 'auth' })),
      rule(),
      'ESCALATED',
    ],
    [
      'file permissions are no credentials',
      [0, 1, 2, 3, 4, 5].map((at) => failed(at, { severity: 'permission' })),
      rule(),
      'TRUSTED',
    ],
    [
      'consecutive failures',
      [failed(0), succeeded(1), failed(2), failed(3)],
      rule({ countThreshold: null, consecutiveThreshold: 2 }),
      'ESCALATED',
    ],
    [
      'a success breaks the row',
      [failed(0), succeeded(1), failed(2)],
      rule({ countThreshold: null, consecutiveThreshold: 2 }),
      'TRUSTED',
    ],
    [
      'a rate needs samples',
      [failed(0), failed(1), failed(2), failed(3)],
      rule({ countThreshold: null, rateThreshold: 0.5 }),
      'TRUSTED',
    ],
    [
      'a rate over the threshold',
      [succeeded(0, { count: 2 }), failed(1), failed(2), failed(3)],
      rule({ countThreshold: null, rateThreshold: 0.5 }),
      'ESCALATED',
    ],
    [
      'a rate below it',
      [succeeded(0, { count: 9 }), failed(1), failed(2), failed(3)],
      rule({ countThreshold: null, rateThreshold: 0.5 }),
      'TRUSTED',
    ],
    [
      'an expected share of failures is not held against it',
      [succeeded(0, { count: 16 }), failed(1), failed(2), failed(3), failed(4)],
      rule({ expectedFailureRate: 0.2 }),
      'TRUSTED',
    ],
    [
      'what exceeds it is',
      [succeeded(0, { count: 5 }), failed(1), failed(2), failed(3), failed(4), failed(5)],
      rule({ expectedFailureRate: 0.2 }),
      'ESCALATED',
    ],
    [
      'two reporters wanted, one seen',
      escalated.map((e) => ({ ...e, agent: 'a' })),
      rule({ minReporters: 2 }),
      'TRUSTED',
    ],
    [
      'two reporters wanted and seen',
      [{ ...failed(0), agent: 'b' }, ...escalated.slice(1).map((e) => ({ ...e, agent: 'a' }))],
      rule({ minReporters: 2 }),
      'ESCALATED',
    ],
    [
      'a failure fades after the window where the rule says so',
      [failed(0), failed(1), failed(2), failed(HOUR + 1800_000), failed(HOUR + 1800_001)],
      rule({ countThreshold: 4, decayPerHour: 0.5 }),
      'ESCALATED',
    ],
    [
      '…and is gone at once where it does not',
      [failed(0), failed(1), failed(2), failed(HOUR + 1800_000), failed(HOUR + 1800_001)],
      rule({ countThreshold: 4 }),
      'TRUSTED',
    ],
    ['a person blocks', [order('block', 5)], rule(), 'BLOCKED'],
    ['recover means nothing here', [order('recover', 5)], rule(), 'TRUSTED'],
  ])('%s', (_, events, by, status) => {
    expect(after(events, by).state.status).toBe(status);
  });

  test('a late report counts at its own time, not at its arrival', () => {
    expect(after([failed(10), failed(11), failed(11 - HOUR - 5)]).state.status).toBe('TRUSTED');
  });
});

describe('ESCALATED', () => {
  test('ends by time alone, at the later of duration and cooldown', () => {
    expect(dueAt(after(escalated).state, rule())).toBe(due);
    const failing = after([...escalated, failed(1_700_000)]).state;
    expect(dueAt(failing, rule())).toBe(1_700_000 + 900_000);
    expect(advance(failing, 2_600_000, rule(), 2).state.status).toBe('RECOVERING');
  });

  test('a new rule moves the deadline, because facts are stored and not deadlines', () => {
    expect(dueAt(after(escalated).state, rule({ escalationDurationSeconds: 60, cooldownSeconds: 5 }))).toBe(2 + 60_000);
  });

  test.each<[string, readonly TrustEvent[], EffectiveRule, string]>([
    ['one more failure does not block', [failed(10)], rule(), 'ESCALATED'],
    ['the fifth within the episode does', [10, 11, 12, 13, 14].map((at) => failed(at)), rule(), 'BLOCKED'],
    ['unless it never blocks', [10, 11, 12, 13, 14].map((at) => failed(at)), rule({ blockAfter: null }), 'ESCALATED'],
    [
      'a burst that was under way does not block',
      [10, 11, 12, 13, 14, 15].map((at) => failed(at, { startedAt: 1 })),
      rule(),
      'ESCALATED',
    ],
    [
      'nor one admitted under an older version',
      [10, 11, 12, 13, 14, 15].map((at) => failed(at, { trustVersion: 0 })),
      rule(),
      'ESCALATED',
    ],
    [
      'one admitted knowing the version does',
      [10, 11, 12, 13, 14].map((at) => failed(at, { trustVersion: 1, startedAt: 1 })),
      rule(),
      'BLOCKED',
    ],
    [
      'uncounted failures do not block',
      [10, 11, 12, 13, 14].map((at) => failed(at, { severity: 'timeout' })),
      rule(),
      'ESCALATED',
    ],
    ['successes do not bank', [10, 11, 12].map((at) => succeeded(at)), rule(), 'ESCALATED'],
    ['time passes', [succeeded(due)], rule(), 'RECOVERING'],
    [
      'it waits for a person where recovery is manual',
      [succeeded(due * 99)],
      rule({ autoRecovery: false }),
      'ESCALATED',
    ],
    ['a person recovers it at once', [order('recover', 10)], rule({ autoRecovery: false }), 'RECOVERING'],
    ['a person resets it', [order('reset', 10)], rule(), 'TRUSTED'],
  ])('%s', (_, events, by, status) => {
    expect(after([...escalated, ...events], by).state.status).toBe(status);
  });

  test('a failure that will not pass by itself waits for a person', () => {
    const { state } = after([failed(0), failed(1), failed(2, { recoverable: false })]);
    expect(dueAt(state, rule())).toBeUndefined();
    expect(after([order('recover', 10)], rule(), state).state.status).toBe('RECOVERING');
  });
});

describe('RECOVERING', () => {
  const recovering = after([...escalated, succeeded(due)]).state;

  test.each([1, 2, 3, 7])('exactly %i successes make it TRUSTED', (successCountToRecover) => {
    const by = rule({ successCountToRecover });
    const successes = Array.from({ length: successCountToRecover }, (_, index) => succeeded(due + index));
    expect(after([...escalated, ...successes.slice(1)], by).state.status).not.toBe('TRUSTED');
    expect(after([...escalated, ...successes], by).state.status).toBe('TRUSTED');
  });

  test('what failed before recovery no longer counts', () => {
    const { state } = after([
      ...escalated,
      succeeded(due),
      succeeded(due + 1),
      succeeded(due + 2),
      failed(due + 3),
      failed(due + 4),
    ]);
    expect(state).toMatchObject({ status: 'TRUSTED', tally: { failures: [due + 3, due + 4] } });
  });

  test('a counted failure relapses for twice as long, at most a day', () => {
    const relapsed = after([failed(due + 5)], rule(), recovering);
    expect(relapsed.changes).toEqual(['relapsed']);
    expect(dueAt(relapsed.state, rule())).toBe(due + 5 + HOUR);
    let state = relapsed.state;
    let at = 0;
    for (let i = 0; i < 10; i += 1) {
      at = (dueAt(state, rule()) ?? 0) + 1;
      state = after([failed(at)], rule(), state).state;
    }
    expect(state.status).toBe('ESCALATED');
    expect((dueAt(state, rule()) ?? 0) - at).toBe(24 * HOUR);
  });

  test('three relapses in the window block', () => {
    const by = rule({ escalationDurationSeconds: 60, cooldownSeconds: 1 });
    let state = after(escalated, by).state;
    for (let i = 0; i < 3; i += 1) state = after([failed((dueAt(state, by) ?? 0) + 1)], by, state).state;
    expect(state).toMatchObject({ status: 'BLOCKED', reason: '3 relapses in 1 h' });
  });

  test.each<[string, TrustEvent, Partial<TrustState>]>([
    ['an uncounted failure is no relapse', failed(due + 5, { severity: 'not_found' }), { status: 'RECOVERING' }],
    ['nor is one of a call from before the episode', failed(due + 5, { startedAt: 1 }), { status: 'RECOVERING' }],
    ['a success under a lapsed lease proves nothing', succeeded(due + 5, { lapsed: true }), { successes: 1 }],
    ['a failure under one counts', failed(due + 5), { status: 'ESCALATED' }],
    [
      'a success of a call from before the episode proves nothing',
      succeeded(due + 5, { startedAt: 1 }),
      { successes: 1 },
    ],
    [
      'a probe that was never answered counts, whatever the filter',
      failed(due + 5, { severity: 'timeout', silentProbe: true }),
      { status: 'ESCALATED' },
    ],
  ])('%s', (_, event, expected) => {
    expect(after([event], rule(), recovering).state).toMatchObject(expected);
  });
});

describe('BLOCKED', () => {
  const blocked = after([order('block', 5)]).state;

  test('keeps its reason and who gave it', () => {
    expect(blocked).toMatchObject({ status: 'BLOCKED', reason: 'why (by eva)', by: 'eva' });
  });

  test.each<[string, TrustEvent, EffectiveRule, string]>([
    ['successes do not end it', succeeded(9e9, { count: 99 }), rule(), 'BLOCKED'],
    ['recover does not', order('recover', 10), rule(), 'BLOCKED'],
    ['a reset does', order('reset', 10), rule(), 'TRUSTED'],
    ['time does where the rule says so', succeeded(5 + 60_000), rule({ blockDurationSeconds: 60 }), 'RECOVERING'],
  ])('%s', (_, event, by, status) => {
    expect(after([event], by, blocked).state.status).toBe(status);
  });

  test('a reset cuts by time, too: a late report from before it does not count', () => {
    const { state } = after([
      ...escalated,
      order('reset', 100),
      failed(50),
      failed(60),
      failed(70),
      failed(101),
      failed(102),
    ]);
    expect(state).toMatchObject({ status: 'TRUSTED', tally: { failures: [101, 102], consecutive: 2 } });
  });
});

test('a server fails only by being out of reach', () => {
  const by = forServer(DEFAULT_RULE);
  const unreachable = (at: number) => failed(at, { severity: 'timeout', category: 'reachability' });
  expect(after([failed(0), failed(1), failed(2)], by).state.status).toBe('TRUSTED');
  expect(after([unreachable(0), unreachable(300_001)], by).state.status).toBe('TRUSTED');
  expect(after([unreachable(0), unreachable(300_000)], by).state.status).toBe('ESCALATED');
  expect(after([failed(0, { severity: 'security', evidence: 'structured' })], by).state.status).toBe('TRUSTED');
});
