import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseScope, scopeOf, scopesOf } from '../../../src/domain/key/scope.ts';
import { serverOf, toolKey } from '../../../src/domain/key/tool-key.ts';
import keys from '../../fixtures/keys.json' with { type: 'json' };
import { hostile } from '../outcome/hostile.ts';

describe('the shared cases', () => {
  it.each(keys)('$id', ({ tool, args, expect: expected }) => {
    expect({ key: toolKey(serverOf({ args }), tool), scope: scopeOf(tool, args) ?? null }).toEqual(expected);
  });
});

describe('a host', () => {
  it.each([
    ['https://u:pw@API.Example.com.:8443/v1?x=1#y', 'host:api.example.com'],
    ['http://[::1]:8080/', 'host:::1'],
    ['https://münchen.de', 'host:xn--mnchen-3ya.de'],
    ['https://0x7f.1/', 'host:127.0.0.1'],
    ['postgres://u:p%40ss@DB.local:5432/app', 'host:db.local'],
    ['postgres://u:p,w@DB.local/app', 'host:db.local'],
    ['jdbc:postgresql://db.local/app', 'host:db.local'],
    ['mongodb://u:p@a.example:1,b.example:2/x', 'host:a.example'],
    ['git@github.com:owner/repo.git', 'host:github.com'],
    ['localhost:3000/x', 'host:localhost'],
    ['api.example.com/v1', 'host:api.example.com'],
    ['//cdn.example.com/x', 'host:cdn.example.com'],
    ['https://api.example.com:99999/x', 'host:api.example.com'],
    ['  https://a.example\n', 'host:a.example'],
    ['HTTPS://a.example\\@b.example/', 'host:a.example'],
    ['file:///etc/passwd', 'dir:/etc'],
    ['file:///a%20b/c', 'dir:/a b'],
    ['/v1/users', undefined],
    ['users', undefined],
    ['data:text/plain,hi', undefined],
    ['mailto:me@example.com', undefined],
    ['https://{host}/x', undefined],
    ['https://a b/', undefined],
    ['https://', undefined],
    ['', undefined],
  ])('of %s', (url, expected) => {
    expect(scopeOf('http_request', { url })).toBe(expected);
  });

  it('is found under its usual names', () => {
    for (const name of ['uri', 'endpoint', 'href', 'base_url', 'domain', 'host', 'hostname']) {
      expect(scopeOf('t', { [name]: 'a.example' })).toBe('host:a.example');
    }
    expect(scopeOf('t', { host: 'db' })).toBe('host:db');
    expect(scopeOf('t', { url: new URL('https://a.example/x') })).toBe('host:a.example');
    expect(scopeOf('t', 'https://a.example/x')).toBe('host:a.example');
  });

  it('comes before a path: a download is about where it comes from', () => {
    expect(scopeOf('download', { path: '/tmp/x', url: 'https://a.example' })).toBe('host:a.example');
  });

  it('is none if several are meant', () => {
    expect(scopeOf('fetch_all', { urls: ['https://a.example/1', 'https://a.example/2'] })).toBe('host:a.example');
    expect(scopeOf('fetch_all', { urls: ['https://a.example', 'https://b.example'] })).toBeUndefined();
  });
});

describe('a program', () => {
  it.each<[unknown, string | undefined]>([
    ['git status', 'program:git'],
    ['sudo -u root /usr/bin/git pull', 'program:git'],
    ['FOO=1 env -i git x', 'program:git'],
    [['git', 'x'], 'program:git'],
    ['$TOOL x', undefined],
    ['', undefined],
    [{}, undefined],
  ])('of %j', (command, expected) => {
    expect(scopeOf('bash', { command })).toBe(expected);
  });

  it('is found under its usual names, and without any', () => {
    expect(scopeOf('run', { cmd: 'git x' })).toBe('program:git');
    expect(scopeOf('run', { argv: ['git', 'x'] })).toBe('program:git');
    expect(scopeOf('run', { command: 'git', args: ['x'] })).toBe('program:git');
    expect(scopeOf('bash', { script: 'git x' })).toBe('program:git');
    expect(scopeOf('python', { script: 'import os' })).toBeUndefined();
    expect(scopeOf('bash', 'git x')).toBe('program:git');
    expect(scopeOf('bash', ['git', 'x'])).toBe('program:git');
  });

  it('is none where the command is an editor’s verb', () => {
    expect(scopeOf('str_replace_editor', { command: 'view', path: '/a/b.ts' })).toBe('dir:/a');
    expect(scopeOf('bash', { command: 'ls', path: '/a/b.ts' })).toBe('program:ls');
  });
});

describe('a directory', () => {
  it.each([
    ['/etc/passwd', 'dir:/etc'],
    ['/etc/', 'dir:/etc'],
    ['/a/./b//../c/x', 'dir:/a/c'],
    ['/../../x', 'dir:/'],
    ['a.ts', 'dir:.'],
    ['./a.ts', 'dir:.'],
    ['../a.ts', 'dir:..'],
    ['~/a/b', 'dir:~/a'],
    ['c:\\Users\\me\\a.txt', 'dir:C:/Users/me'],
    ['src\\a.txt', 'dir:src'],
    ['https://a.example/x', 'host:a.example'],
    ['/home/ghp_abcdefghijklmnopqrstuvwx/a', 'dir:/home/redacted'],
    ['/data/year=2024/token=hunter2/a', 'dir:/data/year=2024/token=redacted'],
    ['/srv/3f2504e04f8911d39a0c0305e82c3301/a', 'dir:/srv/redacted'],
    ['/my-long-project-name-of-2024-and-2025/a', 'dir:/my-long-project-name-of-2024-and-2025'],
  ])('of %s', (path, expected) => {
    expect(scopeOf('read_file', { path })).toBe(expected);
  });

  it('is the argument itself where a directory is asked for', () => {
    expect(scopeOf('grep', { directory: '/etc' })).toBe('dir:/etc');
    expect(scopeOf('list_directory', { path: '/etc' })).toBe('dir:/etc');
    expect(scopeOf('listDirectory', { path: '/etc' })).toBe('dir:/etc');
  });

  it('is found under its usual names', () => {
    for (const name of ['file', 'file_path', 'filePath', 'filepath', 'filename']) {
      expect(scopeOf('t', { [name]: '/etc/passwd' })).toBe('dir:/etc');
    }
  });
});

describe('a given scope', () => {
  it.each<[unknown, string | undefined]>([
    ['API.Example.com', 'host:api.example.com'],
    ['https://me:pw@a.example:1/x', 'host:a.example'],
    ['host:A.example:8443', 'host:a.example'],
    ['program:/usr/bin/git', 'program:git'],
    ['dir:/a/../b/', 'dir:/b'],
    ['/etc', 'dir:/etc'],
    ['atlassian', 'atlassian'],
    ['queue:emails', 'queue:emails'],
    ['with\u0000control', 'with\ufffdcontrol'],
    ['host:me:hunter2@no host', 'host:no host'],
    ['shard token=hunter2', 'shard token=redacted'],
    ['key sk-abcdefghijklmnopqrst', 'key redacted'],
    ['', undefined],
    [7, undefined],
    ['dir:', undefined],
    ['host:', undefined],
  ])('%j', (given, expected) => {
    expect(normaliseScope(given)).toBe(expected);
  });
});

describe('a call concerns', () => {
  const url = 'https://a.example/x';
  it.each<[string, unknown, unknown, readonly string[]]>([
    ['what its arguments say', { url }, undefined, ['host:a.example']],
    ['that, and what is claimed besides', { url }, 'B.example', ['host:a.example', 'host:b.example']],
    ['one that is claimed as well', { url }, 'https://A.example', ['host:a.example']],
    ['what is claimed where its arguments say nothing', { n: 1 }, 'queue:emails', ['queue:emails']],
    ['nothing', { n: 1 }, ' ', []],
  ])('%s', (_, args, claimed, expected) => {
    expect(scopesOf('fetch', args, claimed)).toEqual(expected);
  });
});

describe('laws', () => {
  const texts = fc.oneof(
    fc.webUrl(),
    fc.domain(),
    fc.ipV6(),
    fc.string({ unit: 'binary' }),
    fc.string({ minLength: 200, maxLength: 3000 }),
    fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 20 }).map((parts) => `/${parts.join('/')}`),
  );
  const args = fc.record({ url: texts, host: texts, command: texts, path: texts, dir: texts }, { requiredKeys: [] });

  it('a scope is short, stable, and its own normal form', () => {
    fc.assert(
      fc.property(fc.constantFrom('bash', 'fetch', 'list_dir'), args, (tool, given) => {
        const scope = scopeOf(tool, given);
        if (scope === undefined) return;
        expect(new TextEncoder().encode(scope).length).toBeLessThanOrEqual(160);
        expect(scopeOf(tool, given)).toBe(scope);
        expect(scopeOf(tool, JSON.parse(JSON.stringify(given)))).toBe(scope);
        expect(normaliseScope(scope)).toBe(scope);
      }),
      { numRuns: 1000, endOnFailure: true },
    );
  });

  it('credentials of a URL never enter', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.webUrl(), (secret, url) => {
        const scope = scopeOf('t', { url: url.replace('://', `://user:${secret}@`) });
        expect(scope).toMatch(/^host:/);
        expect(scope).not.toContain(secret);
      }),
    );
  });

  it('anything can be asked', () => {
    fc.assert(
      fc.property(hostile, (value) => {
        scopeOf('bash', value());
        normaliseScope(value());
        scopeOf('t', { url: value(), host: value(), command: value(), path: value() });
      }),
    );
  });
});
