import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NOWHERE, outcomeOf, runCli, startCli, widest } from '../support/run-cli.ts';

// What needs no ledger: usage, exit codes, rules, simulations.

const COMMANDS =
  'up demo doctor status history explain check report reset block recover break-glass rules simulate'.split(' ');

function file(name: string, content: string): string {
  const path = join(NOWHERE, name);
  writeFileSync(path, content);
  return path;
}

function lines(...events: object[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

interface Line {
  at: number;
  state?: string;
  scope?: string | null;
  tool?: string | null;
  server?: string;
  decision?: string;
  successes?: number;
  touched: readonly { server: string; tool: string | null; state: string }[];
}

async function simulated(...events: object[]): Promise<Line[]> {
  const { code, stdout, stderr } = await runCli(['simulate', '-'], { input: lines(...events) });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

describe('usage', () => {
  test('help names every command and fits 80 columns', async () => {
    const { code, stdout } = await runCli(['--help']);
    expect(code).toBe(0);
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
    expect(widest(stdout)).toBeLessThanOrEqual(80);
  });

  test.each([
    ...['up', 'status', 'report', 'simulate', 'approvals', 'approve', 'deny', 'extend', 'grants', 'revoke'],
    ...['token', 'token create', 'token revoke', 'webhooks', 'webhooks add', 'webhooks test', 'webhooks replay'],
  ])('%s --help explains itself whatever the environment holds', async (command) => {
    const { code, stdout } = await runCli([...command.split(' '), '--help'], { env: { DATABASE_URL: 'nonsense' } });
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: surety ${command}`);
    // An example is one line to be copied, however long; and what heads our own commands does not head those of a command.
    expect(widest(stdout.replace(/^(?:Examples:|Events,)[\s\S]*/m, ''))).toBeLessThanOrEqual(80);
    expect(stdout).not.toContain('Run:');
  });

  test('--version is that of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect((await runCli(['--version'])).stdout.trim()).toBe(version);
  });

  test('an unknown command exits 2 and suggests the one that was meant', async () => {
    const { code, stderr } = await runCli(['statsu']);
    expect(code).toBe(2);
    expect(stderr).toContain('Did you mean status?');
  });

  test.each([
    [[]],
    [['check']],
    [['status', '--by', 'weekday']],
    [['report', '--tool', 'bash']],
    [['report', '--tool', 'bash', '--success', '--error', 'x']],
    [['report', '--success']],
    [['check', '--tool', 'bash', '--args', '{']],
    [['block', 'bash']],
    [['break-glass', '--for', '15m']],
    [['break-glass', '--for', 'ever', '--reason', 'x']],
    [['simulate']],
    [['simulate', '--from-ledger', '--since', 'yesterday']],
  ])('surety %j is a usage error: exit code 2, nothing on standard output', async (args: string[]) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr.trim()).not.toBe('');
  });

  test('without a ledger a command says how to start one', async () => {
    const { code, stderr } = await runCli(['status']);
    expect(code).toBe(1);
    expect(stderr).toContain('surety up');
  });

  test('a database that cannot be reached is named without its password', async () => {
    const env = { DATABASE_URL: 'postgres://somebody:hunter2@127.0.0.1:1/surety' };
    for (const args of [['status'], ['reset', '*', '--yes'], ['report', '--tool', 'x', '--success']]) {
      const { code, stdout, stderr } = await runCli(args, { env });
      expect(code).toBe(1);
      expect(stdout + stderr).not.toContain('hunter2');
    }
  });

  test('a gate that could learn nothing asks', async () => {
    const env = { DATABASE_URL: 'postgres://somebody:hunter2@127.0.0.1:1/surety' };
    expect((await runCli(['check', '--tool', 'bash'], { env })).code).toBe(4);
  });

  test('the variable that cannot be used is named', async () => {
    const { code, stderr } = await runCli(['status'], { env: { SURETY_UI_PORT: 'eighty' } });
    expect(code).toBe(1);
    expect(stderr).toContain('SURETY_UI_PORT is "eighty"');
  });

  test('the doctor says what is missing', async () => {
    const { code, stdout } = await runCli(['doctor', '--json']);
    expect(code).toBe(1);
    const { findings } = JSON.parse(stdout) as { findings: { verdict: string; what: string; wayOut?: string }[] };
    expect(findings.find(({ what }) => what === 'Stack')).toMatchObject({ verdict: 'failed' });
  });

  test('where trust is kept per session a report is refused, not lost', async () => {
    const { code, stderr } = await runCli(['report', '--tool', 'x', '--success'], { env: { SURETY_PERSIST: 'false' } });
    expect(code).toBe(1);
    expect(stderr).toContain('per session');
  });
});

describe('rules validate', () => {
  test('names the path of every offending value and exits 1', async () => {
    const bad = file(
      'bad.json',
      JSON.stringify({ defaultRule: { countThreshold: 0 }, toolRules: { bash: { risk: 'huge' } }, extra: 1 }),
    );
    const { code, stderr } = await runCli(['rules', 'validate', bad]);
    expect(code).toBe(1);
    expect(stderr).toContain('defaultRule.countThreshold');
    expect(stderr).toContain('toolRules.bash.risk');
    expect(stderr).toContain('"extra"');
    const json = await runCli(['rules', 'validate', bad, '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ valid: false, complaints: { length: 3 } });
  });

  test.each([
    ['is not JSON', '{'],
    ['has no valid rules', '[]'],
  ])('a file that %s is named', async (what, content) => {
    const { code, stderr } = await runCli(['rules', 'validate', file('odd.json', content)]);
    expect(code).toBe(1);
    expect(stderr).toContain(what);
  });

  test('surety.json of the directory is found; an empty one is valid', async () => {
    expect((await runCli(['rules', 'validate'])).code).toBe(1);
    const good = file('good.json', '{}');
    expect((await runCli(['rules', 'validate', good])).code).toBe(0);
    expect((await runCli(['rules', 'validate'], { cwd: 'examples' })).stdout).toContain('surety.json is valid');
  });
});

describe('simulate', () => {
  const http = { tool: 'http_request', args: { url: 'https://api.example.com/data' } };
  const unavailable = { ...http, success: false, result: { status: 503 } };

  test('a service degrades, is tried again and earns trust back', async () => {
    const seen = await simulated(
      { at: 0, ...unavailable },
      { at: 60, ...unavailable },
      { at: 120, ...unavailable },
      { at: 180, ...unavailable },
      { at: 2000, idle: true },
      { at: 2010, ...http, result: { status: 200 } },
      { at: 2020, ...http, result: { status: 200 } },
      { at: 2030, ...http, result: { status: 200 } },
    );
    expect(seen.map(({ state }) => state)).toEqual([
      ...['TRUSTED', 'TRUSTED', 'ESCALATED', 'ESCALATED', 'RECOVERING'],
      ...['RECOVERING', 'RECOVERING', 'TRUSTED'],
    ]);
    expect(seen.map(({ decision }) => decision)).toEqual([
      ...['allow', 'allow', 'ask', 'ask', 'ask', 'ask', 'ask', 'allow'],
    ]);
    expect(seen[4]?.touched).toMatchObject([{ state: 'RECOVERING' }]);
    expect(seen[2]?.scope).toBe('host:api.example.com');
  });

  test('permission failures pass; a dangerous command that ran blocks until a reset', async () => {
    const bash = (command: string) => ({ tool: 'bash', args: { command }, error: 'Permission denied' });
    const seen = await simulated(
      { at: 0, ...bash('rm /protected/file') },
      { at: 1, ...bash('cat /protected/secrets') },
      { at: 2, ...bash('sudo rm -rf /') },
      { at: 90_000, tool: 'bash', args: { command: 'ls' }, success: true },
      { at: 90_001, reset: 'bash' },
    );
    expect(seen.map(({ state }) => state)).toEqual(['TRUSTED', 'TRUSTED', 'BLOCKED', 'BLOCKED', 'TRUSTED']);
    expect(seen[3]?.decision).toBe('deny');
  });

  test('two timeouts escalate one server alone', async () => {
    const timeout = { error: 'Request timed out' };
    const seen = await simulated(
      { at: 0, server: 'atlassian', tool: 'search', ...timeout },
      { at: 60, server: 'atlassian', tool: 'create_issue', ...timeout },
      { at: 61, server: 'github', tool: 'search', success: true },
    );
    expect(seen[1]).toMatchObject({ state: 'ESCALATED', server: 'atlassian', tool: null, decision: 'ask' });
    expect(seen[2]?.decision).toBe('allow');
  });

  test.each([
    ['{"at": 2, "tool": "x", "sucess": true}', '"sucess"'],
    ['{"at": -1, "idle": true}', 'at: '],
    ['{"at": 2, "reset": {"tool": 3}}', 'reset.tool: '],
    ['{"at": "two", "tool": "x"}', 'at: '],
    ['{"at": 2, "tool": "x", "severity": "awful"}', 'severity: '],
    ['{"at": 2}', 'tool: '],
    ['{"at": 2, "restart": true, "tool": "x"}', '"tool"'],
    ['[]', 'expected object'],
    ['{', 'not JSON'],
  ])('the line %s is refused by number and field, those before it stand', async (line, complaint) => {
    const { code, stdout, stderr } = await runCli(['simulate', '-'], {
      input: `${lines({ at: 1, tool: 'x', success: true })}\n${line}\n${lines({ at: 3, tool: 'x', success: true })}`,
    });
    expect(code).toBe(1);
    expect(stderr).toContain('line 3');
    expect(stderr).toContain(complaint);
    expect(stdout.trim().split('\n')).toHaveLength(1);
  });

  test('the clock never goes back, events may', async () => {
    const seen = await simulated(
      { at: 1000, ...unavailable },
      { at: 990, ...unavailable },
      { at: 995, ...unavailable },
      { at: 10, idle: true },
    );
    expect(seen.map(({ state }) => state)).toEqual(['TRUSTED', 'TRUSTED', 'ESCALATED', undefined]);
  });

  test('rules are taken from the file that is named', async () => {
    const rules = file('one.json', '{"defaultRule": {"countThreshold": 1}}');
    const { stdout } = await runCli(['simulate', '--rules', rules, '-'], { input: lines({ at: 0, ...unavailable }) });
    expect(JSON.parse(stdout)).toMatchObject({ state: 'ESCALATED' });
  });

  test('the summary counts a relapse, and what the gate would have answered before each call', async () => {
    const rules = file('relapse.json', '{"defaultRule": {"countThreshold": 1}}');
    const input = lines(
      { at: 0, ...unavailable },
      { at: 4000, ...unavailable },
      { at: 4001, ...http, result: { status: 200 } },
      { at: 5000, reset: 'http_request' },
    );
    const { stdout } = await runCli(['simulate', '--rules', rules, '--summary', '-'], { input });
    expect(stdout).toMatch(/^http_request +2 +0 +83 min +1 +2 +0$/m);
    expect(widest(stdout)).toBeLessThanOrEqual(80);
  });

  test('a reader that leaves early is no error', async () => {
    const child = startCli(['simulate', '-']);
    child.stdin.on('error', () => undefined);
    const ended = outcomeOf(child);
    child.stdout.once('data', () => child.stdout.destroy());
    for (let at = 0; at < 5000; at += 1) child.stdin.write(lines({ at, tool: `t${at % 7}`, success: true }));
    child.stdin.end();
    expect((await ended).code).toBe(0);
  });
});
