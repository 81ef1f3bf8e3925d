import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diffLines } from '../../src/console/diff.ts';

const shown = (before: string, after: string) => diffLines(before, after).map(({ sign, text }) => `${sign}${text}`);

test('shows what was removed before what was added, and keeps what is the same', () => {
  expect(shown('a\nb\nc', 'a\nx\nc')).toEqual([' a', '-b', '+x', ' c']);
  expect(shown('a\nb', 'a\nb')).toEqual([' a', ' b']);
  expect(shown('a\nb\nc\nd', 'b\nd\ne')).toEqual(['-a', ' b', '-c', ' d', '+e']);
});

test('both texts can be read from it, whatever they are', () => {
  const text = fc
    .array(fc.constantFrom('{', '}', '"a": 1', '"b": 2', ''), { maxLength: 30 })
    .map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after);
      const without = (sign: string) => lines.filter((line) => line.sign !== sign).map((line) => line.text);
      expect(without('+').join('\n')).toBe(before);
      expect(without('-').join('\n')).toBe(after);
    }),
  );
});

test('very long arguments take no longer than one looks at them', () => {
  const lines = (from: number) => Array.from({ length: 20_000 }, (_, i) => `line ${from + i}`).join('\n');
  expect(diffLines(lines(0), lines(7))).toHaveLength(40_000);
});
