import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';

function place(): { readonly cwd: string; readonly home: string } {
  const base = mkdtempSync(join(tmpdir(), 'surety-odd-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const cwd = join(base, 'project');
  mkdirSync(cwd);
  return { cwd, home: join(base, 'home') };
}

const exec = (cwd: string, home: string, ...more: readonly string[]) =>
  runCli(['exec', ...more, '--', 'echo ran'], { cwd, env: { SURETY_HOME: home } });

test.each<[string, (file: string) => unknown]>([
  ['a directory', (file) => mkdirSync(file)],
  ['a pipe that nobody writes to', (file) => execFileSync('mkfifo', [file])],
  ['a device without an end', (file) => symlinkSync('/dev/zero', file)],
])('surety.json that is %s is told, and nothing runs', async (_, make) => {
  const { cwd, home } = place();
  make(join(cwd, 'surety.json'));
  const { code, stdout, stderr } = await exec(cwd, home);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('surety.json cannot be read: it is no file');
});

test('a mark in front of surety.json is none of its text', async () => {
  const { cwd, home } = place();
  writeFileSync(join(cwd, 'surety.json'), '\ufeff{"shell": {"deny": ["echo *"]}}');
  expect((await exec(cwd, home)).code).toBe(3);
});

test('a data directory that is a file is no bug of ours', async () => {
  const { cwd, home } = place();
  writeFileSync(home, '');
  for (const command of [
    ['audit', 'tail'],
    ['audit', 'verify'],
    ['exec', '--', 'true'],
  ]) {
    const { code, stderr } = await runCli(command, { cwd, env: { SURETY_HOME: home } });
    expect(code).toBe(1);
    expect(stderr).toContain('ENOTDIR');
    expect(stderr).not.toContain('bug in surety');
  }
});

test('rules that keep commands off the network hold whatever the command line says', async () => {
  const { cwd, home } = place();
  writeFileSync(join(cwd, 'surety.json'), '{"runner": {"network": false}}');
  const { code, stderr } = await exec(cwd, home, '--network', 'on');
  expect(code).toBe(1);
  expect(stderr).toContain('surety.json keeps commands off the network');
});
