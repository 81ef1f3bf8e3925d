import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { argumentsDigest } from '../../../src/domain/outcome/digest.ts';
import { notShownAsJson } from '../../../src/domain/outcome/plain-data.ts';
import { hostile } from './hostile.ts';

describe('the digest of arguments', () => {
  it('is SHA-256 over RFC 8785', () => {
    const canonical = '{"a":[1,"é"],"b":1e+30}';
    expect(argumentsDigest({ b: 1e30, a: [1.0, 'é'] })).toBe(createHash('sha256').update(canonical).digest('hex'));
  });

  it('is one for no arguments, however they are missing', () => {
    expect(argumentsDigest(undefined)).toBe(argumentsDigest({}));
    expect(argumentsDigest(null)).toBe(argumentsDigest({}));
  });

  it('does not depend on the order of keys or on a journey as JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (args) => {
        const reversed = Object.fromEntries(Object.entries(args).reverse());
        expect(argumentsDigest(reversed)).toBe(argumentsDigest(args));
        expect(argumentsDigest(JSON.parse(JSON.stringify(args)))).toBe(argumentsDigest(args));
      }),
    );
  });

  it('tells arguments apart that differ at the end of a megabyte', () => {
    const long = 'x'.repeat(1_000_000);
    expect(argumentsDigest({ long: `${long}a` })).not.toBe(argumentsDigest({ long: `${long}b` }));
  });

  it.each<[string, unknown, unknown]>([
    ['numbers that are none', { a: Number.NaN, b: 1 }, { a: Number.NaN, b: 2 }],
    ['big integers', { a: 1n }, { a: 2n }],
    ['a lone surrogate and its escape', { a: '\ud800' }, { a: '\\ud800' }],
    ['secrets beside non-JSON', { password: 'a', x: 1n }, { password: 'b', x: 1n }],
    ['dates beside non-JSON', { at: new Date(1), x: 1n }, { at: new Date(2), x: 1n }],
  ])('tells %s apart', (_, one, other) => {
    expect(argumentsDigest(one)).not.toBe(argumentsDigest(other));
  });

  /** So many objects, one in the other. */
  const nested = (levels: number, inner: unknown) => {
    let value = inner;
    for (let level = 0; level < levels; level += 1) value = { a: value };
    return value;
  };

  it.each<[string, (command: string) => unknown]>([
    ['behind a hundred thousand values', (command) => ({ a: Array(100_000).fill(0), command })],
    ['below a hundred levels', (command) => ({ o: nested(100, { command }) })],
    ['in a key of its own', (command) => ({ [command]: 1 })],
  ])('tells apart what differs %s', (_, args) => {
    expect(notShownAsJson(args('ls'))).toBeUndefined();
    expect(argumentsDigest(args('ls'))).not.toBe(argumentsDigest(args('rm -rf /')));
  });

  it('is never that of arguments a person can be asked about, for any that nobody can', () => {
    for (const args of [
      nested(5000, 'ls'),
      nested(300, 'ls'),
      new Map([['command', 'ls']]),
      new URLSearchParams('a=1'),
    ]) {
      expect(notShownAsJson(args)).toBeDefined();
      expect(argumentsDigest(args)).not.toBe(argumentsDigest({}));
    }
  });

  it('exists for any value, and is stable', () => {
    fc.assert(
      fc.property(hostile, (args) => {
        const value = args();
        expect(argumentsDigest(value)).toMatch(/^[0-9a-f]{64}$/);
        expect(argumentsDigest(value)).toBe(argumentsDigest(value));
      }),
    );
  });
});
