import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Recent } from '../../src/domain/recent.ts';

describe('what was asked for lately', () => {
  it('is found again as long as not half of the room was filled since', () => {
    const key = fc.integer({ min: 0, max: 20 });
    fc.assert(
      fc.property(fc.array(key), fc.integer({ min: 2, max: 20 }), (keys, most) => {
        const recent = new Recent<number, string>(most);
        const asked: number[] = [];
        for (const each of keys) {
          const since = new Set(asked.slice(asked.lastIndexOf(each) + 1)).size;
          const found = recent.get(each);
          if (asked.includes(each) && since < most / 2) expect(found).toBe(`${each}`);
          if (!asked.includes(each)) expect(found).toBeUndefined();
          if (found === undefined) recent.set(each, `${each}`);
          asked.push(each);
        }
      }),
    );
  });

  it('is never more than there is room for', () => {
    const recent = new Recent<number, number>(10);
    for (let i = 0; i < 1000; i += 1) recent.set(i, i);
    const kept = Array.from({ length: 1000 }, (_, i) => recent.get(i)).filter((each) => each !== undefined);
    expect(kept.length).toBeLessThanOrEqual(10);
    expect(kept).toContain(999);
  });

  it('forgets what it is told to forget, old or young', () => {
    const recent = new Recent<number, number>(4);
    for (const each of [1, 2, 3]) recent.set(each, each);
    recent.delete(1);
    recent.delete(3);
    expect([1, 2, 3].map((each) => recent.get(each))).toEqual([undefined, 2, undefined]);
  });
});
