import { describe, expect, test } from 'vitest';
import { approvalEvent, trustEvents } from '../../../src/domain/webhook/event.ts';
import { verdictOn } from '../../../src/domain/webhook/verdict.ts';
import { DEFAULT_RULE } from '../../../src/domain/rules/rule.ts';
import { partOfAgent } from '../../../src/domain/trust/parts.ts';
import type { PartEffect } from '../../../src/domain/trust/draft.ts';

const NOW = Date.UTC(2026, 0, 1);
const on = (status: number, attempts = 1, retryAfter?: string) => verdictOn(status, retryAfter, attempts, NOW);

describe('an answer', () => {
  test.each([200, 201, 204, 299])('%i is delivered', (status) => expect(on(status)).toEqual({ delivered: true }));

  test.each([408, 425, 429, 500, 502, 503, 504])('%i is tried again, however often', (status) => {
    expect(on(status, 1000)).toMatchObject({ delivered: false, because: `answered ${status}`, retry: true });
  });

  test('410 is given up at once', () => expect(on(410)).toMatchObject({ retry: false }));

  test.each([400, 401, 404, 422, 301, 302, 307])('%i is believed the fifth time', (status) => {
    expect(on(status, 4)).toMatchObject({ delivered: false, retry: true });
    expect(on(status, 5)).toMatchObject({ delivered: false, retry: false });
  });

  test('that redirects says that it was not followed', () => {
    expect(on(302)).toMatchObject({ because: 'answered 302, and redirects are not followed' });
  });

  test.each([
    ['7', 7000],
    ['7200', 3_600_000],
    [new Date(NOW + 30_000).toUTCString(), 30_000],
    ['99999999999999', undefined],
    ['0', undefined],
    ['-5', undefined],
    ['soon', undefined],
    [new Date(NOW - 30_000).toUTCString(), undefined],
  ])('with Retry-After: %s waits %s ms', (retryAfter, delayMs) => {
    expect(on(503, 1, retryAfter)).toEqual({
      ...{ delivered: false, because: 'answered 503', retry: true },
      ...(delayMs === undefined ? {} : { delayMs }),
    });
  });
});

describe('what is told', () => {
  const effect = (change: PartEffect['change'], more: Partial<PartEffect> = {}): PartEffect => ({
    ...{ type: 'announce', change, at: NOW, reason: 'three failures', part: '', ...more },
  });
  const tool = { kind: 'tool', server: 'local', name: 'deploy' } as const;

  test.each([
    ['escalated', 'tool.escalated'],
    ['relapsed', 'tool.escalated'],
    ['blocked', 'tool.blocked'],
    ['recovered', 'tool.recovered'],
    ['reset', 'tool.recovered'],
  ] as const)('%s is %s', (change, type) => {
    expect(trustEvents('tool:local/deploy', tool, [effect(change)])).toMatchObject([{ type, data: { change } }]);
  });

  test('that it recovers, or what a rule keeps silent, is told to nobody', () => {
    expect(trustEvents('k', tool, [effect('recovering'), effect('blocked', { silent: true })])).toEqual([]);
  });

  test('names the part, and holds no credential', () => {
    const reason = 'answered 401 with Authorization: Bearer abcdefghijklmnop0123456789';
    const part = partOfAgent('host:api.example.com', 'a1');
    const [told] = trustEvents('tool:local/de%20ploy', tool, [effect('blocked', { part, reason })]);
    expect(told).toMatchObject({
      data: { name: 'deploy', scope: 'host:api.example.com', agent: 'a1' },
      link: '/#/tools/tool%3Alocal%2Fde%2520ploy',
    });
    expect(JSON.stringify(told)).not.toContain('abcdefghijklmnop');
  });

  test('of a question: who may decide, and how it ended, without arguments', () => {
    const question = {
      ...{ id: 'q1', server: 'local', tool: 'deploy', scope: null, agent: 'a1', risk: 'write' },
      because: 'password=hunter2hunter2',
    };
    const terms = { ...DEFAULT_RULE.approval, approvers: [['ann'], ['bob']] };
    const open = { status: 'pending', level: 1, expiresAt: NOW + 1000 } as const;
    const asked = approvalEvent('approval.asked', NOW, question, open, terms);
    expect(asked).toMatchObject({ data: { status: 'pending', approvers: ['ann', 'bob'] }, link: '/#/approvals/q1' });
    expect(asked.data).not.toHaveProperty('by');
    expect(JSON.stringify(asked)).not.toContain('hunter2');
    const end = { at: NOW, by: null, reason: 'nobody decided in time', verified: true };
    const expired = approvalEvent('approval.decided', NOW, question, { ...open, status: 'expired', end }, terms);
    expect(expired.data).toMatchObject({ status: 'expired', by: null });
  });
});
