import { mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { jsonOf, runCli } from '../support/run-cli.ts';

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
  expect(ran.stderr).toContain('trust, quota and kill switch are not consulted');
  expect(ran.stderr).toContain('err\n');
  expect(await runCli(['exec', '--', 'printf', '%s|', 'a b', "c'd"], alone)).toMatchObject({ stdout: "a b|c'd|" });
  expect(await runCli(['exec', '--stdin', '--', 'cat'], { ...alone, input: 'given' })).toMatchObject({
    stdout: 'given',
  });
});

it('refuses with 3, asks with 4, and tries nothing when dry', async () => {
  expect(await runCli(['exec', '--', 'sudo id'], alone)).toMatchObject({ code: 3, stdout: '' });
  expect(await runCli(['exec', '--', 'rm x'], alone)).toMatchObject({ code: 4, stdout: '' });
  expect(await runCli(['exec', '--dry-run', '--', 'rm x'], alone)).toMatchObject({ code: 4 });
  expect(await jsonOf(['exec', '--timeout', '1s', 'sleep 20'], alone)).toMatchObject({
    status: 'failed',
    envelope: { timedOut: true, exitCode: 124 },
  });
  const audit = readFileSync(join(home, 'audit', '0-000001.jsonl'), 'utf8');
  expect(audit).not.toContain('not-for-commands');
  expect(await runCli(['audit', 'verify'], alone)).toMatchObject({ code: 0 });
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

it('asks at the gate, and is stopped by the kill switch', async () => {
  const asked = await runCli(['exec', '--', 'rm x'], withLedger());
  expect(asked.code).toBe(4);
  expect(asked.stderr).toMatch(/surety approve [0-9a-f-]{36}/);
  expect(await runCli(['kill-switch', 'on'], withLedger())).toMatchObject({ code: 2 });
  expect(await runCli(['kill-switch', 'on', '--reason', 'drill'], withLedger())).toMatchObject({ code: 0 });
  expect(await jsonOf(['kill-switch', 'status'], withLedger())).toMatchObject({ isOn: true, reason: 'drill' });
  const refused = await runCli(['exec', '--', 'echo ran'], withLedger());
  expect(refused).toMatchObject({ code: 3, stdout: '' });
  expect(refused.stderr).toContain('drill');
  expect(await runCli(['kill-switch', 'off', '--reason', 'over'], withLedger())).toMatchObject({ code: 0 });
  expect(await runCli(['exec', '--', 'echo ran'], withLedger())).toMatchObject({ code: 0, stdout: 'ran\n' });
  const noted = await installation.pool.query("select 1 from audit where action = 'kill switch'");
  expect(noted.rowCount).toBe(2);
});
