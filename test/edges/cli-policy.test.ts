import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';

const check = (...args: string[]) => runCli(['policy', 'check', ...args]);

describe('surety policy check', () => {
  test('exit codes: 0 allow, 3 deny, 4 ask, 2 usage', async () => {
    expect((await check("echo 'a; sudo b'")).code).toBe(0);
    expect((await check('sudo id')).code).toBe(3);
    expect((await check('rm -rf build')).code).toBe(4);
    expect((await check('rm -rf build', '--trust', 'trusted')).code).toBe(0);
    expect((await check('ls', '--trust', 'boundless')).code).toBe(2);
    expect((await check()).code).toBe(2);
    expect(await check(' ')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no command') as string,
    });
  });

  test('shows what it is about under the line it stands on', async () => {
    const { stdout } = await runCli(['policy', 'check', '-'], { input: 'make\nmake && sudo make install\n' });
    expect(stdout).toContain('Nobody can lift this');
    expect(stdout).toContain('  make && sudo make install\n          ^^^^^^^^^^^^^^^^^\ndeny: sudo is blocked (sudo)');
  });

  test('says what text and files come to together, and what either says', async () => {
    const { stdout, code } = await check('cat /etc/shadow');
    expect(code).toBe(3);
    expect(stdout).toMatch(/^deny, to whoever is provisional/);
    expect(stdout).toContain('By its text alone: allow.');
    expect(stdout).toMatch(/deny: \/etc\/shadow lies\s+outside/);
    const answered = await check('cat /etc/shadow', '--json');
    expect(answered.code).toBe(3);
    expect(JSON.parse(answered.stdout)).toMatchObject({
      verdict: 'deny',
      textVerdict: 'allow',
      unconditional: false,
      files: [{ path: '/etc/shadow', verdict: 'deny' }],
    });
    expect((await check('tool /etc/hostname', '--json')).code).toBe(4);
    expect((await check('sudo tool /etc/hostname', '--json')).code).toBe(3);
  });

  test('as JSON', async () => {
    const { stdout, code } = await check('cat x > /etc/y; sudo id', '--json');
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'deny',
      unconditional: true,
      trust: 'provisional',
      reasons: [{ because: 'sudo is blocked', start: 16, end: 23, rule: 'sudo', unconditional: true }],
      programs: ['cat', 'sudo', 'id'],
      paths: [
        { path: 'x', intent: 'read' },
        { path: '/etc/y', intent: 'write' },
      ],
    });
  });

  test('by the shell section of surety.json, and not by one that is not valid', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'surety-policy-'));
    writeFileSync(
      join(cwd, 'surety.json'),
      JSON.stringify({ shell: { deny: ['npm publish*'], allowedCommands: ['curl'] } }),
    );
    expect((await runCli(['policy', 'check', 'npm publish'], { cwd })).code).toBe(3);
    expect((await runCli(['policy', 'check', 'curl https://x'], { cwd })).code).toBe(0);
    writeFileSync(join(cwd, 'surety.json'), JSON.stringify({ shell: { deny: 'npm' } }));
    const { code, stderr } = await runCli(['policy', 'check', 'ls'], { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain('shell.deny');
  });
});
