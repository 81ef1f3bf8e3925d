import { expect, test } from 'vitest';
import { hasLooseMask, shownArguments, unmasked } from '../../../src/domain/approval/shown.ts';

test('nothing that would run is cut, however far back it stands', () => {
  const command = `echo ok${' '.repeat(20_000)}; rm -rf /`;
  const items = Array.from({ length: 10_000 }, (_, i) => i);
  expect(shownArguments({ command, items })).toEqual({ command, items });
});

test('what can be nothing but a credential is masked, and nothing hides behind one', () => {
  expect(
    shownArguments({
      api_key: 'abc123',
      password: 'x; rm -rf /srv',
      command: 'deploy --token "; rm -rf /srv"',
      header: 'sk-abcdefghijklmnopqrstuvwx',
      nested: [{ token: 'one-word' }],
      headers: { authorization: 'Bearer abcdefgh' },
    }),
  ).toEqual({
    api_key: '[redacted]',
    password: 'x; rm -rf /srv',
    command: 'deploy --token "; rm -rf /srv"',
    header: '[redacted]',
    nested: [{ token: '[redacted]' }],
    headers: { authorization: '[redacted]' },
  });
});

test.each<[string, string]>([
  ['auth_url', 'https://elsewhere.example/steal'],
  ['token_endpoint', 'https://elsewhere.example/token'],
  ['authUrl', 'https://elsewhere.example/'],
  ['callback_auth', 'https://elsewhere.example/'],
  ['secret_name', 'prod/db'],
  ['password_file', '/etc/shadow'],
  ['cookie_jar', '/root/.ssh/id_rsa'],
  ['credentials_path', '/root/.aws/credentials'],
  ['command', 'pip install sk-learn-contrib-evil-package'],
  ['cursor', 'eyJpZCI6MTIzNDU2fQ'],
])('what says where a secret is, and not what it is, is seen: %s', (name, value) => {
  expect(shownArguments({ [name]: value })).toEqual({ [name]: value });
});

test.each<[string, string]>([
  ['database_password', 'hunter2'],
  ['connection_string', 'postgres://app:hunter2@db/app'],
  ['secret_key', '/abcdEFGH1234+5678=='],
  ['session_id', 'abc'],
])('a credential is masked: %s', (name, value) => {
  expect(shownArguments({ [name]: value })).toEqual({ [name]: '[redacted]' });
});

test('a megabyte of what nearly is a token is looked through once', () => {
  const nearly = '-eyJaaaaa'.repeat(120_000);
  expect(shownArguments(nearly)).toBe(nearly);
  expect(shownArguments(`${nearly}-ghp_0123456789abcdefghij`)).toBe(`${nearly}-[redacted]`);
  const words = 'sk-'.repeat(300_000);
  expect(typeof shownArguments(words)).toBe('string');
});

test('what was masked is put back into edited arguments where nobody touched it', () => {
  const original = {
    url: 'https://a.test',
    headers: { authorization: 'Bearer abcdefgh' },
    keys: ['sk-abcdefghijklmnopqrstuvwx'],
  };
  const shown = shownArguments(original) as typeof original;
  expect(unmasked(shown, original)).toEqual(original);
  expect(unmasked({ ...shown, url: 'https://b.test' }, original)).toEqual({ ...original, url: 'https://b.test' });
  // Moved elsewhere it is what it says: nobody gets a secret by asking for it under another name.
  expect(unmasked({ note: '[redacted]', keys: [] }, original)).toEqual({ note: '[redacted]', keys: [] });
});

test('a mask that was moved, or written anew, is told from one that was left alone', () => {
  const shown = { headers: { 'x-api-key': '[redacted]' }, command: 'login [redacted] now', list: ['a', '[redacted]'] };
  expect(hasLooseMask({ ...shown, more: 1 }, shown)).toBe(false);
  expect(hasLooseMask(undefined, shown)).toBe(false);
  for (const edited of [
    { ...shown, url: 'https://elsewhere/?key=[redacted]' },
    { ...shown, command: 'login [redacted] later' },
    { ...shown, list: ['[redacted]', 'a'] },
    { '[redacted]': 1 },
    '[redacted]',
  ]) {
    expect(hasLooseMask(edited, shown)).toBe(true);
  }
});

test('what is masked in a list is put back only where the list is as it was', () => {
  const accounts = [
    { host: 'prod', password: 'hunter2prod' },
    { host: 'test', password: 'hunter2test' },
  ];
  const shown = shownArguments({ accounts }) as { accounts: { host: string; password: string }[] };
  expect(unmasked({ ...shown, note: 1 }, { accounts })).toEqual({ accounts, note: 1 });
  const changed = [
    { accounts: shown.accounts.slice(1) },
    { accounts: shown.accounts.toReversed() },
    { accounts: [{ ...shown.accounts[0], host: 'elsewhere' }, shown.accounts[1]] },
  ];
  for (const edited of changed) expect(hasLooseMask(edited, shown)).toBe(true);
  const written = { accounts: [{ host: 'test', password: 'new' }] };
  expect(hasLooseMask(written, shown)).toBe(false);
  expect(unmasked(written, { accounts })).toEqual(written);
});

test('two names that are masked stay two', () => {
  const [one, other] = ['a', 'b'].map((letter) => `ghp_${letter.repeat(20)}`);
  const shown = shownArguments({ env: { [one ?? '']: 'rm -rf /', [other ?? '']: 'harmless' } });
  expect(shown).toEqual({ env: { '[redacted]': 'rm -rf /', '[redacted] 2': 'harmless' } });
});
