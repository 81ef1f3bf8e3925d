import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CATEGORIES, SEVERITIES } from '../../../src/domain/outcome/outcome.ts';
import { advanceAll, applyEntries } from '../../../src/domain/trust/apply.ts';
import type { Entry } from '../../../src/domain/trust/entry.ts';
import type { Parts, Subject } from '../../../src/domain/trust/parts.ts';
import { nextDue } from '../../../src/domain/trust/parts.ts';
import { viewOf } from '../../support/trust.ts';

const tool: Subject = { kind: 'tool', server: 'local', name: 't' };
const view = viewOf({ escalationDurationSeconds: 60, cooldownSeconds: 10, windowSeconds: 300 });

const call = fc.record(
  {
    kind: fc.constantFrom('success' as const, 'failure' as const, 'unknown' as const),
    after: fc.nat(120_000),
    late: fc.nat(30_000),
    scope: fc.option(fc.constantFrom('host:a', 'host:b', 'dir:/etc'), { nil: undefined }),
    severity: fc.constantFrom(...SEVERITIES),
    category: fc.constantFrom(...CATEGORIES),
    evidence: fc.constantFrom('text' as const, 'structured' as const),
    recoverable: fc.boolean(),
    probe: fc.option(fc.constantFrom('live' as const, 'lapsed' as const), { nil: undefined }),
  },
  { requiredKeys: ['kind', 'after', 'late', 'severity', 'category', 'evidence', 'recoverable'] },
);
const order = fc.record({
  kind: fc.constantFrom('reset' as const, 'block' as const, 'recover' as const),
  after: fc.nat(120_000),
});
const history = fc.array(fc.oneof({ weight: 9, arbitrary: call }, { weight: 1, arbitrary: order }), { maxLength: 60 });

/** Puts events on a clock that never goes back, as the ledger does. */
function onClock(events: readonly object[]): Entry[] {
  let receivedAt = 1_000_000;
  return events.map((event, index) => {
    const { after = 0, late = 0, ...rest } = event as { after?: number; late?: number };
    receivedAt += after;
    const present = Object.fromEntries(Object.entries<unknown>(rest).filter(([, value]) => value !== undefined));
    return { ...present, seq: index + 1, receivedAt, at: receivedAt - late, by: 'eva', reason: '' } as unknown as Entry;
  });
}

function fold(entries: readonly Entry[], parts: Parts = {}): Parts {
  return applyEntries(tool, parts, entries, view, 1).parts;
}

const entries = history.map(onClock);

test('every reachable state is plain JSON and survives it', () => {
  fc.assert(
    fc.property(entries, (list) => {
      expect(JSON.parse(JSON.stringify(fold(list)))).toEqual(fold(list));
    }),
  );
});

test('the same entries give the same state, in one batch or one by one, before or after a restart', () => {
  fc.assert(
    fc.property(entries, (list) => {
      const oneByOne = list.reduce<Parts>(
        (parts, entry) => JSON.parse(JSON.stringify(fold([entry], parts))) as Parts,
        {},
      );
      expect(oneByOne).toEqual(fold(list));
    }),
  );
});

test('nothing that is passed in is changed', () => {
  fc.assert(
    fc.property(entries, entries, (before, list) => {
      const parts = fold(before);
      const copy = structuredClone(parts);
      fold(list, parts);
      expect(parts).toEqual(copy);
    }),
  );
});

test('BLOCKED is left only by a reset', () => {
  fc.assert(
    fc.property(entries, (list) => {
      let parts: Parts = {};
      for (const entry of list) {
        const next = fold([entry], parts);
        for (const [part, state] of Object.entries(parts)) {
          if (state.status === 'BLOCKED' && entry.kind !== 'reset') expect(next[part]?.status).toBe('BLOCKED');
        }
        parts = next;
      }
    }),
  );
});

test('trust is regained only by the last of enough successes, or by a reset', () => {
  fc.assert(
    fc.property(entries, (list) => {
      let parts: Parts = {};
      for (const entry of list) {
        const next = fold([entry], parts);
        for (const [part, state] of Object.entries(parts)) {
          const isTrusted = (next[part]?.status ?? 'TRUSTED') === 'TRUSTED';
          if (state.status === 'TRUSTED' || !isTrusted || entry.kind === 'reset') continue;
          const settled = advanceAll(tool, parts, entry.receivedAt, view, 1).parts[part];
          expect([entry.kind, settled?.status]).toEqual(['success', 'RECOVERING']);
          expect(settled?.status === 'RECOVERING' ? settled.successes : -1).toBe(2);
        }
        parts = next;
      }
    }),
  );
});

test('a success never makes anything stricter', () => {
  const rank = { TRUSTED: 0, RECOVERING: 1, ESCALATED: 2, BLOCKED: 3 };
  fc.assert(
    fc.property(entries, (list) => {
      const parts = fold(list);
      const at = (list.at(-1)?.receivedAt ?? 0) + 1;
      const next = fold([{ kind: 'success', seq: 99, at, receivedAt: at, scope: 'host:a' }], parts);
      for (const [part, state] of Object.entries(next)) {
        expect(rank[state.status]).toBeLessThanOrEqual(rank[parts[part]?.status ?? 'TRUSTED']);
      }
    }),
  );
});

test('looking at the clock more often changes nothing', () => {
  fc.assert(
    fc.property(entries, fc.array(fc.nat(10_000_000), { maxLength: 5 }), (list, looks) => {
      const end = (list.at(-1)?.receivedAt ?? 0) + 10_000_000;
      const start = fold(list);
      const often = looks
        .map((ms) => end - ms)
        .sort((a, b) => a - b)
        .reduce((parts, now) => advanceAll(tool, parts, now, view, 1).parts, start);
      expect(advanceAll(tool, often, end, view, 1).parts).toEqual(advanceAll(tool, start, end, view, 1).parts);
    }),
  );
});

test('what is kept stays small, and no deadline lies in the past once time was let pass', () => {
  fc.assert(
    fc.property(entries, (list) => {
      const now = list.at(-1)?.receivedAt ?? 0;
      const { parts } = advanceAll(tool, fold(list), now, view, 1);
      expect(JSON.stringify(parts).length).toBeLessThan(5000);
      expect(nextDue(tool, parts, view)?.at ?? Infinity).toBeGreaterThan(now);
    }),
  );
});
