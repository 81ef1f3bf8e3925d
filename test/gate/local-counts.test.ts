import { beforeEach, describe, expect, test } from 'vitest';
import type { LedgerOutcome } from '../../src/domain/outcome/ledger-outcome.ts';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { View } from '../../src/gate/view.ts';

const KEY = 'tool:local/t';
let view: View;
let now = 1_000_000;

beforeEach(() => {
  view = viewWith({});
});

function viewWith(rules: unknown): View {
  const made = new View(parseRules(rules));
  made.setSituation('fresh');
  return made;
}
const outcome = (kind: 'success' | 'failure'): LedgerOutcome => ({
  ...{ kind, server: 'local', name: 't', at: (now += 1), callId: String(now) },
  ...(kind === 'failure' ? { severity: 'server_error', category: 'quality', evidence: 'text', recoverable: true } : {}),
});
const see = (kind: 'success' | 'failure', on = view) =>
  on.observe(outcome(kind), now, { key: KEY, serverKey: 'server:local' });
const isHeld = (on = view) =>
  on.doubt(
    KEY,
    { kind: 'tool', server: 'local', name: 't' },
    on.rulesOf({ kind: 'tool', server: 'local', name: 't' }),
  ) !== undefined;
const standing = (seq: number, parts = {}) => ({
  ...{
    id: 1,
    key: KEY,
    kind: 'tool' as const,
    server: 'local',
    name: 't',
    version: 9,
    seq,
    reason: '',
    dueAt: null,
    parts,
  },
});

describe('what this process has seen fail', () => {
  test('counts once, however often it is reported', () => {
    const failure = outcome('failure');
    for (let i = 0; i < 9; i += 1) view.observe(failure, now, { key: KEY, serverKey: 'server:local' });
    expect(isHeld()).toBe(false);
    see('failure');
    see('failure');
    expect(isHeld()).toBe(true);
  });

  test('is held until the workflow has judged all of it, and no longer', () => {
    for (let i = 0; i < 3; i += 1) see('failure');
    expect(isHeld()).toBe(true);
    view.local.settle(KEY, 1);
    view.local.settle(KEY, 2);
    view.local.applied(KEY, 2);
    expect(isHeld()).toBe(true);
    view.local.settle(KEY, 3);
    view.local.applied(KEY, 2);
    expect(isHeld()).toBe(true);
    view.local.applied(KEY, 3);
    expect(isHeld()).toBe(false);
  });

  test('is not held once it is known that it will never be recorded', () => {
    for (let i = 0; i < 3; i += 1) see('failure');
    for (let i = 0; i < 3; i += 1) view.local.settle(KEY, undefined);
    expect(isHeld()).toBe(false);
  });

  test('is compared with what went well', () => {
    const consecutive = viewWith({ defaultRule: { consecutiveThreshold: 3 } });
    for (let i = 0; i < 9; i += 1) {
      see('failure', consecutive);
      see('success', consecutive);
    }
    expect(isHeld(consecutive)).toBe(false);
    for (let i = 0; i < 3; i += 1) see('failure', consecutive);
    expect(isHeld(consecutive)).toBe(true);
  });

  test('counts no more after a reset', () => {
    for (let i = 0; i < 2; i += 1) see('failure');
    view.local.settle(KEY, 1);
    view.local.settle(KEY, 2);
    view.take(standing(3, { '': { status: 'TRUSTED', tally: { consecutive: 0, failures: [], cutAt: now } } }));
    see('failure');
    expect(isHeld()).toBe(false);
  });
});
