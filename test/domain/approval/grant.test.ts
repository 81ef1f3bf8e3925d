import { describe, expect, test } from 'vitest';
import type { AskedAbout, HeldNow } from '../../../src/domain/approval/about.ts';
import { stillAnswers } from '../../../src/domain/approval/earlier.ts';
import type { Earlier } from '../../../src/domain/approval/earlier.ts';
import { answers, coverage } from '../../../src/domain/approval/grant.ts';
import type { Grant, HeldCall } from '../../../src/domain/approval/grant.ts';
import { readGrant, readSignal } from '../../../src/domain/approval/message.ts';
import { credentialIn } from '../../../src/domain/approval/secret-value.ts';
import { sessionName } from '../../../src/domain/approval/session.ts';

const grant: Grant = {
  ...{ id: 'g', toolKey: 'tool:local/t', kind: 'session', givenAt: 1000, by: 'alice', agent: 'a', session: 's' },
  ...{ scope: 'host:a.example', digest: 'd', replaces: null, definition: null },
  about: { heldUntil: 900, isSecurity: false, state: 'ESCALATED' },
};
const call: HeldCall = {
  ...{ agent: 'a', session: 's', scopes: ['host:a.example'], definition: undefined, args: { path: '/srv/x', n: 3 } },
  ...{ digest: () => 'd', now: 2000, held: { heldSince: 500, isSecurity: false, state: 'ESCALATED' } },
};
const WITH_TOKEN = `s ghp_${'a'.repeat(20)}`;
const worse = (more: Partial<HeldNow>) => ({ held: { ...call.held, ...more } });
const secure = { about: { ...grant.about, isSecurity: true } };

describe('a grant', () => {
  test.each<[string, Partial<Grant>, Partial<HeldCall>, boolean]>([
    ['the same call', {}, {}, true],
    ['other arguments', {}, { digest: () => 'other' }, false],
    ['another session', {}, { session: 't' }, false],
    ['a session that a token was put into', { session: sessionName(WITH_TOKEN) }, { session: WITH_TOKEN }, true],
    ['a session with another token', { session: sessionName(WITH_TOKEN) }, { session: `${WITH_TOKEN}b` }, false],
    ['another agent', {}, { agent: 'b' }, false],
    ['a star that was asked about', { pattern: { path: '/srv/\\*' } }, { args: { path: '/srv/*' } }, true],
    ['what that star does not stand for', { pattern: { path: '/srv/\\*' } }, {}, false],
    ['what was held when it was asked', {}, worse({ heldSince: 900 }), true],
    ['what was held only after it was asked, though before it was given', {}, worse({ heldSince: 901 }), false],
    ['a concern of security that it was not asked about', {}, worse({ isSecurity: true }), false],
    ['a concern of security that it was asked about', secure, worse({ isSecurity: true }), true],
    ['less than it was asked about', secure, worse({ state: 'RECOVERING' }), true],
    ['a stricter state than it was asked about', {}, worse({ state: 'BLOCKED' }), false],
    ['the arguments that a person has changed', { covers: 'tool', replaces: 'd' }, {}, false],
    ['other arguments than those a person has changed', { covers: 'tool', replaces: 'e' }, {}, true],
    ['a later time', { kind: 'until', until: 2000 }, {}, false],
    ['its time', { kind: 'until', until: 2001, session: null }, { session: 'another' }, true],
    ['the scope it covers', { covers: 'scope' }, { digest: () => 'other' }, true],
    ['another scope', { covers: 'scope' }, { scopes: ['host:b.example'] }, false],
    [
      'another scope that claims to be it',
      { covers: 'scope' },
      { scopes: ['host:b.example', 'host:a.example'] },
      false,
    ],
    ['its scope and another', { covers: 'scope' }, { scopes: ['host:a.example', 'host:b.example'] }, false],
    ['no scope, where it covers one', { covers: 'scope' }, { scopes: [] }, false],
    ['no scope, where there was none', { covers: 'scope', scope: null }, { scopes: [] }, true],
    ['a scope, where there was none', { covers: 'scope', scope: null }, {}, false],
    ['any call of the tool it covers', { covers: 'tool' }, { scopes: [], digest: () => 'x' }, true],
    ['arguments that match', { pattern: { path: '/srv/*', n: '3' } }, { digest: () => 'x' }, true],
    ['arguments that do not', { pattern: { path: '/etc/*' } }, {}, false],
    ['arguments that are not there', { pattern: { constructor: '*' } }, {}, false],
    ['a path that climbs out', { pattern: { path: '/srv/*' } }, { args: { path: '/srv/../etc/shadow' } }, false],
    ['a path that climbs in disguise', { pattern: { path: '/srv/*' } }, { args: { path: '/srv/%2e%2e/etc' } }, false],
    [
      'slashes in disguise',
      { pattern: { path: '/srv/*' } },
      { args: { path: '/srv/x%2f..%2f..%2fetc/passwd' } },
      false,
    ],
    ['a pattern in another scope', { pattern: { n: '3' }, covers: 'scope' }, { scopes: ['host:b.example'] }, false],
    ['an agent without a name', { agent: null }, {}, false],
    ['no session, for the session', { session: null }, { session: undefined }, false],
    ['no arguments at all', { pattern: { path: '*' } }, { args: null }, false],
    ['another definition', { definition: 'x' }, { definition: 'y' }, false],
    ['the same definition', { definition: 'x' }, { definition: 'x' }, true],
    ['a call that does not say its definition', { definition: 'x' }, {}, false],
    ['a definition, where none was known', {}, { definition: 'y' }, false],
  ])('answers %s: %#', (_, given, asked, expected) => {
    expect(answers({ ...grant, ...given }, { ...call, ...asked })).toBe(expected);
  });

  test('says what it covers before it is given', () => {
    expect(coverage({ kind: 'once' }, 'rm', null)).toBe('rm with these arguments, once');
    expect(coverage({ kind: 'always', covers: 'scope' }, 'get', 'host:a')).toBe('get for a, until it is revoked');
    expect(coverage({ kind: 'session', pattern: { path: '/x*' } }, 'get', null)).toBe(
      'get where path matches /x*, in this session',
    );
  });
});

describe('a question asked before', () => {
  const given = {
    kind: 'once' as const,
    until: null,
    consumedBy: null,
    isRevoked: false,
    hasRun: false,
  };
  const about: AskedAbout = { heldUntil: 500, isSecurity: false, state: 'ESCALATED' };
  const held: HeldNow = { heldSince: 500, isSecurity: false, state: 'ESCALATED' };
  const asking = { id: 'me', held, now: 2000 };
  test.each<HeldNow>([
    { ...held, heldSince: 501 },
    { ...held, isSecurity: true },
    { ...held, state: 'BLOCKED' },
  ])('does not answer %j, open or approved, also for the call that had its grant', (now) => {
    const call = { ...asking, held: now };
    expect(stillAnswers({ about, status: 'pending', holdsUntil: null, grant: null }, call)).toBe(false);
    const approved = { about, status: 'approved' as const, holdsUntil: null };
    expect(stillAnswers({ ...approved, grant: given }, call)).toBe(false);
    expect(stillAnswers({ ...approved, grant: { ...given, consumedBy: 'me' } }, call)).toBe(false);
  });

  test.each<[Omit<Earlier, 'about'>, boolean]>([
    [{ status: 'pending', holdsUntil: null, grant: null }, true],
    [{ status: 'denied', holdsUntil: 2001, grant: null }, true],
    [{ status: 'denied', holdsUntil: 2000, grant: null }, false],
    [{ status: 'expired', holdsUntil: null, grant: null }, false],
    [{ status: 'withdrawn', holdsUntil: null, grant: null }, false],
    [{ status: 'approved', holdsUntil: null, grant: given }, true],
    [{ status: 'approved', holdsUntil: null, grant: { ...given, consumedBy: 'me' } }, true],
    [{ status: 'approved', holdsUntil: null, grant: { ...given, consumedBy: 'another' } }, false],
    [{ status: 'approved', holdsUntil: null, grant: { ...given, consumedBy: 'me', hasRun: true } }, false],
    [{ status: 'approved', holdsUntil: null, grant: { ...given, isRevoked: true } }, false],
    [{ status: 'approved', holdsUntil: null, grant: { ...given, until: 2000 } }, false],
  ])('answers or does not: %j', (earlier, expected) => {
    expect(stillAnswers({ ...earlier, about }, asking)).toBe(expected);
  });
});

describe('a signal', () => {
  test('names a decision, or is somebody’s word', () => {
    const decision = '01a1e6ed-3708-7fbf-b803-1fe6c68c9697';
    expect(readSignal('approve', { decision }, 5)).toEqual({ decision });
    expect(readSignal('deny', undefined, 5)).toEqual({ bare: { type: 'deny', at: 5, reason: '' }, by: 'unknown' });
    expect(readSignal('approve', { by: 'ann', grant: 'session' }, 5)).toEqual({
      bare: { type: 'approve', at: 5, reason: '', grant: { kind: 'session' } },
      by: 'ann',
    });
  });

  test.each([
    ['approve', 'yes', 'a decision is an object'],
    ['approve', { args: {} }, 'edited arguments never travel in a signal'],
    ['approve', { grant: 'forever' }, 'grant is once'],
    ['approve', { undecodable: true }, 'there is no "undecodable"'],
    ['approve', { decision: '\u0000' }, 'decision is no id'],
    ['approve', { grant: { kind: 'once', covers: 'tool' } }, 'are about later calls'],
    ['approve', { grant: { kind: 'until' } }, 'until is a time to come'],
    ['approve', { grant: { kind: 'always', pattern: {} } }, 'pattern has a glob'],
    ['extend', { seconds: -1 }, 'seconds is a number'],
    ['deny', { by: 7 }, 'by is a text'],
  ] as const)('%s %j is refused with a word', (verb, payload, complaint) => {
    expect(readSignal(verb, payload, 5)).toContain(complaint);
  });

  test('a grant until a time takes seconds or the time', () => {
    expect(readGrant({ kind: 'until', seconds: 60 }, 1000)).toEqual({ kind: 'until', until: 61_000 });
    expect(readGrant({ kind: 'until', until: '1970-01-01T00:01:00Z' }, 1000)).toEqual({ kind: 'until', until: 60_000 });
  });
});

test.each<[Record<string, string>, boolean]>([
  [{ url: `*ghp_${'A'.repeat(20)}*` }, true],
  [{ url: 'https://u:hunter2@h/*' }, true],
  [{ password: 'hunter2' }, true],
  [{ [`ghp_${'A'.repeat(20)}`]: '*' }, true],
  [{ url: 'https://h/*', token: 'USDC', pwd: '/srv/*', password: '*' }, false],
])('what a grant matches may hold no credential: %j', (pattern, expected) => {
  const complaint = credentialIn(pattern);
  expect(complaint !== undefined).toBe(expected);
  expect(complaint ?? '').not.toContain('ghp_');
});
