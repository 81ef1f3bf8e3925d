import { describe, expect, test } from 'vitest';
import { decide } from '../../../src/domain/gate/decide.ts';
import type { Circumstances, InDoubt } from '../../../src/domain/gate/decide.ts';
import { stricterDecision } from '../../../src/domain/gate/decision.ts';
import { promptFor } from '../../../src/domain/gate/prompt.ts';
import { parseRules } from '../../../src/domain/rules/parse-rules.ts';
import type { Rule } from '../../../src/domain/rules/rules.schema.ts';
import { applyEntries } from '../../../src/domain/trust/apply.ts';
import type { Entry } from '../../../src/domain/trust/entry.ts';
import type { Subject } from '../../../src/domain/trust/parts.ts';
import { viewOf } from '../../support/trust.ts';

const tool: Subject = { kind: 'tool', server: 'svc', name: 'search' };
const server: Subject = { kind: 'server', server: 'svc', name: '' };
const { situations } = parseRules({});

const failure = (at: number, parts: Partial<Entry> = {}) =>
  ({ kind: 'failure', seq: 1, at, receivedAt: at, severity: 'server_error', ...parts }) as Entry;
const three = (parts: Partial<Entry> = {}) => [0, 1, 2].map((at) => failure(at, parts));

function doubt(subject: Subject, entries: Entry[], rule: Partial<Rule> = {}): InDoubt {
  const { parts } = applyEntries(subject, {}, entries, viewOf(rule), 7);
  return { key: subject.kind, subject, version: 7, parts, rules: viewOf(rule) };
}

function at(parts: Partial<Circumstances> = {}, rule: Partial<Rule> = {}): Circumstances {
  return { subject: tool, view: viewOf(rule), situations, situation: 'fresh', isKnown: true, now: 10, ...parts };
}

describe('what each situation answers', () => {
  test.each<[Circumstances['situation'] | 'unknown', Rule['risk'], string]>([
    ['fresh', 'read', 'allow'],
    ['fresh', 'destructive', 'allow'],
    ['unknown', 'read', 'allow'],
    ['unknown', 'write', 'allow'],
    ['unknown', 'destructive', 'ask'],
    ['stale', 'read', 'allow'],
    ['stale', 'write', 'allow'],
    ['stale', 'destructive', 'ask'],
    ['empty', 'read', 'ask'],
    ['empty', 'write', 'ask'],
    ['empty', 'destructive', 'ask'],
  ])('%s, %s: %s', (situation, risk, answer) => {
    const given = situation === 'unknown' ? { isKnown: false } : { situation };
    expect(decide({}, at(given, { risk })).decision).toBe(answer);
  });

  test('they are configurable', () => {
    const own = parseRules({ situations: { stale: { read: 'deny', write: 'ask', destructive: 'deny' } } }).situations;
    expect(decide({}, at({ situation: 'stale', situations: own }, { risk: 'read' })).decision).toBe('deny');
  });

  test('last known exceptions are kept when stale, and a block is a block', () => {
    const blocked = doubt(tool, [failure(0, { severity: 'security', evidence: 'structured' })]);
    expect(decide({}, at({ situation: 'stale', tool: blocked })).decision).toBe('deny');
    expect(decide({}, at({ situation: 'stale', tool: doubt(tool, three()) })).decision).toBe('ask');
  });
});

describe('what trust answers', () => {
  test('an escalation asks a person, says until when, and hands over the context', () => {
    const decision = decide({}, at({ tool: doubt(tool, three()) }));
    expect(decision).toMatchObject({
      decision: 'ask',
      via: 'person',
      because: 'svc/search is ESCALATED: 3 failures in 1 h',
      retryAfter: 1800,
      trustVersion: 7,
      escalation: {
        state: 'ESCALATED',
        failureCount: 3,
        windowSeconds: 3600,
        successesNeeded: 3,
        warningLevel: 'warning',
      },
    });
  });

  test('a scope in doubt concerns its own calls only', () => {
    const scoped = doubt(tool, three({ scope: 'host:api.example.com' }));
    expect(decide({ scope: 'host:api.example.com' }, at({ tool: scoped })).decision).toBe('ask');
    expect(decide({ scope: 'host:other.com' }, at({ tool: scoped })).decision).toBe('allow');
    expect(decide({}, at({ tool: scoped })).decision).toBe('allow');
  });

  test('the strictest of server, tool and scope holds, and because names it', () => {
    const ofServer = doubt(
      server,
      [0, 1].map((time) => failure(time, { category: 'reachability' })),
    );
    expect(decide({}, at({ server: ofServer }))).toMatchObject({
      decision: 'ask',
      because: /^server svc is ESCALATED/,
    });
    const blocked = doubt(tool, [failure(0, { severity: 'security', evidence: 'structured' })]);
    expect(decide({}, at({ server: ofServer, tool: blocked }))).toMatchObject({
      decision: 'deny',
      because: /^svc\/search is BLOCKED/,
    });
  });

  test('recovery is tried under leases of everything that recovers', () => {
    const recover = { kind: 'recover', seq: 9, at: 5, receivedAt: 5, by: 'eva', reason: '' } as Entry;
    const ofTool = doubt(tool, [...three(), recover]);
    const ofServer = doubt(server, [...[0, 1].map((time) => failure(time, { category: 'reachability' })), recover]);
    expect(decide({}, at({ tool: ofTool, server: ofServer }))).toMatchObject({
      decision: 'ask',
      via: 'probe',
      probes: [
        { key: 'server', part: '' },
        { key: 'tool', part: '' },
      ],
    });
  });

  test('one agent’s trouble is held against the tool for that agent alone', () => {
    const own = doubt(tool, three({ agent: 'a' }), { minReporters: 2 });
    expect(decide({ agent: 'a' }, at({ tool: own }, { minReporters: 2 }))).toMatchObject({ decision: 'ask' });
    expect(decide({ agent: 'b' }, at({ tool: own }, { minReporters: 2 }))).toMatchObject({ decision: 'allow' });
  });

  test('shadow mode holds nothing and says what it would have', () => {
    expect(decide({}, at({ tool: doubt(tool, three()) }, { enforce: false }))).toMatchObject({
      decision: 'allow',
      because: /^shadow mode: /,
      shadow: { decision: 'ask', via: 'person' },
    });
  });
});

test('of two authorities the stricter one holds', () => {
  const [allow, ask, deny] = [
    { decision: 'allow', because: '' },
    { decision: 'ask', via: 'person', because: '' },
    { decision: 'deny', because: '' },
  ] as const;
  expect(stricterDecision(allow, ask)).toBe(ask);
  expect(stricterDecision(ask, allow)).toBe(ask);
  expect(stricterDecision(ask, deny)).toBe(deny);
  expect(stricterDecision(deny, allow)).toBe(deny);
  const byProbe = { ...ask, via: 'probe', heldSince: 5, trustVersion: 2 } as const;
  // Who is asked is another question than what is held.
  expect(stricterDecision(byProbe, ask)).toEqual({ ...ask, heldSince: 5, trustVersion: 2 });
  expect(stricterDecision(ask, byProbe)).toEqual({ ...ask, heldSince: 5, trustVersion: 2 });
  const shadowed = { ...allow, shadow: deny } as const;
  expect(stricterDecision(allow, shadowed)).toBe(shadowed);
});

describe('of two scopes', () => {
  const recover = (scope: string) =>
    ({ kind: 'recover', seq: 9, at: 5, receivedAt: 5, by: 'eva', reason: '', scope }) as Entry;
  const answer = (entries: Entry[], ...scopes: readonly string[]) =>
    scopes
      .map((scope) => decide({ scope }, at({ tool: doubt(tool, entries) })))
      .reduce((strictest, next) => stricterDecision(strictest, next));

  test('the one that is held holds, whichever is named first', () => {
    const entries = three({ scope: 'host:a' });
    for (const scopes of [['host:a', 'host:b'] as const, ['host:b', 'host:a'] as const]) {
      expect(answer(entries, ...scopes)).toMatchObject({ decision: 'ask', escalation: { scope: 'a' } });
    }
  });

  test('a person is asked about all that is held', () => {
    const entries = [
      ...three({ scope: 'host:a' }),
      recover('host:a'),
      failure(8, { severity: 'security', scope: 'host:b' }),
    ];
    const asked = answer(
      [...entries, ...[6, 7, 8].map((time) => failure(time, { scope: 'host:b' }))],
      'host:a',
      'host:b',
    );
    expect(asked).toMatchObject({ via: 'person', isSecurity: true, escalation: { state: 'ESCALATED', scope: 'b' } });
  });

  test('a probe leases both', () => {
    const entries = [
      ...three({ scope: 'host:a' }),
      ...three({ scope: 'host:b' }),
      recover('host:a'),
      recover('host:b'),
    ];
    expect(answer(entries, 'host:a', 'host:b')).toMatchObject({
      via: 'probe',
      probes: [
        { key: 'tool', part: 'host:a' },
        { key: 'tool', part: 'host:b' },
      ],
    });
  });
});

test('a person reads scope, server, reason, evidence, deadline and what comes next', () => {
  const decision = decide(
    { scope: 'host:api.example.com' },
    at({ tool: doubt(tool, three({ scope: 'host:api.example.com' })) }),
  );
  if (decision.decision !== 'ask') throw new Error('expected to be asked');
  expect(promptFor('search', 'GET api.example.com', decision)).toBe(
    [
      'search (escalated - requires approval)',
      '',
      '  Call      GET api.example.com',
      '  Scope     api.example.com',
      '  Server    svc',
      '  Why       3 failures in 1 h',
      '  Until     1970-01-01T00:30:00.002Z',
      '',
      '  From 1970-01-01T00:30:00.002Z it is tried again; 3 successful calls then restore trust.',
    ].join('\n'),
  );
});
