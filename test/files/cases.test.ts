import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, linkSync, lstatSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FileSection } from '../../src/domain/files/files.schema.ts';
import { checkOperation, checkPath } from '../../src/execution/files/check.ts';
import type { FileOperation } from '../../src/execution/files/check.ts';
import { ANCHORING } from '../../src/execution/files/handle.ts';
import { deletePath, movePath } from '../../src/execution/files/move.ts';
import { readFile } from '../../src/execution/files/read.ts';
import type { FileRefusal } from '../../src/execution/files/refusal.ts';
import type { FileSandbox } from '../../src/execution/files/sandbox.ts';
import { globPaths, grepFiles } from '../../src/execution/files/search.ts';
import { copyFile, editFile, writeFile } from '../../src/execution/files/write.ts';
import cases from '../fixtures/files.json' with { type: 'json' };
import { growTree } from './tree.ts';
import type { Tree } from './tree.ts';

let tree: Tree;
beforeEach(() => {
  tree = growTree();
});
afterEach(() => {
  tree.remove();
});

type Result = { readonly ok: true } | FileRefusal;

const RUN: Readonly<Record<string, (sandbox: FileSandbox, path: string, to: string) => Promise<Result>>> = {
  read: (sandbox, path) => readFile(sandbox, path),
  write: (sandbox, path) => writeFile(sandbox, path, 'escaped'),
  edit: (sandbox, path) => editFile(sandbox, path, { old: 'KEY', new: 'NOKEY' }),
  copy: (sandbox, path, to) => copyFile(sandbox, path, to),
  move: (sandbox, path, to) => movePath(sandbox, path, to),
  delete: (sandbox, path) => deletePath(sandbox, path, { recursive: true }),
  glob: (sandbox, path) => globPaths(sandbox, '**', { path }),
  grep: (sandbox, path) => grepFiles(sandbox, 'secret', { path }),
};

const modes = ANCHORING === 'handles' ? (['handles', 'paths'] as const) : (['paths'] as const);

test('of edits to one file at the same time none is done and lost', async () => {
  const sandbox = await tree.open(FileSection.parse({}));
  const words = Array.from({ length: 20 }, (_, nth) => `word${nth}.`);
  await writeFile(sandbox, 'many.txt', words.join('\n'));
  symlinkSync('many.txt', join(tree.root, 'many-link.txt'));
  const edits = await Promise.all(
    words.map((word, nth) =>
      editFile(sandbox, nth % 2 === 0 ? 'many.txt' : 'many-link.txt', { old: word, new: word.toUpperCase() }),
    ),
  );
  expect(edits.every(({ ok }) => ok)).toBe(true);
  expect(tree.text('root/many.txt')).toBe(words.join('\n').toUpperCase());
});

test('of writes to one file at the same time each is done, made or replaced', async () => {
  const sandbox = await tree.open(FileSection.parse({}));
  const contents = Array.from({ length: 20 }, (_, nth) => `version ${nth}`);
  const written = await Promise.all(contents.map((content) => writeFile(sandbox, 'same.txt', content)));
  expect(written.map(({ ok }) => ok)).toEqual(contents.map(() => true));
  expect(contents).toContain(tree.text('root/same.txt'));
});

test('a long file is searched as far as it may be read, and the others all the same', async () => {
  const sandbox = { ...(await tree.open(FileSection.parse({}))), maxReadBytes: 1000 };
  writeFileSync(join(tree.root, '0-long.txt'), `needle\n${'x\n'.repeat(1000)}needle`);
  writeFileSync(join(tree.root, '1-short.txt'), 'needle\nneedle');
  const found = await grepFiles(sandbox, 'needle');
  expect(found).toMatchObject({ ok: true, cut: 1, truncated: false });
  expect(found.ok && found.matches.map(({ line }) => line)).toEqual([1, 1, 2]);
});

describe.each(modes)('held by %s', (anchoring) => {
  test.each(cases)('$id', async ({ op, path, to, file, deep, expect: expected }) => {
    const before = { outside: tree.text('outside/secret.txt'), sibling: tree.text('root-evil/x.txt') };
    const parsed = FileSection.safeParse(file ?? {});
    if (expected === 'config_error') {
      expect(parsed.success).toBe(false);
      return;
    }
    const sandbox = await tree.open(parsed.data, anchoring);
    const given = path.replace('$ROOT', tree.root);
    const check = await checkPath(sandbox, op as FileOperation, given);
    const run = RUN[op];
    if (run === undefined) throw new Error(`no operation ${op}`);
    const result = await run(sandbox, given, to ?? '');
    expect(result.ok ? 'allowed' : result.category).toBe(expected);
    const said = { allowed: 'allow', policy_blocked: deep === true ? 'allow' : 'deny' }[expected];
    if (said !== undefined) expect(check.verdict).toBe(said);
    expect({ outside: tree.text('outside/secret.txt'), sibling: tree.text('root-evil/x.txt') }).toEqual(before);
    expect(readdirSync(join(tree.base, 'outside'))).toEqual(['secret.txt']);
  });

  test('a search does not follow a link to a directory, and names no denied file', async () => {
    const sandbox = await tree.open({ denyRead: ['secrets'] }, anchoring);
    const found = await globPaths(sandbox, '**');
    if (!found.ok) throw new Error(found.because);
    expect(found.paths.filter((path) => path.includes('link_dir/') || path.includes('secrets'))).toEqual([]);
    expect(found.denied).toBe(1);
    const grepped = await grepFiles(sandbox, 'secret|inside');
    if (!grepped.ok) throw new Error(grepped.because);
    expect(grepped.matches.map(({ text }) => text)).toEqual(['inside a', 'inside readme']);
  });

  test.skipIf(process.platform === 'win32')('FIFOs and devices are refused at once', async () => {
    execFileSync('mkfifo', [join(tree.root, 'fifo')]);
    symlinkSync('fifo', join(tree.root, 'to-fifo'));
    const sandbox = await tree.open({}, anchoring);
    for (const path of ['fifo', 'to-fifo']) {
      for (const result of [
        await readFile(sandbox, path),
        await writeFile(sandbox, path, 'x'),
        await grepFiles(sandbox, 'x', { path }),
      ]) {
        expect(result).toMatchObject({ ok: false, because: expect.stringContaining('FIFO') as string });
      }
      for (const operation of ['read', 'write', 'edit', 'copy', 'grep'] as const) {
        const check = await checkOperation(sandbox, operation, path);
        expect(check).toMatchObject({ verdict: 'deny', because: expect.stringContaining('is a FIFO') as string });
        expect(check).not.toMatchObject({ category: 'policy_blocked' });
      }
      expect(await checkOperation(sandbox, 'delete', path)).toMatchObject({ verdict: 'allow' });
    }
    expect(lstatSync(join(tree.root, 'fifo')).isFIFO()).toBe(true);
  });

  test('what is asked about a directory is answered as it would be, and a yes has no category', async () => {
    const sandbox = await tree.open({}, anchoring);
    expect(await checkOperation(sandbox, 'read', '.')).toMatchObject({
      verdict: 'deny',
      category: 'permanent_failure',
    });
    expect(await checkOperation(sandbox, 'grep', '.')).toMatchObject({ verdict: 'allow' });
    expect(await checkOperation(sandbox, 'read', 'a.txt')).not.toHaveProperty('category');
  });

  test('what is not there is answered as the operation would be', async () => {
    const sandbox = await tree.open({}, anchoring);
    for (const [operation, run] of Object.entries(RUN)) {
      const path = `no-${operation}.txt`;
      const check = await checkOperation(sandbox, operation as FileOperation, path);
      const result = await run(sandbox, path, 'elsewhere.txt');
      expect([operation, check.verdict === 'allow']).toEqual([operation, result.ok]);
      if (!result.ok) expect(check).toMatchObject({ category: result.category, because: result.because });
    }
  });

  test('a write keeps the mode, leaves other names of the inode alone, and no temporary file behind', async () => {
    chmodSync(join(tree.root, 'a.txt'), 0o640);
    linkSync(join(tree.base, 'outside/secret.txt'), join(tree.root, 'hard'));
    const sandbox = await tree.open({}, anchoring);
    expect(await readFile(sandbox, 'hard')).toMatchObject({ ok: true, hardLinks: 2 });
    expect(await writeFile(sandbox, 'a.txt', 'new')).toMatchObject({ ok: true, created: false });
    expect(statSync(join(tree.root, 'a.txt')).mode & 0o777).toBe(0o640);
    expect(await writeFile(sandbox, 'hard', 'mine')).toMatchObject({ ok: true, replacedHardLinks: 2 });
    expect(tree.text('outside/secret.txt')).toBe('OUTSIDE secret');
    expect(readdirSync(tree.root).filter((name) => name.startsWith('.surety-'))).toEqual([]);
  });

  test('moving or deleting a link is about the link', async () => {
    const sandbox = await tree.open({}, anchoring);
    expect(await movePath(sandbox, 'link_out', 'moved')).toMatchObject({ ok: true, kind: 'a link' });
    expect(await deletePath(sandbox, 'moved')).toMatchObject({ ok: true });
    expect(await deletePath(sandbox, 'link_dir', { recursive: true })).toMatchObject({ ok: true, deleted: 1 });
    expect(tree.text('outside/secret.txt')).toBe('OUTSIDE secret');
    expect(existsSync(join(tree.root, 'link_dir'))).toBe(false);
  });
});

test('reads are bounded, say when they are cut, and keep characters and bytes whole', async () => {
  writeFileSync(join(tree.root, 'long'), 'é'.repeat(100));
  writeFileSync(join(tree.root, 'binary'), Buffer.from([0, 255, 1, 2]));
  const sandbox = await tree.open({ maxReadBytes: 51 });
  expect(await readFile(sandbox, 'long')).toMatchObject({
    content: 'é'.repeat(25),
    truncated: true,
    size: 200,
    encoding: 'utf8',
  });
  expect(await readFile(sandbox, 'binary')).toMatchObject({
    content: 'AP8BAg==',
    truncated: false,
    encoding: 'base64',
  });
  expect(await readFile(sandbox, 'a.txt')).toMatchObject({ content: 'inside a', truncated: false });
  expect(await readFile(sandbox, 'a.txt', { offset: 7 })).toMatchObject({ content: 'a', bytes: 1 });
  const small = await tree.open({ maxWriteBytes: 4 });
  expect(await writeFile(small, 'a.txt', '12345')).toMatchObject({ ok: false, category: 'invalid_parameters' });
  expect(await copyFile(small, 'a.txt', 'copy')).toMatchObject({ ok: false });
  expect(tree.text('root/a.txt')).toBe('inside a');
  expect(readdirSync(tree.root).some((name) => name === 'copy' || name.startsWith('.surety-'))).toBe(false);
});

test('an edit replaces exactly one place unless it is told otherwise, byte for byte', async () => {
  writeFileSync(join(tree.root, 'mixed'), Buffer.concat([Buffer.from([255, 0]), Buffer.from('one two one')]));
  const sandbox = await tree.open();
  expect(await editFile(sandbox, 'mixed', { old: 'one', new: '1' })).toMatchObject({ category: 'invalid_parameters' });
  expect(await editFile(sandbox, 'mixed', { old: 'absent', new: '1' })).toMatchObject({
    category: 'invalid_parameters',
  });
  expect(await editFile(sandbox, 'mixed', { old: 'one', new: '1', all: true })).toMatchObject({ replacements: 2 });
  expect(await readFile(sandbox, 'mixed')).toMatchObject({
    content: Buffer.concat([Buffer.from([255, 0]), Buffer.from('1 two 1')]).toString('base64'),
  });
});

test('a pattern that would take a backtracking engine for ever takes no time', async () => {
  writeFileSync(join(tree.root, 'as'), 'a'.repeat(50_000));
  const sandbox = await tree.open();
  expect(await grepFiles(sandbox, '(a+)+$b', { path: 'as' })).toMatchObject({ ok: true, matches: [] });
  expect(await grepFiles(sandbox, '(', { path: 'as' })).toMatchObject({ ok: false, category: 'invalid_parameters' });
  expect(await grepFiles(sandbox, 'a', { path: 'as', limit: 1 })).toMatchObject({ ok: true, truncated: false });
});

test('a root that is not there is a problem that names it', async () => {
  await expect(tree.open({ roots: ['gone'] })).rejects.toThrow(/gone cannot be used/);
  await expect(tree.open({ roots: ['a.txt'] })).rejects.toThrow(/it is a file/);
});
