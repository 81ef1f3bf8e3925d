import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { jsonOf, NOWHERE, runCli, runUnread, widest } from '../support/run-cli.ts';
import type { Ran } from '../support/run-cli.ts';

// Commands against a ledger whose worker runs. Each test has tools of its own.

let installation: Installation;
let env: Record<string, string>;
const surety = (...args: string[]): Promise<Ran> => runCli(args, { env });
const read = (...args: string[]) => jsonOf(args, { env });

beforeAll(async () => {
  installation = await createInstallation();
  env = environmentOf(installation);
  await installation.startWorker();
});
afterAll(() => installation.close());

function environmentOf({ databaseUrl, temporal }: Installation): Record<string, string> {
  return { DATABASE_URL: databaseUrl, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace };
}

async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await surety(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

/** Reports through standard input, many in one process. */
async function reported(...reports: object[]): Promise<Ran> {
  return runCli(['report', '--file', '-'], { env, input: reports.map((one) => JSON.stringify(one)).join('\n') });
}

async function state(subject: string, expected: string): Promise<void> {
  await expect
    .poll(async () => ((await read('status', subject)) as { subjects: { parts: { state: string }[] }[] }).subjects, {
      timeout: 30_000,
      interval: 300,
    })
    .toMatchObject([{ parts: expect.arrayContaining([expect.objectContaining({ state: expected })]) as unknown }]);
}

describe('a tool that fails', () => {
  const args = { url: 'https://api.example.com/data' };
  const failure = { tool: 'fetcher', args, httpStatus: 503, error: 'no upstream', agent: 'a1' };

  test('is escalated, and every command says so', async () => {
    await ok('report', '--tool', 'fetcher', '--args', JSON.stringify(args), '--success', '--call-id', 'first');
    expect(await reported(failure, failure, failure)).toMatchObject({ code: 0, stdout: 'Recorded 3, refused 0.\n' });
    await state('fetcher', 'ESCALATED');

    const asked = await surety('check', '--tool', 'fetcher', '--args', JSON.stringify(args));
    expect(asked.code).toBe(4);
    expect(asked.stdout).toContain('fetcher for api.example.com is ESCALATED: 3 failures in 1 h');
    expect((await surety('check', '--tool', 'fetcher', '--args', '{"url": "https://other.example"}')).code).toBe(0);

    const status = await ok('status');
    expect(status).toMatch(/^ESCALATED +fetcher +api\.example\.com +3 of 4 +in (30|29) min$/m);
    expect(await ok('status', '--by', 'domain')).toMatch(/^ESCALATED +api\.example\.com +fetcher +3 of 4/m);

    const history = await ok('history', 'fetcher');
    expect(history).toMatch(/→ escalated +api\.example\.com\n +3 failures in 1 h\n.* failure +server_error/);
    expect(history).toMatch(/success +api\.example\.com/);
    expect(await ok('history', 'fetcher', '--failures')).not.toContain('success');

    const explained = await ok('explain', 'fetcher', '--args', JSON.stringify(args));
    expect(explained).toContain('✓  defaultRule');
    expect(explained.match(/server_error +no upstream/g)).toHaveLength(3);
    for (const text of [status, history, explained]) expect(widest(text)).toBeLessThanOrEqual(80);
  });

  test('recovers by order, and only an escalation does', async () => {
    expect(await ok('recover', 'fetcher', '--scope', 'https://API.example.com/', '--by', 'ada')).toBe(
      'fetcher for api.example.com is RECOVERING.\n',
    );
    const again = await surety('recover', 'fetcher');
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('is RECOVERING, not ESCALATED');
    expect((await surety('check', '--tool', 'fetcher', '--args', JSON.stringify(args))).stdout).toContain('lease');
  });
});

describe('orders', () => {
  test('are previewed, and refused without a terminal or --yes', async () => {
    await reported({ tool: 'held', success: true });
    for (const args of [
      ['reset', 'held'],
      ['block', 'held', '--reason', 'x'],
      ['break-glass', '--for', '1m', '--reason', 'x'],
    ]) {
      const { code, stderr } = await surety(...args);
      expect(code).toBe(2);
      expect(stderr).toContain('--yes');
    }
    expect((await surety('check', '--tool', 'held')).code).toBe(0);
  });

  test('block denies, recover does not help, reset does; the audit knows who and why', async () => {
    await reported({ tool: 'guilty', success: true }, { tool: 'guilty', server: 'elsewhere', success: true });
    await ok('block', 'local/guilty', '--reason', 'incident 42', '--by', 'ada', '--yes');
    const denied = await surety('check', '--tool', 'guilty');
    expect(denied).toMatchObject({
      code: 3,
      stdout: expect.stringContaining('incident 42 (by ada (unverified))') as unknown,
    });
    expect((await surety('check', '--tool', 'guilty', '--server', 'elsewhere')).code).toBe(0);
    const recovered = await surety('recover', 'local/guilty');
    expect(recovered).toMatchObject({ code: 1, stderr: expect.stringContaining('surety reset') as unknown });
    expect(await ok('reset', 'local/gui*', '--yes', '--reason', 'solved')).toContain('guilty is TRUSTED.');
    expect((await surety('check', '--tool', 'guilty')).code).toBe(0);
    expect(await read('history', 'local/guilty')).toMatchObject([
      { kind: 'reset', detail: { reason: 'solved' } },
      { change: 'blocked' },
      { kind: 'block', detail: { by: 'ada (unverified)', reason: 'incident 42' } },
      { kind: 'success' },
    ]);
  });

  test('a pattern that matches nothing exits 1 and names it', async () => {
    await reported({ tool: 'almost_this', success: true });
    const { code, stderr } = await surety('reset', 'almost', '--yes');
    expect(code).toBe(1);
    expect(stderr).toContain('"almost"');
    expect(stderr).toContain('local/almost_this');
  });

  test('break glass allows what is blocked until it is closed', async () => {
    await reported({ tool: 'urgent', success: true });
    await ok('block', 'urgent', '--reason', 'x', '--yes');
    await ok('break-glass', '--for', '15m', '--reason', 'incident 43', '--yes');
    expect((await surety('check', '--tool', 'urgent')).stdout).toContain('break glass');
    expect(await ok('status')).toContain('BREAK GLASS');
    await ok('break-glass', '--close');
    expect((await surety('check', '--tool', 'urgent')).code).toBe(3);
  });
});

test('of a file of reports the bad lines are named and the others recorded', async () => {
  const input = '{"tool": "mixed", "success": true}\n{"tool": "mixed", "sucess": true}\n\nnonsense\n';
  const { code, stdout, stderr } = await runCli(['report', '--file', '-'], { env, input });
  expect({ code, stdout }).toEqual({ code: 1, stdout: 'Recorded 1, refused 2.\n' });
  expect(stderr).toMatch(/^line 2: .*"sucess"/m);
  expect(stderr).toMatch(/^line 4: /m);
});

test("names and messages of others cannot write on the operator's terminal", async () => {
  await reported({ tool: 'odd\u001b[2J\u0007\nname', error: 'bad\u001b]0;title\u0007', server: 'サーバー' });
  for (const args of [
    ['status', '--all'],
    ['history', '*odd*'],
    ['status', '*odd*'],
    ['explain', '*odd*'],
    ['reset', '*odd*', '--yes'],
  ]) {
    const stdout = await ok(...args);
    // eslint-disable-next-line no-control-regex -- that is what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
  }
});

test('rules are published after a look at what changes, and explain names the one that won', async () => {
  const file = join(NOWHERE, 'publish.json');
  const rules = { toolRules: { 'picky_*': { countThreshold: 1 }, picky_one: { countThreshold: 2 } } };
  writeFileSync(file, JSON.stringify(rules));
  const refused = await surety('rules', 'publish', file);
  expect(refused.code).toBe(2);
  expect(refused.stdout).toContain('toolRules["picky_one"]: absent → countThreshold 2');
  expect(await ok('rules', 'publish', file, '--yes', '--comment', 'why not')).toMatch(/Version \d+ is in force/);
  expect(await ok('rules', 'publish', file, '--yes')).toContain('nothing to publish');
  expect(await ok('rules', 'show')).toContain('why not');
  expect(await read('explain', 'picky_one', '--scope', 'api.example.com')).toMatchObject({
    rule: {
      level: 'tool',
      pattern: 'picky_one',
      candidates: [
        { pattern: 'picky_*', won: false },
        { pattern: 'picky_one', won: true },
        { level: 'default', won: false },
      ],
    },
    decision: { decision: 'allow' },
  });
});

test('a reader that has had enough does not keep rules from being published', async () => {
  const file = join(NOWHERE, 'unread.json');
  const rules = (await read('rules', 'show')) as { rules: object; version: number };
  writeFileSync(file, JSON.stringify({ ...rules.rules, maxLatenessSeconds: 4711 }));
  expect(await runUnread(['rules', 'publish', file, '--yes'], { env })).toEqual({ code: 0, stderr: '' });
  expect(await read('rules', 'show')).toMatchObject({
    version: rules.version + 1,
    rules: { maxLatenessSeconds: 4711 },
  });
  // What goes wrong is told by the exit code, whoever reads.
  expect(await runUnread(['rules', 'publish', file], { env })).toMatchObject({ code: 0 });
  writeFileSync(file, JSON.stringify({ ...rules.rules, maxLatenessSeconds: 4712 }));
  expect(await runUnread(['rules', 'publish', file], { env })).toMatchObject({ code: 2 });
});

test('the ledger replayed under the rules in force ends where the workflows are', async () => {
  const fail = { tool: 'replayed', args: { url: 'https://replay.example' }, error: 'HTTP 500' };
  await reported(fail, fail, fail);
  await state('replayed', 'ESCALATED');
  const stdout = await ok('simulate', '--from-ledger', '--since', '1h', '--tool', 'replayed');
  const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as object;
  expect(last).toMatchObject({ tool: 'replayed', scope: 'host:replay.example', state: 'ESCALATED', decision: 'ask' });
  const summary = await ok('simulate', '--from-ledger', '--since', '1h', '--tool', 'replayed', '--summary');
  expect(summary).toMatch(/^replayed +1 \(1\) +0 \(0\)/m);
});

test('the demo plays its three stories twice in a row, and leaves its tools trusted', async () => {
  for (let time = 0; time < 2; time += 1) {
    const told = await ok('demo');
    for (const expected of [
      'demo/http_request for api.example.com is ESCALATED.',
      'Still ESCALATED',
      'demo/http_request for api.example.com is TRUSTED again.',
      'demo/bash is BLOCKED.',
      'server demo-atlassian is ESCALATED.',
      'demo-github/search: allow',
    ]) {
      expect(told).toContain(expected);
    }
    expect(widest(told)).toBeLessThanOrEqual(80);
  }
  const { subjects } = (await read('status')) as { subjects: { server: string; state: string }[] };
  const demo = subjects.filter(({ server }) => server.startsWith('demo'));
  expect(demo.length).toBeGreaterThan(4);
  expect(demo.every(({ state: is }) => is === 'TRUSTED')).toBe(true);
});

test('the doctor finds everything well', async () => {
  const { code, stdout } = await surety('doctor');
  expect(stdout).toContain('✓ Workers');
  expect(stdout).not.toContain('✗');
  expect(code).toBe(0);
});

describe('without a worker', () => {
  let idle: Installation;
  beforeAll(async () => {
    idle = await createInstallation();
  });
  afterAll(() => idle.close());

  test('an order is kept, and whoever waits for it is told why nothing happens', async () => {
    const there = { env: environmentOf(idle) };
    await runCli(['report', '--tool', 'waiting', '--success'], there);
    const given = await runCli(['block', 'waiting', '--reason', 'x', '--yes', '--no-wait'], there);
    expect(given).toMatchObject({ code: 0, stdout: expect.stringContaining('1 order recorded') as unknown });
    const waited = await runCli(['reset', 'waiting', '--yes'], there);
    expect(waited.code).toBe(1);
    expect(waited.stderr).toContain('worker seems to be down');
    expect(waited.stderr).toContain('kept');
    expect((await runCli(['status'], there)).stdout).toContain('3 rows not applied yet');
    expect((await runCli(['doctor'], there)).stdout).toContain('✗ Workers: none is polling task queue surety');
    await idle.startWorker();
    await expect
      .poll(async () => (await runCli(['history', 'waiting', '--json'], there)).stdout, {
        timeout: 30_000,
        interval: 500,
      })
      .toContain('"blocked"');
  });

  test('rules of a newer Surety are told of; those before them hold', async () => {
    await idle.pool.query(`insert into rules (body, published_by) values ('{"someday": true}', 'the future')`);
    const there = { env: environmentOf(idle) };
    expect((await runCli(['status'], there)).stderr).toContain('Rules version 2 cannot be read');
    expect((await runCli(['doctor'], there)).stdout).toContain('✗ Rules: version 2');
  });

  test('a newer schema is refused', async () => {
    await idle.pool.query("insert into migration (number, name) values (9999, '9999-future.sql')");
    for (const args of [['status'], ['reset', '*', '--yes'], ['check', '--tool', 'x']]) {
      const { code, stderr } = await runCli(args, { env: environmentOf(idle) });
      expect(code).toBe(1);
      expect(stderr).toContain('9999');
    }
  });
});
