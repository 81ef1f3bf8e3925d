import { expect, test } from 'vitest';
import { isAbout, isWithin, withSeen } from '../../../src/domain/approval/about.ts';
import type { HeldNow, Seen } from '../../../src/domain/approval/about.ts';

const held: HeldNow = { heldSince: 5, isSecurity: false, state: 'RECOVERING' };

test.each<[Seen | undefined, Partial<HeldNow>]>([
  [undefined, {}],
  [{ isSecurity: false, state: null }, {}],
  [{ isSecurity: true, state: null }, { isSecurity: true }],
  [{ isSecurity: false, state: 'ESCALATED' }, { state: 'ESCALATED' }],
  [{ isSecurity: false, state: 'TRUSTED' }, {}],
])('whoever asks can only add to what is held: %j', (seen, expected) => {
  expect(withSeen(held, seen)).toEqual({ ...held, ...expected });
});

test('a question about nothing but the situation is none about an escalation', () => {
  const asked = { heldUntil: 10, isSecurity: false, state: null };
  expect(isAbout(asked, { heldSince: 0, isSecurity: false, state: null })).toBe(true);
  expect(isAbout(asked, { heldSince: 9, isSecurity: false, state: 'ESCALATED' })).toBe(false);
});

test('what is held was held before if it began no later and is no worse', () => {
  expect(isWithin(held, held)).toBe(true);
  expect(isWithin(held, { ...held, heldSince: 6 })).toBe(false);
  expect(isWithin(held, { ...held, isSecurity: true })).toBe(false);
  expect(isWithin(held, { ...held, state: 'ESCALATED' })).toBe(false);
  expect(isWithin(held, { ...held, heldSince: 1, state: null })).toBe(true);
});
