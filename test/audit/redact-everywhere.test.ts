import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { redactEntry } from '../../src/execution/audit/redact.ts';
import { entryOf } from '../../src/execution/record.ts';
import type { Ended } from '../../src/execution/record.ts';
import { executorOf, firstOf } from '../../src/execution/executor.ts';
import { findBash } from '../../src/execution/shell/bash.ts';
import { trustedPlaces } from '../../src/execution/find-program.ts';
import { executionRules } from '../../src/execution/rules.ts';
import { fileExecutor } from '../../src/execution/tools/files.ts';
import { shellTool } from '../../src/execution/tools/shell.ts';
import { auditDirectory, linesOf, openHere, success } from './support.ts';

const hidden = 'correct-horse-battery';

function ended(args: unknown, text: string, parts: Partial<Ended> = {}): Ended {
  return {
    call: { tool: 'login', server: 'custom', callId: 'c1', args },
    original: undefined,
    command: undefined,
    output: { value: undefined, truncated: false, exitCode: null, text },
    error: undefined,
    stage: 'run',
    durationMs: 1,
    trust: 'TRUSTED',
    approvedBy: undefined,
    isProbe: false,
    ...parts,
  };
}

async function lineOf(end: Ended): Promise<string> {
  const directory = auditDirectory();
  const audit = openHere(directory);
  await audit.append(entryOf(end));
  await audit.close();
  return linesOf(directory).join('\n');
}

describe('what an argument names a secret is removed from every field', () => {
  test.each([
    ['by its key', { password: hidden }],
    ['deep within', { login: { with: [{ apiKey: hidden }] } }],
    ['as a pair', { headers: [{ name: 'X-Api-Key', value: hidden }] }],
    ['as an option', { argv: ['--password', hidden] }],
    ['in a text', { text: `PASSWORD=${hidden} run` }],
    ['as it was before a person changed it', undefined],
  ])('%s', async (_, args) => {
    const original = { tool: 'login', server: 'custom', callId: 'c1', args: { password: hidden } };
    const line = await lineOf(
      ended(args ?? {}, `logged in with ${hidden}`, {
        command: `login ${hidden}`,
        ...(args === undefined ? { original } : {}),
        error: { category: 'permanent_failure', message: `no ${hidden} here` } as NonNullable<Ended['error']>,
      }),
    );
    expect(line).not.toContain(hidden);
    expect(line).toContain('logged in with [redacted]');
  });

  test('also a number, and a text with characters that JSON escapes', async () => {
    expect(await lineOf(ended({ pin: 47_110_815 }, 'pin 47110815 it is'))).toContain('pin [redacted] it is');
    const quoted = 'a"b\\c-d99';
    expect(await lineOf(ended({ password: quoted }, JSON.stringify({ seen: quoted })))).not.toContain('d99');
  });

  test('but no word that says nothing, and none of our own', async () => {
    const line = await lineOf(
      ended({ auth: 'required', token: '$TOKEN' }, 'auth is required, says $TOKEN', { trust: 'TRUSTED' }),
    );
    expect(line).toContain('auth is required, says $TOKEN');
    expect(await lineOf(ended({ password: 'TRUSTED' }, ''))).toContain('"trust":"TRUSTED"');
  });

  test('whatever the arguments are', async () => {
    const cycle: Record<string, unknown> = { big: 12n, at: new Date(0), none: undefined, error: new Error('broken') };
    cycle['self'] = cycle;
    const line = await lineOf(ended(cycle, ''));
    expect(JSON.parse(line)).toMatchObject({
      arguments: {
        big: '12',
        at: '1970-01-01T00:00:00.000Z',
        none: null,
        self: '[cycle]',
        error: { message: 'broken' },
      },
    });
    await fc.assert(
      fc.asyncProperty(fc.anything({ withBigInt: true, withDate: true, withMap: true }), async (args) => {
        expect(JSON.stringify(await redactEntry(entryOf(ended(args, ''))))).toBeTypeOf('string');
      }),
      { numRuns: 200 },
    );
  });
});

describe('what a text names a secret is removed from every field', () => {
  test.each([
    `PASSWORD=${hidden}; echo "logged in with $PASSWORD"`,
    `PASSWORD='${hidden}' run`,
    `PASSWORD="correct"-horse-battery run`,
    `PASSWORD=swordfish run ${hidden} --token ${hidden}`,
    `echo '{"password": "${hidden}"}' | run`,
    `echo '{"passwords": ["${hidden}", "x"]}' | run`,
    `run --token ${hidden}`,
    `run --api-key=${hidden}`,
    `sshpass -p ${hidden} ssh h`,
    `mysql -u root -p${hidden} db`,
    `curl -u me:${hidden} https://x`,
    `psql postgres://me:${hidden}@db/app`,
    `cat <<EOF\npassword: |\n  ${hidden}\nEOF`,
    `curl -H 'Authorization: Token ${hidden}' x`,
  ])('%s', async (command) => {
    const redacted = await redactEntry(
      success({ command, output: `logged in with ${hidden}`, arguments: { command } }),
    );
    expect(JSON.stringify(redacted)).not.toContain(hidden);
    expect(redacted).toMatchObject({ output: 'logged in with [redacted]' });
  });

  test.each([
    ['DEBUG_TOKEN=true PASSWORD=example run --token localhost', 'true example localhost'],
    ['PASSWORD=12345678 PASSWORD=/run/secrets/db run', '12345678 of /run/secrets/db'],
    ['login(password=userPassword, token=request.token)', 'userPassword of request.token is not defined'],
    ['const auth: AuthService = make(); token = readToken(file)', 'AuthService readToken('],
    ['PASSWORD=$OTHER_NAME run; TOKEN=$(get-it) run', 'echo $OTHER_NAME $(get-it)'],
    ['https://me@a.example/x; secret = (await make()).secret', 'https://a.example (await'],
    ['/(?:token|webhooks|audit) x/', 'webhooks'],
    ['password: required, token: undefined', 'it is required, not undefined'],
  ])('but what is none stays elsewhere: %s', async (command, output) => {
    expect(await redactEntry(success({ command, output }))).toMatchObject({ output });
  });
});

test('a password that is a part of a token does not save the rest of it', async () => {
  const rest = 'ijklmnopqrstuvwx';
  const redacted = await redactEntry(success({ command: `PASSWORD=abc4efgh run`, output: `sk-abc4efgh${rest} seen` }));
  expect(redacted).toMatchObject({ output: '[redacted] seen' });
});

test('a secret key of AWS goes with its id, wherever it is', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const letters = (of: string, length: number) =>
    fc.string({ unit: fc.constantFrom(...of.split('')), minLength: length, maxLength: length });
  await fc.assert(
    fc.asyncProperty(letters(alphabet.slice(0, 26), 16), letters(alphabet, 40), async (id, key) => {
      const csv = `Access key ID,Secret access key\nAKIA${id},${key}\n`;
      const redacted = await redactEntry(success({ command: `use AKIA${id}`, output: csv, arguments: { key: [key] } }));
      expect(JSON.stringify(redacted)).not.toContain(key);
    }),
    { numRuns: 200 },
  );
});

const commit = '3f2504e04f8911d39a0c0305e82c3301aabbccdd';
test.each([
  `git checkout ${commit}`,
  `git -C repo diff --stat ${commit}..${commit}`,
  `commit ${commit} (HEAD -> main)`,
  `100644 blob ${commit}\tREADME.md`,
  `${commit}\trefs/heads/main`,
])('an object of git stays readable: %s', async (text) => {
  expect(await redactEntry(success({ command: text, output: text }))).toMatchObject({ command: text, output: text });
});

test.each([
  `run ${commit}`,
  `git checkout main; run ${commit}`,
  `git clone https://${commit}@example.com/x`,
  `git config github.token ${commit}`,
  `git -c http.extraHeader='X: ${commit}' fetch`,
  `git push --token ${commit}`,
])('forty hex digits elsewhere do not: %s', async (text) => {
  expect(JSON.stringify(await redactEntry(success({ command: text })))).not.toContain(commit);
});

test('what is written in base64 is noted, not kept', async () => {
  const content = Buffer.from('password=hunter2abc\0').toString('base64');
  const { arguments: args } = await redactEntry(success({ arguments: { path: 'a', content, encoding: 'base64' } }));
  expect(args).toEqual({ path: 'a', content: '[binary, 20 bytes]', encoding: 'base64' });
});

test('what a tool answers in base64 is noted for the audit, and answered as it is', async () => {
  const root = auditDirectory();
  const content = Buffer.from('password=hunter2abc\0');
  writeFileSync(join(root, 'binary'), content);
  const rules = await executionRules(parseRules({ runner: { sandbox: 'off' } }), root);
  const shell = shellTool(rules, { PATH: process.env['PATH'] ?? '' }, await findBash(await trustedPlaces([], [])));
  const tools = firstOf([executorOf(shell), fileExecutor(rules.files)]);
  const confinement = { writable: [root], hidden: [], readOnly: [], network: true };
  const sandbox = { kind: 'none', because: 'not wanted here' } as const;
  for (const [tool, args] of Object.entries({
    shell: { command: 'cat binary; echo err >&2' },
    read: { path: 'binary' },
  })) {
    const claim = tools.claim({ tool, server: 'local', callId: 'c1', args });
    if (claim?.kind !== 'claimed') throw new Error('not claimed');
    const output = await claim.call.run({ stopped: new AbortController().signal, sandbox, confinement });
    expect(JSON.stringify(output.value)).toContain(content.toString('base64'));
    expect(output.text).toContain('[binary, 20 bytes]');
    expect(output.text).not.toContain('cGFzc3');
  }
});
