import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inexactNumber } from '../../../src/domain/outcome/exact-number.ts';

describe('a number that would be read as another', () => {
  test.each([
    '12345678901234567890',
    '12345678901234567168',
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '1e-400',
    '0.1000000000000000055511151231257827',
  ])('is found: %s', (number) => {
    expect(inexactNumber(`{"args":{"n":[1,${number}]}}`)).toBe(number);
  });

  test.each([
    '0',
    '-0',
    '-0.0',
    '1.0',
    '1.50',
    '100',
    '1e5',
    '1E+5',
    '12e-1',
    '9007199254740992',
    '0.1',
    '1e21',
    '0e999',
  ])('is none however it is spelt: %s', (number) => {
    expect(inexactNumber(`{"n":${number}}`)).toBeUndefined();
  });

  test('is not looked for in text', () => {
    expect(inexactNumber('{"12345678901234567890":"\\\\","b":"a\\"12345678901234567890"}')).toBeUndefined();
  });

  test('is none of those that a program of this language writes', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => inexactNumber(JSON.stringify(value)) === undefined));
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (n) => inexactNumber(String(n)) === undefined),
    );
  });

  test('is looked for in time, whatever the text', () => {
    for (const text of [
      '"\\"'.repeat(500_000),
      `1${'0'.repeat(1_000_000)}1`,
      '['.repeat(1_000_000),
      '\\"'.repeat(500_000),
    ]) {
      inexactNumber(text);
    }
  });
});
