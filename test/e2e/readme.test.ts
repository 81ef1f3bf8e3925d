import { execFile, execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';

// A newcomer: a clone in an empty directory, nothing cached by us, the README followed to the letter. Only the ports
// differ, because other tests hold the usual ones. `npm ci && npm test` is what runs this file.

const clone = mkdtempSync(join(tmpdir(), 'surety-clone-'));
const commands = [...readFileSync('README.md', 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block = '']) => block.trim().split('\n'))
  .map((line) => line.replace(/\s+#.*$/, ''));
let environment: NodeJS.ProcessEnv;
let stack: ChildProcess;
let said = '';

beforeAll(async () => {
  for (const file of execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    .trim()
    .split('\n')) {
    cpSync(file, join(clone, file), { recursive: true });
  }
  environment = {
    ...withoutOurs(process.env),
    SURETY_TEMPORAL_PORT: String(await freePort()),
    SURETY_UI_PORT: String(await freePort()),
    SURETY_POSTGRES_PORT: String(await freePort()),
    SURETY_HTTP_PORT: String(await freePort()),
  };
  stack = spawn('sh', ['-c', 'npm ci && exec npm start'], { cwd: clone, env: environment, detached: true });
  const ready = new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('Ctrl-C stops everything')) resolve();
    };
    stack.stdout?.on('data', hear);
    stack.stderr?.on('data', hear);
    stack.once('exit', () => reject(new Error(said)));
  });
  await ready;
}, 300_000);

afterAll(async () => {
  const ended = new Promise((resolve) => stack.once('exit', resolve));
  if (stack.pid !== undefined && stack.exitCode === null && stack.signalCode === null) {
    process.kill(-stack.pid, 'SIGINT');
    await ended;
  }
  rmSync(clone, { recursive: true, force: true });
}, 60_000);

test('the README shows commands, and this file knows them all', () => {
  expect(commands).toEqual([
    'npm ci && npm start',
    'npx surety demo',
    'npx surety status',
    'npx surety rules validate examples/surety.json',
    'npx surety simulate --rules examples/surety.json examples/events.jsonl',
    'npm run bench -- guard',
    'npm ci && npm test',
  ]);
});

test('npm ci && npm start says where to look and what to try', () => {
  expect(said).toContain('/namespaces/default/workflows');
  expect(said).toContain('npx surety demo');
});

test.each(commands.filter((command) => command.startsWith('npx')))('%s', async (command) => {
  const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: clone, env: environment });
  expect(stdout.trim()).not.toBe('');
});

test('npm run bench -- guard prints a table', async () => {
  // Whether the budget is met on this machine right now is not for a test to say: only that it was measured.
  const ran = promisify(execFile)('sh', ['-c', 'npm run bench -- guard || true'], { cwd: clone, env: environment });
  expect((await ran).stdout).toMatch(/guard \/ opossum fire .* <= 1/);
});

test.each([
  ['guarded-fetch', 'call 4: not made. A person would read:'],
  ['check-and-report', 'recorded as '],
])('examples/%s.ts runs', async (name, expected) => {
  const { stdout } = await promisify(execFile)('npx', ['tsx', `examples/${name}.ts`], { cwd: clone, env: environment });
  expect(stdout).toContain(expected);
});

test('Ctrl-C stops everything, and says so', async () => {
  const ended = new Promise((resolve) => stack.once('exit', resolve));
  process.kill(-(stack.pid ?? 0), 'SIGINT');
  await ended;
  const left = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(join(clone, '.surety')));
  expect(left).toEqual([]);
});

/** Neither what vitest puts into the environment, nor ours. */
function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^(SURETY|VITEST|NODE_ENV|TEMPORAL|DATABASE_URL|npm_|TEST)/.test(name)),
  );
}
