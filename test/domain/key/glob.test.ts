import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeGlob, matchesGlob } from '../../../src/domain/key/glob.ts';

describe('a pattern', () => {
  it.each([
    ['*', '', true],
    ['', '', true],
    ['', 'a', false],
    ['mcp_*', 'mcp_search', true],
    ['mcp_*', 'mcp', false],
    ['*_search', 'mcp_search', true],
    ['*_search', 'mcp_search_all', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a**b', 'ab', true],
    ['?', 'a', true],
    ['?', '', false],
    ['?', '😀', true],
    ['*??', '😀', false],
    ['a.c', 'abc', false],
    ['[a]', '[a]', true],
    ['a\\*', 'a\\x', true],
    ['Bash', 'bash', false],
  ])('%j of %j: %s', (pattern, text, expected) => {
    expect(matchesGlob(pattern, text)).toBe(expected);
  });

  it.each([
    ['cat \\*', 'cat *', true],
    ['cat \\*', 'cat /etc/shadow', false],
    ['cat \\*', 'cat \\*', false],
    ['\\?', 'a', false],
    ['a\\\\*', 'a\\b', true],
    ['*\\*', 'a*b*', true],
    ['*\\*', 'a*b', false],
    ['a\\b', 'a\\b', true],
    ['a\\', 'a\\', true],
  ])('that may escape, %j of %j: %s', (pattern, text, expected) => {
    expect(matchesGlob(pattern, text, { escapes: true })).toBe(expected);
  });

  it('may ignore case', () => {
    expect(matchesGlob('API.*', 'api.Example.com', { ignoreCase: true })).toBe(true);
  });
});

describe('laws', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '.', '(') });

  it('says what a regular expression would', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', '.', '(', '*', '?'), maxLength: 8 }),
        letters,
        (pattern, text) => {
          const source = pattern.replace(/[.(]/g, '\\$&').replaceAll('*', '[^]*').replaceAll('?', '[^]');
          expect(matchesGlob(pattern, text)).toBe(new RegExp(`^${source}$`).test(text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('a text matches itself, and any part of it may be a star', () => {
    fc.assert(
      fc.property(letters, letters, letters, (before, middle, after) => {
        expect(matchesGlob(`${before}*${after}`, `${before}${middle}${after}`)).toBe(true);
        expect(matchesGlob(before, before)).toBe(true);
      }),
    );
  });

  it('what is escaped matches itself and nothing else', () => {
    const wild = fc.string({ unit: fc.constantFrom('a', '*', '?', '\\'), maxLength: 6 });
    fc.assert(
      fc.property(wild, wild, (one, other) => {
        expect(matchesGlob(escapeGlob(one), other, { escapes: true })).toBe(one === other);
        expect(matchesGlob(escapeGlob(one), one, { escapes: true })).toBe(true);
      }),
    );
  });

  it('the work does not explode', () => {
    // A backtracking matcher would not end before the sun does.
    expect(matchesGlob(`${'a*'.repeat(100)}b`, 'a'.repeat(10_000))).toBe(false);
  });
});
