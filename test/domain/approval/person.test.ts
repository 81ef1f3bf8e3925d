import { expect, test } from 'vitest';
import { enderOf, isSamePerson, nameAsKept, refusalOfName } from '../../../src/domain/approval/person.ts';

test.each(['', '  ', 'surety', 'Surety ', 'SURETY for bob'])('nobody is called %j', (name) => {
  expect(refusalOfName(name)).toBeDefined();
});

test.each(['ann', 'surety-admin', 'suretyfor', 'ann for surety', '李'])('somebody may be called %j', (name) => {
  expect(refusalOfName(name)).toBeUndefined();
});

test('a name is kept as it is written, without what cannot be seen', () => {
  expect(nameAsKept(' Jose\u0301 ')).toBe('José');
  expect(isSamePerson('ann', 'anna')).toBe(false);
});

test.each([
  [{ status: 'withdrawn', endedBy: 'surety', verified: false }, 'surety'],
  [{ status: 'denied', endedBy: 'surety', verified: false }, 'surety (unverified)'],
  [{ status: 'withdrawn', endedBy: 'ann', verified: false }, 'ann (unverified)'],
  [{ status: 'denied', endedBy: 'ann', verified: true }, 'ann'],
  [{ status: 'expired', endedBy: null, verified: true }, ''],
])('%j was ended by %j', (ended, shown) => {
  expect(enderOf(ended)).toBe(shown);
});
