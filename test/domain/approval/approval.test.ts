import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { begin, climb, nextRung, receive } from '../../../src/domain/approval/approval.ts';
import type { ApprovalState, Message, Question, Speaker } from '../../../src/domain/approval/approval.ts';
import { DEFAULT_RULE } from '../../../src/domain/rules/rule.ts';

const T = 1_800_000_000_000;
const terms = DEFAULT_RULE.approval;
const question: Question = { agent: 'builder', owner: 'olga', isSecurity: false, isShown: true };
const alice: Speaker = { by: 'alice', person: 'alice', verified: true, isAgent: false, mayDecide: true };
const once = { kind: 'once' } as const;
const approve = (more: Partial<Message> = {}): Message =>
  ({ type: 'approve', at: T + 1000, reason: 'fine', grant: once, ...more }) as Message;

describe('a decision', () => {
  test('ends the question, with who, when and why', () => {
    const { state, refused } = receive(begin(T, terms), approve(), alice, question, terms);
    expect(refused).toBeUndefined();
    expect(state).toMatchObject({
      status: 'approved',
      end: { by: 'alice', at: T + 1000, reason: 'fine', verified: true, grant: once },
    });
    const denied = receive(begin(T, terms), { type: 'deny', at: T + 5, reason: 'no' }, alice, question, terms).state;
    expect(denied).toMatchObject({ status: 'denied', end: { by: 'alice', reason: 'no' } });
  });

  test.each<[string, Partial<Message>, Partial<Speaker>, string]>([
    ['an agent, whatever its roles', {}, { isAgent: true }, "an agent's token never decides"],
    ['whoever may not', {}, { mayDecide: false }, 'alice may not decide'],
    ['the agent that asked', {}, { by: 'builder' }, 'builder has asked and cannot decide'],
    ['the owner of its token', {}, { by: 'olga' }, 'olga has asked and cannot decide'],
    ['somebody nobody can name', {}, { verified: false, mayDecide: false }, 'nobody knows who sent this'],
    ['who looked at an older version', { expectedVersion: 0 }, {}, 'it has changed since version 0: now version 1'],
    ['who came too late', { at: T + 86_400_000 }, {}, 'it has expired at'],
  ])('is refused to %s', (_, message, speaker, because) => {
    const before = begin(T, terms);
    const { state, refused } = receive(before, approve(message), { ...alice, ...speaker }, question, terms);
    expect(refused).toContain(because);
    expect(state).toBe(before);
  });

  test('counts once: the second of two is told who was first', () => {
    const { state } = receive(begin(T, terms), approve(), alice, question, terms);
    const second = receive(
      state,
      { type: 'deny', at: T + 2000, reason: '' },
      { ...alice, by: 'bob', person: 'bob' },
      question,
      terms,
    );
    expect(second.refused).toContain('it is approved by alice');
    expect(second.state).toBe(state);
  });

  test('may be left to whoever asked, if the rule says so', () => {
    const allowed = { ...terms, selfApproval: true };
    const self = { ...alice, by: 'builder', person: 'builder' };
    expect(receive(begin(T, allowed), approve(), self, question, allowed).state.status).toBe('approved');
  });

  test('takes two people where the rule says so and security is concerned', () => {
    const strict = { ...terms, twoForSecurity: true };
    const concern = { ...question, isSecurity: true };
    const first = receive(begin(T, strict), approve(), alice, concern, strict).state;
    expect(first).toMatchObject({ status: 'pending', consents: ['alice'], version: 2 });
    expect(receive(first, approve(), alice, concern, strict).refused).toContain('somebody else must');
    const second = receive(first, approve(), { ...alice, by: 'bob', person: 'bob' }, concern, strict).state;
    expect(second).toMatchObject({ status: 'approved', consents: ['alice', 'bob'] });
    expect(receive(begin(T, strict), approve(), alice, question, strict).state.status).toBe('approved');
  });

  test('of two people is about one thing, and one person is one however many tokens there are', () => {
    const strict = { ...terms, twoForSecurity: true };
    const concern = { ...question, isSecurity: true };
    const careful = approve({ editDigest: 'e'.repeat(64) });
    const first = receive(begin(T, strict), careful, alice, concern, strict).state;
    const bob = { ...alice, by: 'bob', person: 'bob' };
    expect(receive(first, approve(), bob, concern, strict).refused).toContain('alice agreed to something else');
    const laptop = { ...alice, by: 'alice-laptop' };
    expect(receive(first, careful, laptop, concern, strict).refused).toContain('somebody else must');
    expect(receive(first, careful, bob, concern, strict).state.status).toBe('approved');
    const owned = { ...alice, by: 'another-token', person: 'olga' };
    expect(receive(begin(T, terms), approve(), owned, question, terms).refused).toContain(
      'has asked and cannot decide',
    );
  });

  test('on what cannot be shown is to deny it, or to edit it', () => {
    const hidden = { ...question, isShown: false };
    expect(receive(begin(T, terms), approve(), alice, hidden, terms).refused).toContain('too large to be shown');
    const edited = approve({ editDigest: 'e'.repeat(64) });
    expect(receive(begin(T, terms), edited, alice, hidden, terms).state.status).toBe('approved');
  });

  test('is for those who have been asked, level by level', () => {
    const ladder = { ...terms, approvers: [['alice'], ['bob', 'carol']] };
    const bob = { ...alice, by: 'bob', person: 'bob' };
    const asked = begin(T, ladder);
    expect(receive(asked, approve(), bob, question, ladder).refused).toContain('bob is not among those asked: alice');
    const passedOn = climb(asked, { at: T, what: 'next' });
    expect(receive(passedOn, approve(), bob, question, ladder).state.status).toBe('approved');
  });

  test('to withdraw is left to whoever asked, too', () => {
    const builder = { by: 'builder', person: 'builder', verified: true, isAgent: true, mayDecide: false };
    const { state } = receive(begin(T, terms), { type: 'withdraw', at: T, reason: 'done' }, builder, question, terms);
    expect(state.status).toBe('withdrawn');
  });
});

describe('time', () => {
  test('reminds, asks the next, and ends it: expired is nobody’s denial', () => {
    const ladder = { ...terms, expiresAfterSeconds: 1000, approvers: [['a'], ['b']], nextApproverAfterSeconds: 600 };
    const climbed: [number, string][] = [];
    let state: ApprovalState = begin(T, ladder);
    for (let rung = nextRung(state, ladder); rung !== undefined; rung = nextRung(state, ladder)) {
      climbed.push([(rung.at - T) / 1000, rung.what]);
      state = climb(state, rung);
    }
    expect(climbed).toEqual([
      [500, 'remind'],
      [600, 'next'],
      [900, 'remind'],
      [1000, 'expire'],
    ]);
    expect(state).toMatchObject({ status: 'expired', end: { by: null, reason: 'nobody decided in time' } });
  });

  test('is given by an extension, which moves what is still to come', () => {
    const { state } = receive(
      begin(T, terms),
      { type: 'extend', at: T, reason: '', bySeconds: 86_400 },
      alice,
      question,
      terms,
    );
    expect(state).toMatchObject({ status: 'pending', version: 2, expiresAt: T + 2 * 86_400_000 });
    expect(nextRung(state, terms)).toEqual({ at: T + 86_400_000, what: 'remind' });
  });
});

test('whatever is said, an end is final and names who decided, and an agent never does', () => {
  const speakers = fc.record({
    by: fc.constantFrom('alice', 'bob', 'builder', 'olga'),
    person: fc.constantFrom('alice', 'bob', 'olga'),
    verified: fc.boolean(),
    isAgent: fc.boolean(),
    mayDecide: fc.boolean(),
  });
  const messages = fc.oneof(
    fc.record({ type: fc.constant('approve' as const), at: fc.nat(100_000_000), grant: fc.constant(once) }),
    fc.record({ type: fc.constantFrom('deny' as const, 'withdraw' as const), at: fc.nat(100_000_000) }),
    fc.record({ type: fc.constant('extend' as const), at: fc.nat(100_000_000), bySeconds: fc.nat(1000) }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(messages, speakers)), (said) => {
      let state = begin(T, terms);
      for (const [message, speaker] of said) {
        const before = state;
        const given = { ...message, at: T + message.at, reason: '' } as Message;
        const step = receive(before, given, speaker, question, terms);
        ({ state } = step);
        if (before.status !== 'pending') expect(state).toBe(before);
        if (state.status === 'approved' || state.status === 'denied') {
          expect(state.end?.by).not.toBeNull();
          if (before.status === 'pending') expect(speaker).toMatchObject({ isAgent: false, mayDecide: true });
        }
        expect(step.refused === undefined).toBe(state !== before);
      }
    }),
  );
});
