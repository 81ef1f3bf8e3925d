import { describe, expect, test } from 'vitest';
import type { RuleView } from '../../../src/domain/rules/resolve.ts';
import { absorb } from '../../../src/domain/trust/absorb.ts';
import type { Memory, Pulled } from '../../../src/domain/trust/absorb.ts';
import type { CallEntry } from '../../../src/domain/trust/entry.ts';
import type { Subject } from '../../../src/domain/trust/parts.ts';
import { viewOf } from '../../support/trust.ts';

const subject: Subject = { kind: 'tool', server: 'local', name: 't' };
const PUBLISHED = 1_000_000;
const lenient = { ...viewOf({ countThreshold: 30 }), version: 1 };
const strict = { ...viewOf({ countThreshold: 5 }), version: 2 };

const memory: Memory = {
  ...{ subject, version: 0, rules: lenient, parts: {} },
  watermark: { generation: 'g', seq: 0, id: null },
};

function failures(count: number, from: number, seq = 1): CallEntry[] {
  return Array.from({ length: count }, (_, index) => {
    const at = from + index;
    return { kind: 'failure', severity: 'server_error', seq: seq + index, at, receivedAt: at };
  });
}

function pulled(entries: readonly CallEntry[], rules: RuleView | undefined, more = false): Pulled {
  const watermark = { generation: 'g', seq: entries.at(-1)?.seq ?? 0, id: null };
  const published = rules === undefined ? {} : { rules, rulesSince: PUBLISHED };
  return { subject, watermark, entries, more, projectedVersion: 0, now: PUBLISHED + 1000, ...published };
}

describe('rules that are published before the ledger was read', () => {
  const before = failures(12, PUBLISHED - 20);

  test('do not judge what came in before them, and count it from then on', () => {
    const waited = absorb(memory, pulled(before, strict));
    expect(waited.memory).toMatchObject({ rules: strict, parts: { '': { status: 'TRUSTED' } } });
    const next = absorb(memory, pulled([...before, ...failures(1, PUBLISHED, 13)], strict));
    expect(next.memory.parts['']).toMatchObject({ status: 'ESCALATED', reason: '10 failures in 1 h' });
    expect(next.effects.map(({ change }) => change)).toEqual(['escalated']);
  });

  test('are the workflow’s own once it has read to the end', () => {
    const half = absorb(memory, pulled(before.slice(0, 6), strict, true));
    expect(half).toMatchObject({ unread: true, memory: { rules: lenient } });
    const whole = absorb(half.memory, pulled(before.slice(6), strict));
    expect(whole.memory).toMatchObject({ rules: strict, parts: { '': { status: 'TRUSTED' } } });
  });

  test('judge all of it where nobody has said when they were published', () => {
    const { rulesSince: _, ...unsaid } = pulled(before, strict);
    expect(absorb(memory, unsaid).memory.parts['']).toMatchObject({ status: 'BLOCKED' });
  });
});
