import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { jsonOf, runCli, runUnread } from '../support/run-cli.ts';

// One project, used from file to audit: every `surety files` call leaves a line.

const base = mkdtempSync(join(tmpdir(), 'surety-cli-files-'));
const cwd = join(base, 'project');
const env = { SURETY_HOME: join(base, 'home') };
const cli = (args: readonly string[], input?: string) =>
  runCli(args, { cwd, env, ...(input === undefined ? {} : { input }) });

let installation: Installation;
beforeAll(async () => {
  mkdirSync(cwd);
  writeFileSync(join(base, 'outside.txt'), 'OUTSIDE');
  writeFileSync(join(cwd, '.env'), 'KEY=1');
  symlinkSync('../outside.txt', join(cwd, 'link'));
  writeFileSync(join(cwd, 'surety.json'), JSON.stringify({ file: { denyRead: ['.env'] } }));
  installation = await createInstallation();
});
afterAll(() => installation.close());

describe('surety files', () => {
  test('check tells verdict and rule and touches nothing', async () => {
    expect(await jsonOf(['files', 'check', 'read', '.env'], { cwd, env })).toMatchObject({
      verdict: 'deny',
      rule: 'denyRead .env',
    });
    expect(await jsonOf(['files', 'check', 'write', 'surety.json'], { cwd, env })).toMatchObject({
      verdict: 'deny',
      rule: 'kept',
    });
    expect(await cli(['files', 'check', 'read', 'new.txt'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('no such file') as string,
    });
    expect(await cli(['files', 'check', 'write', 'new.txt'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('allow') as string,
    });
    expect((await cli(['files', 'check', 'write', 'link'])).code).toBe(3);
    expect((await cli(['files', 'check', 'burn', 'link'])).code).toBe(2);
    expect(readdirSync(base).sort()).toEqual(['outside.txt', 'project']);
  });

  test('writes, reads, edits, copies, moves, searches and deletes', async () => {
    expect((await cli(['files', 'write', 'a.txt'], 'one\ntwo\n')).code).toBe(0);
    expect((await cli(['files', 'edit', 'a.txt', '--old', 'two', '--new', 'three'])).code).toBe(0);
    expect((await cli(['files', 'read', 'a.txt'])).stdout).toBe('one\nthree\n');
    expect((await cli(['files', 'copy', 'a.txt', 'b.txt'])).code).toBe(0);
    expect((await cli(['files', 'copy', 'a.txt', 'b.txt'])).code).toBe(1);
    expect((await cli(['files', 'move', 'b.txt', 'c.txt'])).code).toBe(0);
    expect(await jsonOf(['files', 'glob', '*.txt'], { cwd, env })).toMatchObject({
      paths: [join(cwd, 'a.txt'), join(cwd, 'c.txt')],
    });
    expect((await cli(['files', 'grep', 'thr.e'])).stdout).toContain('a.txt:2:three');
    expect((await cli(['files', 'delete', 'c.txt'])).code).toBe(0);
    expect((await cli(['files', 'read', 'link'])).code).toBe(3);
    expect((await cli(['files', 'write', 'link', '--text', 'x'])).code).toBe(3);
    expect(readFileSync(join(base, 'outside.txt'), 'utf8')).toBe('OUTSIDE');
  });

  test('an audit that cannot be written keeps the answer back', async () => {
    const { code, stdout, stderr } = await runCli(['files', 'read', 'a.txt'], {
      cwd,
      env: { SURETY_HOME: '/dev/null/home' },
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('The audit in /dev/null/home/audit cannot be written');
  });
});

describe('surety audit', () => {
  test('every call above has its line, refusals too, and the chain verifies', async () => {
    expect(await jsonOf(['audit', 'verify'], { cwd, env })).toMatchObject({ ok: true, lines: 11, files: 1 });
    const exported = (await cli(['audit', 'export', '--since', '1h'])).stdout.trim().split('\n');
    expect(
      exported.map((line) => (JSON.parse(line) as { result: string }).result).filter((result) => result === 'blocked'),
    ).toHaveLength(2);
    expect((await cli(['audit', 'export', '--format', 'csv'])).stdout.split('\n')[0]).toMatch(
      /^ts,tool,result,exit_code/,
    );
    expect((await cli(['audit', 'export', '--until', '2020-01-01'])).stdout).toBe('');
    expect((await cli(['audit', 'export', '--since', '1h', '--json'])).stdout.trim().split('\n')).toEqual(exported);
    expect(await cli(['audit', 'export', '--json', '--format', 'csv'])).toMatchObject({ code: 2 });
    expect((await cli(['audit', 'tail', '-n', '1'])).stdout).toContain('write');
    // In one order with everything else, and written like it.
    expect(JSON.parse(exported.at(-1) ?? '')).toMatchObject({
      ...{ tool: 'write', server: 'local', trust: 'not consulted', approved_by: null, error_phase: 'policy' },
      call_id: expect.any(String) as string,
    });
  });

  test('a line is printed as it was written, and says what a call was about', async () => {
    const own = { cwd, env: { SURETY_HOME: join(base, 'as-written') } };
    await runCli(['files', 'write', 'full/x', '--parents', '--text', 'x'], own);
    const refused = await runCli(['files', 'delete', 'full'], own);
    expect(refused.stderr).toContain('full is a directory and not empty: with recursive, what is in it is deleted');
    const asked = await runCli(['files', 'delete', 'full', '--recursive'], own);
    expect(asked).toMatchObject({ code: 4, stderr: expect.stringContaining('to be confirmed') as string });
    const [, failed = ''] = (await runCli(['audit', 'tail'], own)).stdout.split('\n');
    expect(failed).toMatch(/error +delete {2}full {2}/);
    const audit = join(base, 'as-written', 'audit');
    const [file = ''] = readdirSync(audit).filter((name) => name.endsWith('.jsonl'));
    const written = readFileSync(join(audit, file), 'utf8');
    expect((await runCli(['audit', 'tail', '--json'], own)).stdout).toBe(written);
    expect((await runCli(['audit', 'export'], own)).stdout).toBe(written);
  });

  test('what has no end ends when nobody reads any more', async () => {
    const own = { cwd, env: { SURETY_HOME: join(base, 'own-home') } };
    await runCli(['files', 'read', 'surety.json'], own);
    expect(await runUnread(['audit', 'tail', '--follow'], own)).toEqual({ code: 0, stderr: '' });
    expect(await runUnread(['audit', 'export'], own)).toEqual({ code: 0, stderr: '' });
  });

  test('index can be run again and again, and follows the files', async () => {
    const indexed = () => jsonOf(['audit', 'index'], { cwd, env: { ...env, DATABASE_URL: installation.databaseUrl } });
    expect(await indexed()).toEqual({ files: 1, lines: 11, written: 11, removed: 0 });
    expect(await indexed()).toMatchObject({ written: 0, removed: 0 });
    await installation.pool.query("update audit_index set hash = 'x' where line_offset = 0");
    const gone = "insert into audit_index values ('9-000001.jsonl', 0, 'x', now(), 'x', 'x', $1)";
    const origin = readFileSync(join(env.SURETY_HOME, 'audit', 'origin'), 'utf8').trim();
    await installation.pool.query(gone, [origin]);
    await installation.pool.query(gone, ['another data directory']);
    expect(await indexed()).toMatchObject({ written: 1, removed: 1 });
    const others = await installation.pool.query("select 1 from audit_index where origin = 'another data directory'");
    expect(others.rowCount).toBe(1);
    await installation.pool.query("update audit_index set outcome = 'success' where outcome = 'blocked'");
    expect(await indexed()).toMatchObject({ written: 2, removed: 0 });
    const found = await installation.pool.query(
      "select tool from audit_index where outcome = 'blocked' order by line_offset",
    );
    expect(found.rows).toEqual([{ tool: 'read' }, { tool: 'write' }]);
  });

  test('calls beside a ledger can be found there, and which lie in another data directory', async () => {
    const found = (own: object, ...args: readonly string[]) =>
      runCli(['audit', 'find', ...args], { cwd, env: { ...own, DATABASE_URL: installation.databaseUrl } });
    const here = { SURETY_HOME: join(base, 'beside-a-ledger') };
    const call = (path: string) =>
      runCli(['files', 'read', path], { cwd, env: { ...here, DATABASE_URL: installation.databaseUrl } });
    expect([(await call('surety.json')).code, (await call('.env')).code]).toEqual([0, 3]);
    const written = (await runCli(['audit', 'tail', '--json'], { cwd, env: here })).stdout;
    expect((await found(here, '--tool', 'read', '--since', '1h', '-n', '2', '--json')).stdout).toBe(written);
    expect((await found(here, '--result', 'blocked', '-n', '1')).stdout).toMatch(/ blocked +read {2}\.env {2}/);
    expect((await found(env, '--result', 'blocked', '-n', '1')).stdout).toMatch(
      /blocked +read {2}\(in data directory [\w-]+: 0-000001\.jsonl, byte \d+\)/,
    );
    expect((await found(here, '--result', 'nonsense')).code).toBe(2);
    expect((await found(here, '--tool', 'nobody')).stdout).toBe('No such call has been recorded.\n');
  });

  test('verify names the place of a break and exits 1', async () => {
    const file = join(env.SURETY_HOME, 'audit', '0-000001.jsonl');
    writeFileSync(file, readFileSync(file, 'utf8').replace('c.txt', 'd.txt'));
    const { code, stderr } = await cli(['audit', 'verify']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^0-000001\.jsonl:6: it is not as it was written$/m);
  });
});
