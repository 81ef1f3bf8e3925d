import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decidePath, refusalToTake } from '../../../src/domain/files/file-rules.ts';
import type { FileRules } from '../../../src/domain/files/file-rules.ts';
import { FileSection } from '../../../src/domain/files/files.schema.ts';
import { compilePathGlob, InvalidGlob, matchesPath } from '../../../src/domain/files/path-glob.ts';
import { flawOfPath, namesOf, withoutDots } from '../../../src/domain/files/path-text.ts';

function rules(section: { denyRead?: string[]; allowRead?: string[] } = {}, roots = ['/srv/app']): FileRules {
  const compiled = (patterns: string[] = []) => patterns.map((pattern) => compilePathGlob(pattern));
  return {
    roots,
    kept: ['/srv/app/.surety'],
    fixed: ['/srv/app/surety.json'],
    deny: { read: compiled(section.denyRead), write: [] },
    allow: { read: compiled(section.allowRead), write: [] },
    ignoreCase: false,
  };
}

describe('a pattern', () => {
  test.each([
    ['**/.env', '/a/.env', true],
    ['**/.env', '/.env', true],
    ['**/.env', '/a/.environment', false],
    ['.env', '/a/b/.env', true],
    ['secrets', '/a/secrets', true],
    ['src/*.ts', '/src/a.ts', true],
    ['src/*.ts', '/src/b/a.ts', false],
    ['src/**', '/src/b/a.ts', true],
    ['src/**', '/src', true],
    ['src/**/x', '/src/x', true],
    ['*.{pem,key}', '/deep/a.key', true],
    ['{.env,conf/x}', '/deep/.env', true],
    ['[!a-c]x', '/dx', true],
    ['[!a-c]x', '/bx', false],
    ['a\\*b', '/a*b', true],
    ['a\\*b', '/axb', false],
    ['?', '/😀', true],
    ['***', '/x', 'invalid'],
    ['[', '/x', 'invalid'],
    ['[z-a]', '/x', 'invalid'],
    ['{a', '/x', 'invalid'],
    ['a}', '/x', 'invalid'],
    ['a\\', '/x', 'invalid'],
    ['', '/x', 'invalid'],
    ['../x', '/x', 'invalid'],
    ['~/.ssh/**', '/x', 'invalid'],
    ['{a,b}'.repeat(9), '/x', 'invalid'],
  ] as const)('%s on %s: %s', (pattern, path, expected) => {
    if (expected === 'invalid') {
      expect(() => compilePathGlob(pattern)).toThrow(InvalidGlob);
      expect(FileSection.safeParse({ denyRead: [pattern] }).success).toBe(false);
    } else expect(matchesPath(compilePathGlob(pattern), namesOf(path))).toBe(expected);
  });

  test('either compiles or is refused, and answers in time, whatever it is', () => {
    const bit = fc.constantFrom(
      '*',
      '**',
      '/',
      '?',
      '[',
      ']',
      '{',
      '}',
      ',',
      '\\',
      '!',
      '-',
      'a',
      'b',
      '.',
      '..',
      '\0',
      '😀',
      '\ud800',
    );
    const pattern = fc.oneof(
      fc.array(bit, { maxLength: 40 }).map((bits) => bits.join('')),
      fc.string(),
    );
    fc.assert(
      fc.property(pattern, fc.array(fc.oneof(bit, fc.string()), { maxLength: 20 }), (text, names) => {
        try {
          matchesPath(compilePathGlob(text), names);
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidGlob);
        }
      }),
      { numRuns: 3000 },
    );
    const started = performance.now();
    matchesPath(compilePathGlob('*a'.repeat(200) + 'b'), ['a'.repeat(4000)]);
    matchesPath(
      compilePathGlob('**/a/'.repeat(200) + 'b'),
      Array.from({ length: 2000 }, () => 'a'),
    );
    expect(performance.now() - started).toBeLessThan(2000);
  });

  test('that is a name, escaped, matches that name and no other', () => {
    const name = fc
      .string({ minLength: 1, maxLength: 30 })
      .filter((text) => !/[/\0]/.test(text) && !/^\.{1,2}$/.test(text));
    fc.assert(
      fc.property(name, name, (mine, other) => {
        const glob = compilePathGlob(mine.replace(/[*?[\]{}\\,~!]/g, '\\$&'));
        expect(matchesPath(glob, ['x', mine])).toBe(true);
        if (other !== mine) expect(matchesPath(glob, [other])).toBe(false);
      }),
    );
  });
});

describe('a decision', () => {
  test('outside of the roots is always no; deny goes before allow; an empty allow list allows', () => {
    expect(decidePath(rules(), 'read', '/srv/app-evil/x')).toMatchObject({ verdict: 'deny', rule: 'roots' });
    expect(decidePath(rules(), 'read', '/srv/app/x')).toMatchObject({ verdict: 'allow' });
    expect(decidePath(rules({ denyRead: ['x'], allowRead: ['x'] }), 'read', '/srv/app/x')).toMatchObject({
      verdict: 'deny',
      rule: 'denyRead x',
    });
    expect(decidePath(rules({ allowRead: ['app'] }), 'read', '/srv/app/x')).toMatchObject({
      verdict: 'deny',
      rule: 'allowRead',
    });
    expect(decidePath(rules({ denyRead: ['**/srv/**'] }), 'read', '/srv/app/x')).toMatchObject({ verdict: 'deny' });
    expect(decidePath(rules({ denyRead: ['sub/x'] }, ['/srv', '/srv/sub']), 'read', '/srv/sub/x')).toMatchObject({
      verdict: 'deny',
    });
  });

  test('a denied directory denies all that lies in it, and more rules never allow more', () => {
    const names = fc.array(fc.constantFrom('a', 'b', '.env', 'secrets'), { minLength: 1, maxLength: 6 });
    const patterns = fc.array(fc.constantFrom('a', 'a/**', '**/.env', 'secrets', '/srv/app/b', 'b/*'), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(names, names, patterns, patterns, (above, below, denyRead, more) => {
        const path = `/srv/app/${above.join('/')}`;
        const deeper = `${path}/${below.join('/')}`;
        const verdict = (deny: string[], at: string) => decidePath(rules({ denyRead: deny }), 'read', at).verdict;
        if (verdict(denyRead, path) === 'deny') {
          expect(verdict(denyRead, deeper)).toBe('deny');
          expect(verdict([...denyRead, ...more], path)).toBe('deny');
        }
      }),
    );
  });
});

describe('a path', () => {
  test.each([
    ['', 'empty'],
    ['a\0b', 'NUL'],
    ['\ud800', 'Unicode'],
    ['a'.repeat(256), '255'],
    ['é'.repeat(128), '255'],
    ['a/'.repeat(2048), '4095'],
  ])('%j has a flaw', (path, said) => expect(flawOfPath(path)).toContain(said));

  test('without dots it is absolute, has none, and stays so', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('..', '.', '', 'a', 'b', '...', ' ')), (parts) => {
        const once = withoutDots(`/${parts.join('/')}`);
        expect(once.startsWith('/')).toBe(true);
        expect(namesOf(once).some((name) => name === '.' || name === '..')).toBe(false);
        expect(withoutDots(once)).toBe(once);
      }),
    );
  });
});

test.each(['/', '/etc', '/usr/bin', '/root', '/home', '/home/alice', '/var'])(
  '%s is not moved or deleted, whatever the roots are',
  (path) => {
    expect(refusalToTake({ roots: ['/'] }, path)).toMatchObject({ verdict: 'deny' });
  },
);

test('a root is not moved or deleted, nor what holds it; what lies in it is', () => {
  const roots = ['/srv/app'];
  for (const path of ['/srv/app', '/srv']) expect(refusalToTake({ roots }, path)).toMatchObject({ rule: 'roots' });
  for (const path of ['/srv/app/x', '/srv/app/etc', '/srv/apple'])
    expect(refusalToTake({ roots }, path)).toBe(undefined);
});
