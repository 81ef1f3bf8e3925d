import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/domain/gate/decide.ts';
import { parseRules } from '../../../src/domain/rules/parse-rules.ts';
import { concerns, visible } from '../../../src/domain/trust/absorb.ts';
import { applyEntries } from '../../../src/domain/trust/apply.ts';
import { MOST_SCOPES } from '../../../src/domain/trust/bound.ts';
import type { Entry } from '../../../src/domain/trust/entry.ts';
import { readParts } from '../../../src/domain/trust/parts.schema.ts';
import type { Parts, Subject } from '../../../src/domain/trust/parts.ts';
import { stricterOf } from '../../../src/domain/trust/reconcile.ts';
import { viewOf } from '../../support/trust.ts';

const subject: Subject = { kind: 'tool', server: 'local', name: 'sh' };
const rules = viewOf();
const failure = (at: number, more: Partial<Entry> = {}) =>
  ({ kind: 'failure', seq: at, at, receivedAt: at, severity: 'server_error', category: 'quality', ...more }) as Entry;
const insecure = (at: number, more: Partial<Entry> = {}) => failure(at, { severity: 'security', ...more });
const after = (...entries: Entry[]): Parts => applyEntries(subject, {}, entries, rules, 1).parts;
const order = (kind: 'recover' | 'reset' | 'block', at: number) =>
  ({ kind, seq: at, at, receivedAt: at, by: 'eva', reason: '' }) as Entry;
const securityOf = (parts: Parts, part = '') => {
  const state = parts[part];
  return state === undefined || state.status === 'TRUSTED' ? undefined : state.securityAt;
};
const ask = (parts: Parts, scope?: string) =>
  decide(scope === undefined ? {} : { scope }, {
    ...{ subject, view: rules, situations: parseRules({}).situations, situation: 'fresh', isKnown: true, now: 100 },
    tool: { key: 'k', subject, version: 1, parts, rules },
  });
const escalating = [failure(1), failure(2), failure(3)];

describe('a concern of security', () => {
  test.each<[string, Entry[], number | undefined]>([
    ['is none where nothing spoke of it', escalating, undefined],
    ['is none for words alone', [1, 2, 3].map((at) => failure(at, { message: 'security' } as never)), undefined],
    ['begins with a failure that is one', [insecure(1)], 1],
    ['begins with evidence', [insecure(1, { evidence: 'structured' })], 1],
    ['joins what is held already, from then on', [...escalating, insecure(9), insecure(10)], 9],
    ['joins what is held also by a call that was made before', [...escalating, insecure(3, { startedAt: 0 })], 3],
    ['lives through recovery', [insecure(1), order('recover', 5)], 1],
    ['lives through a relapse', [insecure(1), order('recover', 5), failure(6, { startedAt: 6 })], 1],
    ['lives through being blocked by a person', [insecure(1), order('block', 5)], 1],
    ['ends with trust', [insecure(1), order('reset', 5), ...[6, 7, 8].map((at) => failure(at))], undefined],
  ])('%s', (_, entries, expected) => {
    expect(securityOf(after(...entries))).toBe(expected);
  });

  test('is told to whoever is asked, as what began last and before what is equally strict', () => {
    expect(ask(after(...escalating))).not.toHaveProperty('isSecurity');
    expect(ask(after(...escalating, insecure(9)))).toMatchObject({
      ...{ isSecurity: true, heldSince: 9, because: 'sh is ESCALATED: 3 failures in 1 h, and security is concerned' },
    });
    const both = after(insecure(0, { scope: 'program:rm' }), ...escalating);
    expect(ask(both, 'program:rm')).toMatchObject({
      isSecurity: true,
      escalation: { reason: 'an error spoke of a security concern' },
    });
  });

  test('is shown though nothing else has changed', () => {
    const memory = (parts: Parts) => ({
      subject,
      rules,
      version: 1,
      parts,
      watermark: { generation: '', seq: 0, id: '' },
    });
    const [before, now] = [memory(after(...escalating)), memory(after(...escalating, insecure(3, { startedAt: 0 })))];
    expect(visible(now)).toBe(visible(before));
    expect(concerns(now)).not.toBe(concerns(before));
  });

  test('that one of two memories knows of is one', () => {
    const [plain, known] = [after(...escalating), after(...escalating, insecure(9))];
    expect(securityOf(stricterOf(plain, known))).toBe(9);
    expect(securityOf(stricterOf(known, plain))).toBe(9);
    expect(securityOf(stricterOf(after(...escalating, order('block', 4)), known))).toBe(9);
  });

  test('is not folded away with many scopes', () => {
    const scopes = Array.from({ length: MOST_SCOPES }, (_, n) =>
      [1, 2, 3].map((at) => failure(10 + at, { scope: `host:${n}.example` })),
    ).flat();
    const parts = after(insecure(1, { scope: 'host:evil.example' }), ...scopes);
    expect(parts['host:0.example']).toBeUndefined();
    expect(securityOf(parts, 'host:evil.example')).toBe(1);
  });
});

describe('what was projected before it was kept', () => {
  const projected = { status: 'ESCALATED', reason: 'an error spoke of a security concern', version: 1, at: 7 } as const;
  const old = (parts: Parts) =>
    JSON.parse(JSON.stringify(parts, (key, value: unknown) => (key === 'securityAt' ? undefined : value))) as unknown;

  test.each([
    ['escalated by words', [insecure(5)], 5],
    ['blocked by evidence', [insecure(5, { evidence: 'structured' })], 5],
    ['escalated by failures', escalating, undefined],
  ])('%s is read as it was meant', (_, entries, expected) => {
    const { parts, unreadable } = readParts(old(after(...entries)), projected);
    expect([unreadable, securityOf(parts)]).toEqual([false, expected]);
  });

  test('is still a concern where no more than its reason can be read', () => {
    expect(securityOf(readParts('nonsense', projected).parts)).toBe(7);
  });
});
