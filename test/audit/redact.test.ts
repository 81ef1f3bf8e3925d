import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretLintProfiler } from '@secretlint/profiler';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactText } from '../../src/domain/outcome/redact.ts';
import { redactEntry } from '../../src/execution/audit/redact.ts';
import { auditDirectory, openHere, success } from './support.ts';

const letters = (length: number, alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789') =>
  fc.string({ unit: fc.constantFrom(...alphabet.split('')), minLength: length, maxLength: length });
const hex = (length: number) => letters(length, '0123456789abcdef');

/** A text that holds a secret, and the part of it that must not be seen again. */
const secret = fc.oneof(
  letters(36).map((s) => [`ghp_${s}`, s] as const),
  letters(36).map((s) => [`npm_${s}`, s] as const),
  fc.tuple(hex(12), letters(24)).map(([a, b]) => [`xoxb-${a}-${b}`, b] as const),
  letters(48).map((s) => [`sk-ant-api03-${s}`, s] as const),
  letters(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567').map((s) => [`AKIA${s}`, s] as const),
  letters(35).map((s) => [`AIza${s}`, s] as const),
  letters(20).map((s) => [`glpat-${s}`, s] as const),
  letters(27).map((s) => [`dckr_pat_${s}`, s] as const),
  letters(20).map((s) => [`password=${s}`, s] as const),
  letters(14).map((s) => [`--api-key ${s}`, s] as const),
  letters(18).map((s) => [`postgres://admin:${s}@db.example.com/app`, s] as const),
  letters(30).map((s) => [`Authorization: Bearer ${s}`, s] as const),
  letters(64).map((s) => [`-----BEGIN RSA PRIVATE KEY-----\n${s}\n-----END RSA PRIVATE KEY-----`, s] as const),
  fc.tuple(letters(20), letters(30), letters(40)).map(([a, b, c]) => [`eyJ${a}.eyJ${b}.${c}`, c] as const),
);

const filler = fc.constantFrom('', 'ls -la ', 'the quick brown fox\n', '{"a": ', 'é ', 'x '.repeat(3000));

test('no secret survives, wherever in a call it is', async () => {
  const directory = auditDirectory();
  const audit = openHere(directory);
  const file = join(directory, '0-000001.jsonl');
  await fc.assert(
    fc.asyncProperty(
      secret,
      filler,
      filler,
      fc.constantFrom('command', 'arguments', 'deep', 'key', 'list', 'output', 'everywhere'),
      async ([text, hidden], before, after, where) => {
        const around = `${before}${text} ${after}`;
        const at = (...places: string[]) => where === 'everywhere' || places.includes(where);
        const { offset } = await audit.append(
          success({
            ...(at('command') ? { command: around } : {}),
            ...(at('output') ? { output: `${around}${'z '.repeat(4000)}\n${text}\n` } : {}),
            arguments: {
              ...(at('arguments') ? { text: around } : {}),
              ...(at('deep') ? { a: [{ b: { c: around } }] } : {}),
              ...(at('key') ? { [text]: 1 } : {}),
              ...(at('list') ? { argv: ['run', around, 'x'] } : {}),
            },
          }),
        );
        const line = readFileSync(file).subarray(offset).toString();
        // Behind a long text it is cut away together with everything else.
        if (before.length < 100) expect(line).toContain('[redacted]');
        expect(line).not.toContain(hidden);
      },
    ),
    { numRuns: 400 },
  );
  await audit.close();
});

test('a name in one field and its value in another are seen together', async () => {
  await fc.assert(
    fc.asyncProperty(letters(12), async (hidden) => {
      const redacted = await redactEntry(
        success({
          command: `login ${hidden}`,
          output: `logged in with ${hidden}`,
          arguments: {
            argv: ['--password', hidden],
            headers: [{ name: 'X-Api-Key', value: hidden }],
            nested: { password: { old: hidden } },
          },
        }),
      );
      expect(JSON.stringify(redacted)).not.toContain(hidden);
    }),
    { numRuns: 100 },
  );
});

test('a number under the name of a secret is left out, and a count is not', async () => {
  const { arguments: args } = await redactEntry(
    success({ arguments: { password: 123456, pin: 4711, token_count: 1200, options: { passwordLength: 16 } } }),
  );
  expect(args).toEqual({
    password: '[redacted]',
    pin: '[redacted]',
    token_count: 1200,
    options: { passwordLength: 16 },
  });
});

test('a long random value has no name, and plus and slash do not hide it', async () => {
  // A value all of whose runs are short can stay; of a hundred, fewer than five do.
  const values = Array.from({ length: 100 }, (_, seed) =>
    createHash('sha384').update(`value ${seed}`).digest('base64'),
  );
  const kept = await Promise.all(values.map((value) => redactEntry(success({ output: `key ${value} end` }))));
  const readable = kept.filter(({ output }, at) => JSON.stringify(output).includes(values[at] ?? ''));
  expect(readable.length).toBeLessThan(5);
});

test('a token in two neighbouring fields is seen', async () => {
  await fc.assert(
    fc.asyncProperty(letters(36), fc.integer({ min: 8, max: 32 }), async (hidden, cut) => {
      const token = `ghp_${hidden}`;
      const redacted = await redactEntry(
        success({ arguments: { parts: ['use', token.slice(0, cut), token.slice(cut), '/end'] } }),
      );
      const text = JSON.stringify(redacted);
      expect(text).not.toContain(token.slice(4, cut));
      expect(text).not.toContain(token.slice(cut));
    }),
    { numRuns: 100 },
  );
});

test.each([
  ['npm_abc', 'npm_abc'],
  ['dckr_pat_x', 'dckr_pat_x'],
  ['-----BEGIN PRIVATE KEY-----\nMIIEabc\n-----END PRIVATE KEY-----', 'MIIEabc'],
])('%j does not get through', async (text, hidden) => {
  for (const entry of [success({ command: text }), success({ output: text }), success({ arguments: { text } })]) {
    expect(JSON.stringify(await redactEntry(entry))).not.toContain(hidden);
  }
});

const word = 'a1B2c3D4e5F6g7H8i9J0k1L2';
test.each([
  ...[
    'hvs.',
    'AGE-SECRET-KEY-1',
    'HRKU-',
    'sq0atp-',
    'whsec_',
    'ATATT3x',
    'gsk_',
    'glrt-',
    'nvapi-',
    'figd_',
    'r8_',
    'xai-',
  ].map((prefix) => `${prefix}${word}`),
  `machine api.example.com login me password ${word}`,
  `machine api.example.com\n  login me\n  password ${word}`,
  `<password>${word}</password>`,
  `<db:accessToken type="x">${word}</db:accessToken>`,
  `<add key="DbPassword" value="${word}"/>`,
  `CREATE USER me IDENTIFIED BY '${word}'`,
  `ALTER ROLE me WITH PASSWORD '${word}'`,
  `sqlcmd -S h -U sa -P ${word} -Q x`,
  `openssl enc -aes-256-cbc -k ${word} -in a`,
  `7z a -p${word} a.7z`,
  `keytool -list -storepass ${word}`,
  `htpasswd -bc f me ${word}`,
  `htpasswd -n -b me ${word}`,
  `echo ${word} | docker login -u me --password-stdin r.example.com`,
  `printf '%s' "${word}" | gh auth login --with-token`,
  `echo 'me:${word}' | chpasswd`,
  `chpasswd <<< "me:${word}"`,
  `vault login ${word}`,
  `lftp -u me,${word} h`,
  `sqlplus scott/${word}@db`,
  `influx -password ${word}`,
  `xfreerdp /u:me /p:${word} /v:h`,
  `wpa_passphrase home ${word}`,
  `net use \\\\server ${word} /user:me`,
  `net use Z: '\\\\server\\share' ${word}`,
  `nmcli dev wifi connect home password ${word}`,
  `rclone config create x s3 secret_access_key ${word}`,
  `unrar x -p${word} a.rar`,
  `htpasswd -nbB me ${word} > .htpasswd`,
  `htpasswd -b -C 10 f me ${word} 2>&1`,
  `smbclient //h/share -U me%${word} -c ls`,
  `smbclient -L h --user=me%${word}`,
  `rpcclient -U 'me%${word}' h`,
  `db.example.com:5432:app:me:${word}`,
  `*:*:*:me:${word}`,
  `echo 'localhost:5432:app:me:${word}' >> ~/.pgpass`,
])('%j does not get through, by shape or by name', async (text) => {
  for (const entry of [success({ command: text }), success({ output: text }), success({ arguments: { text } })]) {
    expect(JSON.stringify(await redactEntry(entry))).not.toContain(word);
  }
});

test('what only a detector of secretlint knows does not get through, nor where it stands alone', async () => {
  // Letters alone: neither long runs of letters and digits nor any shape of ours.
  const key = ['lin', 'api', 'qwertyuiopasdfghjklzxcvbnmQWERTYUIOPASDF'].join('_');
  expect(redactText(`use ${key} here`, 4000)).toContain(key);
  const redacted = await redactEntry(success({ command: `use ${key} here`, output: `got ${key}`, arguments: { key } }));
  expect(JSON.stringify(redacted)).not.toContain('qwertyuiop');
  expect(redacted).toMatchObject({ command: 'use [redacted] here', output: 'got [redacted]' });
});

test.each([
  'usage: login <user> <password> [--token <token>]',
  'commit 0acbba1f, image sha256:0acbba1f531b6af1',
  'id 7f9c24e5-2b1d-4c3a-9e8f-0a1b2c3d4e5f, version 1.2.3-rc.1',
  'machine learning is a default password policy matter',
  'the password was changed; IDENTIFIED BY the operator',
  'xai-explainability-toolkit gsk_settings_of_the_app secret_santa_list nvapi-headers-for-windows',
  'gh_import r8_registers pul-request-template glrt-runner',
  'openssl version; 7z l a.7z; keytool -help',
  'src/a.ts:12:5:error:x and 2001:db8:85a3:0:0 at 10:15:20',
  'echo done | tee log; vault login -method=oidc; echo hello | grep login; sqlplus -v; printf ok | cat',
  'node_modules/@scope/some-package/dist/esm/Components/Button/IconButton2.js.map',
  'src/main/java/com/Example/ServiceV2/impl/HTTPClientFactoryImplTest3.java',
  'htpasswd -D f me; net use; date -u +%Y-%m-%d; smbclient -L h -N',
])('ordinary text stays as it is: %s', async (text) => {
  expect(await redactEntry(success({ command: text }))).toMatchObject({ command: text });
});

test('what is no secret stays, and huge values cost no more than large ones', async () => {
  const kept = await redactEntry(
    success({
      command: 'npm_config_registry=x git log --author=me -n 5',
      arguments: { path: 'src/main.rs', max_tokens: 5 },
    }),
  );
  expect(kept).toMatchObject({
    command: 'npm_config_registry=x git log --author=me -n 5',
    arguments: { path: 'src/main.rs', max_tokens: 5 },
  });
  const huge = 'a b '.repeat(25 << 20);
  const redacted = await redactEntry(
    success({ output: huge, arguments: { huge, list: Array.from({ length: 100_000 }, () => huge) } }),
  );
  expect(JSON.stringify(redacted).length).toBeLessThan(200_000);
});

describe('what a few letters behind a prefix, or a form of its own, give away', () => {
  const written = async (text: string) =>
    JSON.stringify(await redactEntry(success({ command: `echo ${text}`, output: text, arguments: { command: text } })));

  test.each(
    (
      'ghp_x github_pat_x glpat-x AKIAabc123 AKIAEXAMPLE AIzax ya29.x xoxb-x pypi-abc123 SG.abc123 whsec_abc123 hvs.abc123 gsk_abc123 ' +
      'xapp-abc123 sk-abc123 GOCSPX-aBcDeF dckr_oat_x key-0123456789abcdef0123456789abcdef'
    ).split(' '),
  )('%s is left out', async (token) => {
    expect(await written(token)).not.toContain(token);
  });

  test('a key of PGP, and the words that restore a wallet, are left out', async () => {
    const block = ['BEGIN', 'END'].map((end) => `-----${end} PGP PRIVATE KEY BLOCK-----`).join('\nlQOYBFabc\n');
    expect(await written(block)).not.toContain('lQOYBFabc');
    expect(await written('SEED_PHRASE="abandon ability able"')).not.toContain('ability');
  });

  test.each([
    'pypi-server',
    'hf_hub_download',
    'npm_config_x',
    'SG.Foo',
    'ASIAN',
    'key-value',
    `x@sha256:${'ab12'.repeat(16)}`,
    `${'ab12'.repeat(16)}  a.txt`,
  ])('%s stays', async (word) => {
    expect(await written(word)).toContain(word);
  });
});

test('a look for credentials leaves nothing behind that the next one would have to go through', async () => {
  const before = performance.getEntriesByType('mark').length;
  for (let turn = 0; turn < 20; turn += 1) await redactEntry(success({ command: `echo ${'a1'.repeat(12)}${turn}` }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await secretLintProfiler.getEntries()).toEqual([]);
  expect(performance.getEntriesByType('mark').length).toBe(before);
});
