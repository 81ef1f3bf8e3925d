import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/installation.ts';
import { runCli, startCli } from '../support/run-cli.ts';
import { serversOn, stackEnvironment } from '../stack/support.ts';

// `surety up` as a person meets it: one data directory, started and stopped several times.

const project = mkdtempSync(join(tmpdir(), 'surety-up-'));
const home = join(project, '.surety');
const rulesFile = join(project, 'surety.json');
let env: Record<string, string>;

beforeAll(async () => {
  env = await stackEnvironment(home);
});
afterAll(() => rm(project, { recursive: true, force: true }));

/** Starts it and keeps what it says. Ended at the latest with the test run. */
function up() {
  const child = startCli(['up'], { env, cwd: project });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  const says = (text: string) =>
    eventually(() => {
      if (!said.includes(text)) throw new Error(`expected ${JSON.stringify(text)} in:\n${said}`);
    }, 60_000);
  return { says, ended, said: () => said, signal: (name: NodeJS.Signals) => child.kill(name) };
}

function write(rules: unknown): void {
  // As editors do it: a new file takes the place of the old one.
  writeFileSync(`${rulesFile}.new`, JSON.stringify(rules));
  renameSync(`${rulesFile}.new`, rulesFile);
}

test('rules that cannot be used are refused before anything is started', async () => {
  write({ defaultRule: { countThreshold: 'three' } });
  const { code, stderr } = await runCli(['up'], { env, cwd: project });
  expect(code).toBe(1);
  expect(stderr).toContain('defaultRule.countThreshold');
  expect(serversOn(home)).toEqual([]);
});

test('says where everything is, publishes surety.json and every valid edit of it, and stops in order', async () => {
  write({ defaultRule: { countThreshold: 2 } });
  const running = up();
  await running.says('Ctrl-C stops everything');
  expect(running.said()).toMatch(/ready, after \d+\.\d s/);
  expect(running.said()).toContain('version 1 (./surety.json, watched)');
  expect(running.said()).toContain('npx surety demo');
  expect(running.said()).not.toMatch(/postgres:\/\/|password/);

  const second = await runCli(['up'], { env, cwd: project });
  expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('already running') as unknown });

  write({ defaultRule: { countThreshold: -1 } });
  await running.says('defaultRule.countThreshold');
  await running.says('Version 1 stays in force');
  write({ defaultRule: { countThreshold: 4 } });
  await running.says('in force as version 2');
  const shown = await runCli(['rules', 'show'], { env });
  expect(shown.stdout).toContain('defaultRule.countThreshold: 4');
  expect((await runCli(['doctor'], { env })).code).toBe(0);

  running.signal('SIGINT');
  running.signal('SIGINT');
  expect(await running.ended).toBe(0);
  expect(running.said()).toContain('Stopping in order');
  expect(serversOn(home)).toEqual([]);
});

test('keeps what it had, and ends with an error and the last log lines when a server dies', async () => {
  const running = up();
  await running.says('version 2 (./surety.json, watched)');
  const [victim] = serversOn(home);
  if (victim === undefined) throw new Error('no server runs');
  process.kill(victim, 'SIGKILL');
  expect(await running.ended).toBe(1);
  expect(running.said()).toMatch(/(Temporal|Postgres) ended \(signal SIGKILL\)\n.+/);
  expect(serversOn(home)).toEqual([]);
});
