import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { notShownAsJson } from '../../../src/domain/outcome/plain-data.ts';
import { hostile } from './hostile.ts';

describe('what JSON does not show of some arguments', () => {
  it.each<[unknown, string]>([
    [{ a: [1, { b: NaN }] }, 'args.a.1.b is NaN, which JSON has no number for'],
    [{ a: -Infinity }, 'args.a is -Infinity, which JSON has no number for'],
    [{ a: 1n }, 'args.a is a bigint, which JSON does not have'],
    [{ call: () => 1 }, 'args.call is a function, which JSON does not have'],
    [{ m: new Map([['rm', '-rf']]) }, 'args.m is of class Map, of which JSON shows only a part'],
    [{ signal: new AbortController().signal }, 'args.signal is of class AbortSignal, of which JSON shows only a part'],
    [{ p: 'a\0.sh' }, 'args.p is text with NUL or half of a surrogate pair in it, which is kept as another character'],
    [
      { run: Object.assign(['ls'], { cwd: '/' }) },
      'args.run is a list with "cwd" besides its elements, which JSON does not show',
    ],
    [{ '\ud800': 1 }, 'args has a name with NUL or half of a surrogate pair in it, which is kept as another character'],
  ])('is named by where it is', (args, found) => {
    expect(notShownAsJson(args)).toBe(found);
  });

  it('is nothing of what travelled as JSON', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        (args) => /\\u0000|\\ud/.test(JSON.stringify(args)) || notShownAsJson(args) === undefined,
      ),
    );
  });

  it('is nothing of dates, of what is left out, and of objects without a prototype', () => {
    expect(
      notShownAsJson({
        at: new Date(0),
        none: undefined,
        bare: Object.assign(Object.create(null) as object, { a: 1 }),
      }),
    ).toBe(undefined);
  });

  it('is what lies too deep, holds itself, or holds something over and over', () => {
    const round: Record<string, unknown> = { a: 1 };
    round['self'] = round;
    expect(notShownAsJson(round)).toContain('nested deeper');
    let many: unknown = [1];
    for (let level = 0; level < 60; level += 1) many = [many, many];
    expect(notShownAsJson(many)).toContain('more than');
  });

  it('is said of any value', () => {
    fc.assert(fc.property(hostile, (args) => ['string', 'undefined'].includes(typeof notShownAsJson(args()))));
  });
});
