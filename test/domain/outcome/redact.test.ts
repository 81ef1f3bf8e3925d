import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrubEnvironment } from '../../../src/domain/execution/environment.ts';
import { redactText } from '../../../src/domain/outcome/redact.ts';
import { isSecretName, redactEveryToken } from '../../../src/domain/outcome/secrets.ts';

const redact = (text: string) => redactText(text, 500);

describe('what is removed', () => {
  it.each([
    ['https://user:hunter2@host/x', 'https://[redacted]@host/x'],
    ['postgres://u:p/w@db:5432/x', 'postgres://[redacted]@db:5432/x'],
    ['Authorization: Bearer abc.def-123', 'Authorization: [redacted]'],
    ['{"Authorization":"Basic dXNlcjpwdw=="}', '{"Authorization":"[redacted]"}'],
    ['sent with bearer abcdef123456', 'sent with bearer [redacted]'],
    ['key sk-ant-api03-abcdefghijklmnop used', 'key [redacted] used'],
    ['ghp_abcdefghijklmnopqrstuvwxyz012345', '[redacted]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['xoxb-1234567890-abcdefghij', '[redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', '[redacted]'],
    ['password=hunter2 next', 'password=[redacted] next'],
    ['{"password": "two words", "a": 1}', '{"password": [redacted], "a": 1}'],
    ["{'api_key': 'abc'}", "{'api_key': [redacted]}"],
    ['{\\"token\\":\\"abc def\\",\\"a\\":1}', '{\\"token\\":[redacted],\\"a\\":1}'],
    ['DB_PASSWORD=hunter2', 'DB_PASSWORD=[redacted]'],
    ['curl --token hunter2 x', 'curl --token [redacted] x'],
    ['mysql --password=hunter2', 'mysql --password=[redacted]'],
    ['Cookie: a=b; c=d\nnext', 'Cookie: [redacted]\nnext'],
    ['GET /x?access_token=abc&page=2', 'GET /x?access_token=[redacted]&page=2'],
    ['GET /x?key=short&page=2', 'GET /x?key=[redacted]&page=2'],
    ['GET /x?q=a1b2c3d4e5f6a7b8c9d0', 'GET /x?q=[redacted]'],
    ['https://hooks.slack.com/services/T0000000/B0000000/XXXXXXXXXXXX', 'https://hooks.slack.com/services/[redacted]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- x', '[redacted] x'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE', '[redacted]'],
    ['password="never closed', 'password=[redacted]'],
    ['{"password":123456,"pin":4711,"token_count":12}', '{"password":[redacted],"pin":[redacted],"token_count":12}'],
    ['login --password max --token limit', 'login --password [redacted] --token [redacted]'],
    ['DB_PASS=hunter2 SSHPASS=hunter2 x', 'DB_PASS=[redacted] SSHPASS=[redacted] x'],
    ['{"pass":"hunter2","encryptionKey":"abc"}', '{"pass":[redacted],"encryptionKey":[redacted]}'],
    ['RAILS_MASTER_KEY=abc AZURE_STORAGE_KEY=def', 'RAILS_MASTER_KEY=[redacted] AZURE_STORAGE_KEY=[redacted]'],
    ['curl -u admin:hunter2x https://x', 'curl -u admin:[redacted] https://x'],
    ['curl --user "admin:two words" x', 'curl --user "admin:[redacted]" x'],
    ['mysql -u root -phunter2x db', 'mysql -u root -p[redacted] db'],
    ['sshpass -p hunter2x ssh h', 'sshpass -p [redacted] ssh h'],
    ['docker login -u me -p hunter2x host', 'docker login -u me -p [redacted] host'],
    ['redis-cli -h x -a hunter2x ping', 'redis-cli -h x -a [redacted] ping'],
    ['aws configure set aws_secret_access_key hunter2x', 'aws configure set aws_secret_access_key [redacted]'],
    ...[
      ...[
        'sk-abc123',
        'sk_live_abcdef',
        'pk_test_abc',
        'sk-proj-abcdef',
        'ghp_abc',
        'gho_abcdef',
        'github_pat_abc',
        'glpat-abc',
      ],
      ...['hf_abc', 'AIzaSyA-abc', 'ya29.abc', 'xoxb-1-2-abc', 'AKIA123', 'npm_abc', 'dckr_pat_x', 'shpat_abc'],
    ].map((token) => [`got ${token}, then`, 'got [redacted], then']),
    ['sent Bearer abcdef to', 'sent Bearer [redacted] to'],
    ['openssl enc -pass pass:hunter2x -in a', 'openssl enc -pass pass:[redacted] -in a'],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});

describe('what stays', () => {
  it.each([
    'max_tokens: 4096 exceeded',
    'author: Jane',
    'https://registry.npmjs.org/@scope/pkg',
    'https://host:8080/path/@user',
    'GET /x?page=2&sort=created_at',
    'commit 3f2504e04f8911d39a0c0305e82c3301aaaaaaaa not found',
    'Basic authentication required',
    'the task-list-of-the-month-is-empty',
    'primary_key: 7, sort_key: name, public_key: abc, key_id: 9',
    'pass_rate: 98, bypass: on, compass: north',
    'docker run -u 1000:1000 -p 80:80 img',
    'git push -u origin HEAD:main',
    'rsync -u host:/x y && mkdir -p a/b',
    'mysql -p db',
    'pip install sk-learn sk-learn-contrib-x sk-image-v2 sk_utils',
    'lang sk-SK, pk_id 7, ghp_import, hf_hub, hf_transfer, ASIAN, npm_config_x',
    'Bearer authentication required, Bearer tokens expire, the bearer of this',
  ])('%s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('names', () => {
  it.each(
    'DB_PASS SMTP_PASS SSHPASS pass dbPass ENCRYPTION_KEY RAILS_MASTER_KEY SIGNING_KEY AZURE_STORAGE_KEY STRIPE_KEY DB_CREDS pin CARD_PIN pinCode password_package'.split(
      ' ',
    ),
  )('%s holds a secret', (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(scrubEnvironment({ [name]: 'hunter2', HOME: '/x' })).toEqual({ HOME: '/x' });
  });

  it.each(
    'primary_key foreign_key sortKey public_key PUBLIC_KEY key_id SIGNING_KEY_ID signing_key_path issue_key monkey bypass compass passed sacred tokens max_tokens max_token token_count passwordLength AUTH_TOKEN_LIMIT cookie_max_age pinned pin_memory spin'.split(
      ' ',
    ),
  )('%s holds none', (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe('laws', () => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const word = (min: number, max: number, of = letters) =>
    fc.string({ unit: fc.constantFrom(...Array.from(of)), minLength: min, maxLength: max });
  /** A secret and the text it stands in, by one of the known shapes. */
  const planted = fc.oneof(
    word(20, 60).map((body) => [body, `sk-${body}`]),
    word(20, 60).map((body) => [body, `ghp_${body}`]),
    word(16, 16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789').map((body) => [body, `AKIA${body}`]),
    word(12, 40).map((body) => [body, `xoxb-${body}`]),
    word(16, 60).map((body) => [body, `Bearer ${body}`]),
    word(8, 60).map((body) => [body, `Authorization: Token ${body}`]),
    word(8, 60).map((body) => [body, `https://me:${body}@example.com/x`]),
    word(8, 60).map((body) => [body, `{"client_secret":"${body}"}`]),
    word(8, 60).map((body) => [body, `API_KEY=${body}`]),
    word(8, 60).map((body) => [body, `--password ${body}`]),
    word(8, 60).map((body) => [body, `/x?a=1&access_token=${body}&b=2`]),
    fc.tuple(word(10, 40), word(10, 40)).map(([head, body]) => [body, `eyJ${head}.${body}.${head}`]),
  ) as fc.Arbitrary<[string, string]>;
  const prose = fc.string({ unit: fc.constantFrom('a', 'e', ' ', '\n', '.', 'ü', '😀', '(', '"'), maxLength: 3000 });

  it('no planted credential survives, wherever it stands and wherever the text is cut', () => {
    fc.assert(
      fc.property(prose, planted, prose, fc.integer({ min: 10, max: 2000 }), (before, [secret, text], after, max) => {
        const shown = redactText(`${before} ${text} ${after}`, max);
        // Six characters are more than chance leaves in prose made of "a" and "e".
        expect(shown).not.toContain(secret.slice(0, 6));
        expect(shown.length).toBeLessThanOrEqual(max);
      }),
      { numRuns: 500 },
    );
  });

  it('half a credential at the end of what is looked at is not shown either', () => {
    const shown = redactText(`token=${'x'.repeat(1200)} sk-abcdefghijklmnopqrstuvwxyz and more`, 100);
    expect(shown).not.toContain('abcdef');
  });

  it('a second time changes nothing', () => {
    fc.assert(
      fc.property(prose, planted, (before, [, text]) => {
        const once = redactText(`${before} ${text}`, 8000);
        expect(redactText(once, 8000)).toBe(once);
      }),
    );
  });

  it.each(['sk-', 'sk-a1', 'ghp_', 'AKIA', 'hf_hub_', 'Bearer ', 'curl -u a:'])(
    'takes no longer for many of: %s',
    (piece) => {
      const started = performance.now();
      expect(redactEveryToken(piece.repeat(300_000))).toBeTypeOf('string');
      expect(performance.now() - started).toBeLessThan(3000);
    },
  );

  it('takes any text, of any length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 1, max: 500 }), (text, max) => {
        expect(redactText(text.repeat(1000), max).length).toBeLessThanOrEqual(max);
      }),
      { numRuns: 50 },
    );
  });
});
