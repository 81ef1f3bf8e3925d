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

  test('is refused to whoever the agent belongs to by then, who may not take it back as its own, either', () => {
    const handedOver = { ...question, ownersNow: ['Bob'] };
    const bob = { ...alice, by: 'bob-laptop', person: 'bob' };
    const before = begin(T, terms);
    for (const message of [approve(), { type: 'deny', at: T + 1, reason: '' } as const]) {
      const { state, refused } = receive(before, message, bob, handedOver, terms);
      expect(refused).toBe('bob-laptop owns the agent and cannot decide');
      expect(state).toBe(before);
    }
    const listed = { ...terms, approvers: [['alice']] };
    const withdraw = { type: 'withdraw', at: T + 1, reason: '' } as const;
    expect(receive(before, withdraw, bob, handedOver, listed).refused).toContain('is not among those asked');
    expect(receive(before, approve(), alice, handedOver, terms).state.status).toBe('approved');
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

  describe('of two people about a time', () => {
    const strict = { ...terms, twoForSecurity: true };
    const concern = { ...question, isSecurity: true };
    const bob = { ...alice, by: 'bob', person: 'bob' };
    const carol = { ...alice, by: 'carol', person: 'carol' };
    const until = (at: number, seconds: number) =>
      approve({ at, grant: { kind: 'until', until: at + seconds * 1000 } });
    const say = (state: ApprovalState, message: Message, who: Speaker) => receive(state, message, who, concern, strict);

    test('holds for the shorter one, whoever named it', () => {
      const short = until(T + 1000, 60);
      const long = until(T + 2000, 315_360_000);
      const shortFirst = say(say(begin(T, strict), short, alice).state, long, bob).state;
      expect(shortFirst).toMatchObject({ status: 'approved', end: { grant: { kind: 'until', until: T + 61_000 } } });
      const longFirst = say(say(begin(T, strict), long, alice).state, until(T + 3000, 60), bob).state;
      expect(longFirst).toMatchObject({ status: 'approved', end: { grant: { until: T + 63_000 } } });
    });

    test('is over with the time of the first: then two others have to agree, or the same again', () => {
      const first = say(begin(T, strict), until(T + 1000, 60), alice).state;
      const late = say(first, until(T + 62_000, 60), bob).state;
      expect(late).toMatchObject({ status: 'pending', consents: ['bob'], agreedUntil: T + 122_000 });
      expect(say(late, until(T + 63_000, 30), alice).state).toMatchObject({
        status: 'approved',
        consents: ['bob', 'alice'],
        end: { grant: { until: T + 93_000 } },
      });
      const always = approve({ at: T + 62_000, grant: { kind: 'always' } });
      expect(say(first, always, carol).state).not.toHaveProperty('agreedUntil');
    });
  });

  test.each([
    ['Ann', 'ann'],
    ['bob ', 'bob'],
    ['Jose\u0301', 'JOSÉ'],
    ['Straße', 'STRASSE'],
  ])('of %j is one of %j: two spellings are one person', (spelt, name) => {
    const strict = { ...terms, twoForSecurity: true };
    const concern = { ...question, isSecurity: true };
    const first = receive(begin(T, strict), approve(), { ...alice, person: spelt }, concern, strict).state;
    const again = { ...alice, by: 'other-token', person: name };
    expect(receive(first, approve(), again, concern, strict).refused).toContain('somebody else must');
    const owned = { ...question, owner: name };
    expect(receive(begin(T, terms), approve(), { ...alice, person: spelt }, owned, terms).refused).toContain(
      'has asked and cannot decide',
    );
  });

  test('cannot be for the session of a call that names none', () => {
    const session = approve({ grant: { kind: 'session' } });
    const without = { ...question, hasSession: false };
    expect(receive(begin(T, terms), session, alice, without, terms).refused).toContain('names no session');
    expect(receive(begin(T, terms), approve(), alice, without, terms).state.status).toBe('approved');
    expect(receive(begin(T, terms), session, alice, question, terms).state.status).toBe('approved');
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

  describe('by somebody whose name nothing proves', () => {
    const claimed = (by: string): Speaker => ({ by, person: by, verified: false, isAgent: false, mayDecide: true });
    const withdraw: Message = { type: 'withdraw', at: T, reason: '' };

    test('is recorded as such where there are no tokens, and counts nowhere once there are, unless the rule says so', () => {
      const end = { by: 'ann', verified: false };
      expect(receive(begin(T, terms), approve(), claimed('ann'), question, terms).state.end).toMatchObject(end);
      const late = { ...claimed('ann'), mayDecide: false };
      expect(receive(begin(T, terms), approve(), late, question, terms).refused).toContain(
        'nobody knows who sent this',
      );
      const lax = { ...terms, unverified: true };
      expect(receive(begin(T, lax), approve(), late, question, lax).state.end).toMatchObject(end);
    });

    test.each([false, true])('is none of two, whatever names are given (rule says unverified: %s)', (unverified) => {
      const strict = { ...terms, twoForSecurity: true, unverified };
      const concern = { ...question, isSecurity: true };
      for (const name of ['ann', 'bob']) {
        const { state, refused } = receive(begin(T, strict), approve(), claimed(name), concern, strict);
        expect(refused).toContain('two people have to agree, and nobody knows who sent this');
        expect(state.consents).toEqual([]);
      }
      const first = receive(begin(T, strict), approve(), alice, concern, strict).state;
      expect(receive(first, approve(), claimed('bob'), concern, strict).state).toBe(first);
    });

    test.each([false, true])('is nobody who was asked (rule says unverified: %s)', (unverified) => {
      const ladder = { ...terms, approvers: [['alice']], unverified };
      for (const message of [approve(), { type: 'deny', at: T, reason: '' } as const]) {
        expect(receive(begin(T, ladder), message, claimed('alice'), question, ladder).refused).toContain(
          'it is for alice to decide, and nobody knows who sent this',
        );
      }
    });

    test('takes nothing back in the name of whoever asked; what the ledger holds does', () => {
      const bare = { ...claimed('builder'), mayDecide: false };
      expect(receive(begin(T, terms), withdraw, bare, question, terms).refused).toContain('nobody knows who sent this');
      const written = { ...claimed('surety'), mayDecide: false, mayWithdraw: true };
      expect(receive(begin(T, terms), withdraw, written, question, terms).state.status).toBe('withdrawn');
      expect(receive(begin(T, terms), approve(), written, question, terms).refused).toContain('nobody knows');
    });

    test('goes on as before in a run that has taken names at their word', () => {
      const bare = { ...claimed('builder'), mayDecide: false, isTakenAtItsWord: true };
      expect(receive(begin(T, terms), withdraw, bare, question, terms).state.status).toBe('withdrawn');
    });
  });

  test('to withdraw is left to whoever asked, too', () => {
    const builder = { by: 'builder', person: 'builder', verified: true, isAgent: true, mayDecide: false };
    const { state } = receive(begin(T, terms), { type: 'withdraw', at: T, reason: 'done' }, builder, question, terms);
    expect(state.status).toBe('withdrawn');
  });

  test('to withdraw somebody else’s question is left to who is asked, and who has seen it as it is', () => {
    const withdraw = { type: 'withdraw', at: T, reason: 'not needed' } as const;
    const ladder = { ...terms, approvers: [['bob']] };
    expect(receive(begin(T, ladder), withdraw, alice, question, ladder).refused).toContain(
      'not among those asked: bob',
    );
    const bob = { ...alice, by: 'bob', person: 'bob' };
    expect(receive(begin(T, ladder), withdraw, bob, question, ladder).state.status).toBe('withdrawn');
    const outdated = { ...withdraw, expectedVersion: 7 };
    for (const speaker of [alice, { ...alice, by: 'olga', person: 'olga' }]) {
      expect(receive(begin(T, terms), outdated, speaker, question, terms).refused).toContain('now version 1');
    }
  });

  test('of two people is about the same calls, however the pattern is written', () => {
    const strict = { ...terms, twoForSecurity: true };
    const concern = { ...question, isSecurity: true };
    const always = (more: object) => approve({ grant: { kind: 'always', ...more } });
    const narrow = { covers: 'scope', pattern: { a: '1', b: '2' } };
    const first = receive(begin(T, strict), always(narrow), alice, concern, strict).state;
    const bob = { ...alice, by: 'bob', person: 'bob' };
    expect(receive(first, always({ ...narrow, covers: 'tool' }), bob, concern, strict).refused).toContain(
      'something else',
    );
    const same = always({ ...narrow, pattern: { b: '2', a: '1' } });
    expect(receive(first, same, bob, concern, strict).state.status).toBe('approved');
  });

  test('of two people is about the same edit, to its last digit', () => {
    const strict = { ...terms, twoForSecurity: true };
    const concern = { ...question, isSecurity: true };
    const [one, other] = ['0', '1'].map((end) => approve({ editDigest: `${'ab'.repeat(20)}${end}` }));
    const first = receive(begin(T, strict), one ?? approve(), alice, concern, strict).state;
    const bob = { ...alice, by: 'bob', person: 'bob' };
    expect(receive(first, other ?? approve(), bob, concern, strict).refused).toContain('agreed to something else');
    expect(receive(first, one ?? approve(), bob, concern, strict).state.status).toBe('approved');
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
