import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { homeAt } from '../../src/home.ts';
import { writeStack } from '../../src/stack/stack-file.ts';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { trustedPlaces } from '../../src/execution/find-program.ts';
import { findSandbox } from '../../src/execution/sandbox.ts';
import { jsonOf, outcomeOf, runCli, runUnread, startCli } from '../support/run-cli.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await createInstallation();
});
afterAll(() => installation.close());

const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'surety-exec-')));
const home = mkdtempSync(join(tmpdir(), 'surety-exec-home-'));
const alone = { cwd, env: { SURETY_HOME: home, GITHUB_TOKEN: 'not-for-commands' } };
const withLedger = () => ({ cwd, env: { ...alone.env, DATABASE_URL: installation.databaseUrl } });

it('streams output and exits as the command does, and says what is not consulted', async () => {
  const ran = await runCli(['exec', '--', 'echo out; echo err >&2; echo "[$GITHUB_TOKEN]"; exit 5'], alone);
  expect(ran).toMatchObject({ code: 5, stdout: 'out\n[]\n' });
  expect(ran.stderr).toContain('trust and kill switch are not consulted');
  expect(ran.stderr).toContain('err\n');
  expect(await runCli(['exec', '--', 'printf', '%s|', 'a b', "c'd"], alone)).toMatchObject({ stdout: "a b|c'd|" });
  expect(await runCli(['exec', '--stdin', '--', 'cat'], { ...alone, input: 'given' })).toMatchObject({
    stdout: 'given',
  });
});

it('says what is missing', async () => {
  const nowhere = await runCli(['exec', '--cwd', 'nope', '--', 'ls'], alone);
  expect(nowhere).toMatchObject({ code: 1, stdout: '' });
  expect(nowhere.stderr).toContain('There is no directory nope to run it in.');
  const nothing = await runCli(['exec', '--', ''], alone);
  expect(nothing.code).toBe(2);
  expect(nothing.stderr).toContain('there is no command');
});

it('lets a command finish whose output nobody reads', async () => {
  const line =
    'for i in 1 2 3 4 5; do echo $i; echo $i >&2; done; sleep 0.2; echo more; echo done > finished.txt; exit 5';
  expect(await runUnread(['exec', '--', line], alone)).toMatchObject({ code: 5 });
  expect(existsSync(join(cwd, 'finished.txt'))).toBe(true);
  expect(await runUnread(['exec', '--', 'head -c 3000000 /dev/zero'], alone)).toMatchObject({ code: 0 });
  expect(readFileSync(join(home, 'audit', '0-000001.jsonl'), 'utf8')).toContain('head -c 3000000');
});

it('refuses with 3, asks with 4, and tries nothing when dry', async () => {
  expect(await runCli(['exec', '--', 'sudo id'], alone)).toMatchObject({ code: 3, stdout: '' });
  expect(await runCli(['exec', '--', 'rm x'], alone)).toMatchObject({ code: 4, stdout: '' });
  expect(await runCli(['exec', '--dry-run', '--', 'rm x'], alone)).toMatchObject({ code: 4 });
  expect(await runCli(['exec', '--dry-run', '--', 'cat /etc/shadow'], alone)).toMatchObject({ code: 3 });
  expect(await runCli(['exec', '--dry-run', '--', 'echo x'], alone)).toMatchObject({ code: 0, stdout: 'allow\n' });
  expect(await jsonOf(['exec', '--timeout', '1s', 'sleep 20'], alone)).toMatchObject({
    status: 'failed',
    envelope: { timedOut: true, exitCode: 124 },
  });
  const audit = readFileSync(join(home, 'audit', '0-000001.jsonl'), 'utf8');
  expect(audit).not.toContain('not-for-commands');
  expect(await runCli(['audit', 'verify'], alone)).toMatchObject({ code: 0 });
});

it.each([
  ['SIGHUP', 129],
  ['SIGINT', 130],
] as const)('ends a command and writes its line on %s, and exits as shells expect', async (signal, code) => {
  const closed = { cwd, env: { SURETY_HOME: mkdtempSync(join(tmpdir(), 'surety-exec-closed-')) } };
  const running = startCli(['exec', '--', `touch begun-${signal}; sleep 100`], closed);
  const outcome = outcomeOf(running);
  await vi.waitFor(() => expect(existsSync(join(cwd, `begun-${signal}`))).toBe(true), 20_000);
  running.kill(signal);
  expect(await outcome).toMatchObject({ code });
  const [line] = readFileSync(join(closed.env.SURETY_HOME, 'audit', '0-000001.jsonl'), 'utf8').split('\n');
  expect(JSON.parse(line ?? '')).toMatchObject({ tool: 'shell', result: 'cancelled' });
});

it('refuses input that is no text', async () => {
  const child = startCli(['exec', '--stdin', '--', 'cat'], alone);
  child.stdin.end(Buffer.from([0x61, 0xff, 0x62]));
  expect(await outcomeOf(child)).toMatchObject({ code: 2, stderr: expect.stringContaining('no text') as string });
});

it('runs nothing while a ledger that is there does not answer', async () => {
  const stopped = mkdtempSync(join(tmpdir(), 'surety-exec-stopped-'));
  mkdirSync(join(stopped, 'postgres'));
  const env = { SURETY_HOME: stopped };
  const refused = await runCli(['exec', '--', 'echo ran'], { cwd, env });
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('--offline');
  expect(await runCli(['exec', '--offline', '--', 'echo ran'], { cwd, env })).toMatchObject({ stdout: 'ran\n' });
});

it('says where it looked for the ledger if DATABASE_URL is the project’s own', async () => {
  const env = { ...alone.env, DATABASE_URL: 'postgres://app:s3cret@127.0.0.1:1/app' };
  for (const command of [
    ['exec', '--', 'echo ran'],
    ['files', 'read', 'x'],
  ]) {
    const refused = await runCli(command, { cwd, env });
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toContain('looked for at 127.0.0.1:1/app, which DATABASE_URL names');
    expect(refused.stderr).toContain('SURETY_DATABASE_URL');
    expect(refused.stderr).not.toContain('s3cret');
  }
  const named = { ...env, SURETY_DATABASE_URL: installation.databaseUrl };
  expect(await runCli(['exec', '--', 'echo ran'], { cwd, env: named })).toMatchObject({ code: 0, stdout: 'ran\n' });
});

it('goes to the stack that runs on the data directory before DATABASE_URL', async () => {
  const running = mkdtempSync(join(tmpdir(), 'surety-exec-running-'));
  const facts = { databaseUrl: installation.databaseUrl, temporalAddress: '127.0.0.1:1', namespace: 'default' };
  await writeStack(homeAt(running), facts);
  const env = { SURETY_HOME: running, DATABASE_URL: 'postgres://app@127.0.0.1:1/app' };
  const ran = await runCli(['exec', '--', 'echo ran'], { cwd, env });
  expect(ran).toMatchObject({ code: 0, stdout: 'ran\n' });
  expect(ran.stderr).not.toContain('not consulted');
});

it('counts files and fetches like commands, and blocks them with the rest', async () => {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'surety-exec-quota-')));
  writeFileSync(join(project, 'surety.json'), JSON.stringify({ maxToolCallsPerSession: 2 }));
  writeFileSync(join(project, 'note.txt'), 'note');
  const there = { ...withLedger(), cwd: project };
  const session = ['--session', 'two-calls'];
  expect(await runCli(['files', 'read', 'note.txt', ...session], there)).toMatchObject({ code: 0, stdout: 'note' });
  expect(await runCli(['exec', ...session, '--', 'echo ran'], there)).toMatchObject({ code: 0 });
  const blocked = await runCli(['files', 'read', 'note.txt', ...session], there);
  expect(blocked).toMatchObject({ code: 3, stdout: '' });
  expect(blocked.stderr).toMatch(/refused \(quota\): quota_blocked: 2 of 2 calls are used until 20\d\d-/);
  expect(await jsonOf(['fetch', 'http://127.0.0.1:9/', '--allow-private', ...session], there)).toMatchObject({
    status: 'refused',
    refusal: { stage: 'quota', code: 'quota_blocked' },
  });
});

it('tells what confines commands by the rules in force', async () => {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'surety-exec-doctor-')));
  const sandbox = async (runner: object) => {
    writeFileSync(join(project, 'surety.json'), JSON.stringify({ runner }));
    const { stdout } = await runCli(['doctor', '--json'], { ...alone, cwd: project });
    const { findings } = JSON.parse(stdout) as { findings: { what: string; verdict: string; found: string }[] };
    return findings.find(({ what }) => what === 'Sandbox');
  };
  expect(await sandbox({ sandbox: 'off' })).toMatchObject({ verdict: 'note', found: 'runner.sandbox is off' });
  // What a command has put first on the search path confines nobody, and says nothing about whether it works.
  writeFileSync(join(project, 'bwrap'), '#!/bin/sh\ntrue', { mode: 0o755 });
  writeFileSync(join(project, 'surety.json'), JSON.stringify({ runner: { sandbox: 'required' } }));
  const env = { ...alone.env, PATH: `${project}:${process.env['PATH'] ?? ''}` };
  const required = await runCli(['doctor'], { cwd: project, env });
  const found = await findSandbox(await trustedPlaces([], []));
  expect(required.stdout).toContain(
    found.kind === 'none'
      ? '✗ Sandbox: runner.sandbox is required, so no command runs'
      : `✓ Sandbox: ${found.kind} (${found.program})`,
  );
  expect(await sandbox({ sandbox: 'maybe' })).toMatchObject({ verdict: 'failed' });
});

it('asks at the gate, and is stopped by the kill switch', async () => {
  const asked = await runCli(['exec', '--', 'rm x'], withLedger());
  expect(asked.code).toBe(4);
  expect(asked.stderr).toMatch(/surety approve [0-9a-f-]{36}/);
  expect(await runCli(['kill-switch', 'on'], withLedger())).toMatchObject({ code: 2 });
  expect(await runCli(['kill-switch', 'on', '--reason', 'drill'], withLedger())).toMatchObject({ code: 0 });
  expect(await jsonOf(['kill-switch', 'status'], withLedger())).toMatchObject({ isOn: true, reason: 'drill' });
  // Whatever it is that would run, it takes the same way.
  for (const call of [
    ['exec', '--', 'echo ran'],
    ['files', 'read', 'note.txt'],
    ['files', 'write', 'new.txt', '--text', 'x'],
    ['fetch', 'http://127.0.0.1:9/', '--allow-private'],
  ]) {
    const refused = await runCli(call, withLedger());
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toContain('drill');
  }
  expect(existsSync(join(cwd, 'new.txt'))).toBe(false);
  expect(await runCli(['kill-switch', 'off', '--reason', 'over'], withLedger())).toMatchObject({ code: 0 });
  expect(await runCli(['exec', '--', 'echo ran'], withLedger())).toMatchObject({ code: 0, stdout: 'ran\n' });
  const noted = await installation.pool.query("select 1 from audit where action = 'kill switch'");
  expect(noted.rowCount).toBe(2);
});
