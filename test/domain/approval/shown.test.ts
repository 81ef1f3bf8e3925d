import { expect, test } from 'vitest';
import { otherKind } from '../../../src/domain/approval/edited-kind.ts';
import { hasLooseMask } from '../../../src/domain/approval/loose-mask.ts';
import * as approval from '../../../src/domain/approval/shown.ts';

const DIGEST = 'ab'.repeat(32);
const shownArguments = (value: unknown) => approval.shownArguments(value, DIGEST);
const unmasked = (edited: unknown, original: unknown) => approval.unmasked(edited, original, DIGEST);
/** As it is shown, whatever fingerprint each mask has. */
const shownAlike = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(shownArguments(value)).replace(/\[redacted [0-9a-f]{4}\]/g, '[redacted]'));

test('nothing that would run is cut, however far back it stands', () => {
  const command = `echo ok${' '.repeat(20_000)}; rm -rf /`;
  const items = Array.from({ length: 10_000 }, (_, i) => i);
  expect(shownArguments({ command, items })).toEqual({ command, items });
});

test('what can be nothing but a credential is masked, and nothing hides behind one', () => {
  expect(
    shownAlike({
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
  ['pwd', '/srv/prod'],
  ['pwd', '.'],
  ['pass', '/etc/shadow'],
  ['secret', 'prod/database'],
  ['credential', '~/.aws/credentials'],
  ['private_key', './keys/id_rsa.pub'],
  ['token', 'USDC'],
  ['auth', 'disabled'],
  ['signature', 'Required'],
  ['cookie', 'accept'],
  ['command', 'pip install sk-learn-contrib-evil-package'],
  ['cursor', 'eyJpZCI6MTIzNDU2fQ'],
])('what says where a secret is, and not what it is, is seen: %s', (name, value) => {
  expect(shownArguments({ [name]: value })).toEqual({ [name]: value });
});

test.each<[string, string]>([
  ['database_password', 'hunter2'],
  ['client_secret', 'disabled'],
  ['passphrase', 'swordfish'],
  ['db_pass', 'swordfish'],
  ['access_token', 'opaque'],
  ['token', 'Bearer swordfish'],
  ['token', 'abcdefghijklmnop'],
  ['secret', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'],
  ['pwd', '/srv/0123456789abcdef0123456789abcdef'],
  ['secret', 'prod/ghp_0123456789abcdefghij'],
  ['secret_key', '/abcdEFGH1234+5678=='],
  ['session_id', 'abc'],
])('a credential is masked: %s', (name, value) => {
  expect(shownAlike({ [name]: value })).toEqual({ [name]: '[redacted]' });
});

test.each<[string, number]>([
  ['password', 123456],
  ['password', 1],
  ['pin', 4711],
  ['card_pin', 471_100],
  ['pinCode', 4711],
  ['otp', 987654],
  ['token', 12345678],
  ['api_key', 42.5],
])('a number is no less of a secret than a text: %s', (name, value) => {
  expect(shownAlike({ [name]: value, deeper: [{ [name]: value }] })).toEqual({
    [name]: '[redacted]',
    deeper: [{ [name]: '[redacted]' }],
  });
});

test.each<[string, unknown]>([
  ['tokens', 1200],
  ['max_tokens', 4096],
  ['max_token', 4096],
  ['maxTokens', 4096],
  ['token_count', 1200],
  ['auth_token_limit', 1200],
  ['passwordLength', 1200],
  ['minPasswordLength', 1200],
  ['secret_version', 1200],
  ['cookie_max_age', 86400],
  ['pin_memory', 4711],
  ['pin', 13],
  ['token', 3],
  ['auth', 1],
  ['password', true],
  ['password', null],
])('what is counted, switched or left out is seen: %s %s', (name, value) => {
  expect(shownArguments({ [name]: value })).toEqual({ [name]: value });
});

test.each<[string, string]>([
  ['https://u:p4ssw0rdXYZ@h.example/', 'https://u:[redacted]@h.example/'],
  ['psql postgres://app:hunter2@db:5432/app -c "drop"', 'psql postgres://app:[redacted]@db:5432/app -c "drop"'],
  ['redis://:hunter2@cache', 'redis://:[redacted]@cache'],
  // Nothing that would run, and no other host, hides behind a mask.
  ['curl https://u:$(rm${IFS}x)@h', 'curl https://u:$(rm${IFS}x)@h'],
  ['https://u:a@evil.example:b@h/', 'https://u:[redacted]@evil.example:b@h/'],
  ['https://h.example:8080/a@b', 'https://h.example:8080/a@b'],
  ['ssh://git@h.example:22/a', 'ssh://git@h.example:22/a'],
])('the password in a URL is masked, and nothing else of it: %s', (text, shown) => {
  expect(shownAlike({ text, connection_string: text })).toEqual({ text: shown, connection_string: shown });
});

test('two secrets that differ are seen to differ, and no mask can be looked up', () => {
  const masks = ['hunter2', 'hunter3'].map((password) => JSON.stringify(shownArguments({ password })));
  expect(masks[0]).toMatch(/\[redacted [0-9a-f]{4}\]/);
  expect(masks[0]).not.toBe(masks[1]);
  expect(masks[0]).toBe(JSON.stringify(shownArguments({ password: 'hunter2' })));
  expect(masks[0]).not.toBe(JSON.stringify(approval.shownArguments({ password: 'hunter2' }, 'cd'.repeat(32))));
  const urls = ['a', 'b'].map((password) => shownArguments(`https://u:${password}@h/`));
  expect(urls[0]).not.toBe(urls[1]);
});

test('what nearly is a path is looked through once', () => {
  expect(shownAlike({ pwd: `/${'aaa.'.repeat(120)}%` })).toEqual({ pwd: '[redacted]' });
});

test('a megabyte of what nearly is a token is looked through once', () => {
  const nearly = '-eyJaaaaa'.repeat(120_000);
  expect(shownArguments(nearly)).toBe(nearly);
  expect(shownAlike(`${nearly}-ghp_0123456789abcdefghij`)).toBe(`${nearly}-[redacted]`);
  const words = 'sk-'.repeat(300_000);
  expect(typeof shownArguments(words)).toBe('string');
});

test('what was masked is put back into edited arguments where nobody touched it', () => {
  const original = {
    url: 'https://a.test',
    pin: 4711,
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
  const shown = {
    headers: { 'x-api-key': '[redacted 3f9a]' },
    command: 'login [redacted 07c2] now',
    list: ['a', '[redacted 11d0]'],
  };
  expect(hasLooseMask({ ...shown, more: 1 }, shown)).toBe(false);
  expect(hasLooseMask(undefined, shown)).toBe(false);
  for (const edited of [
    { ...shown, url: 'https://elsewhere/?key=[redacted 3f9a]' },
    { ...shown, command: 'login [redacted 07c2] later' },
    { ...shown, command: 'login [redacted 3f9a] now' },
    { ...shown, headers: { 'x-api-key': '[redacted]' } },
    { ...shown, list: ['[redacted 11d0]', 'a'] },
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

test('only what is of the same kind can run instead', () => {
  expect(otherKind(['a'], { a: 1 })).toBe('The arguments are an object, and a list was to run instead.');
  expect(otherKind({ a: 1 }, ['a'])).toBe('The arguments are a list, and an object was to run instead.');
  for (const edited of ['a', 1, true, null]) expect(otherKind(edited, {})).toContain('are an object, and');
  expect(otherKind({ b: [] }, { a: 1 })).toBeUndefined();
  // Arguments that were too large to be kept.
  expect(otherKind({ a: 1 }, null)).toBeUndefined();
});

test('two names that are masked stay two', () => {
  const [one, other] = ['a', 'b'].map((letter) => `ghp_${letter.repeat(20)}`);
  const shown = shownArguments({ env: { [one ?? '']: 'rm -rf /', [other ?? '']: 'harmless' } });
  expect(Object.values((shown as { env: object }).env)).toEqual(['rm -rf /', 'harmless']);
});
