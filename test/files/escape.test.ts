import { spawn, execFileSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANCHORING } from '../../src/execution/files/handle.ts';
import { deletePath, movePath } from '../../src/execution/files/move.ts';
import { readFile } from '../../src/execution/files/read.ts';
import type { FileSandbox } from '../../src/execution/files/sandbox.ts';
import { globPaths, grepFiles } from '../../src/execution/files/search.ts';
import { copyFile, editFile, writeFile } from '../../src/execution/files/write.ts';
import { codeOf } from '../../src/problem.ts';
import { createRandom } from '../e2e/kills-random.ts';
import { growTree } from './tree.ts';

// No escape: random operations on a random tree of links, dots, hard links and mounts, while another process swaps
// directories and files for links that lead out. What lies outside must not be read, listed, changed or added to.

const SEED = Number(process.env['SURETY_SEED'] ?? 20260510);
const RUN_MS = Number(process.env['SURETY_ESCAPE_MS'] ?? 15_000);
const MARK = 'OUTSIDE';
const SWAPPED = ['dir-1', 'dir-2', 'file-1', 'file-2'];

const tree = growTree();
const outside = join(tree.base, 'outside');
const mounted = join(tree.root, 'mounted');
const random = createRandom(SEED);
const below = (count: number) => random.between(0, count - 1);
let racer: ChildProcess;
let hasMount = false;

beforeAll(async () => {
  mkdirSync(join(outside, 'deep'));
  for (const name of ['secret.txt', 'deep/secret.txt', 'deep/other.txt'])
    writeFileSync(join(outside, name), `${MARK} ${name}`);
  // Reached by another name inside on purpose: reading it is no escape, changing it would be one.
  writeFileSync(join(tree.base, 'shared'), 'shared by a hard link');
  growRandomly();
  mkdirSync(mounted);
  hasMount = bindMount(outside, mounted);
  if (!hasMount) console.log('not root: the bind mount is left out');
  makeUnread();
  const program = join(import.meta.dirname, 'programs/swap-links.ts');
  racer = spawn(process.execPath, ['--import', 'tsx', program, tree.root, outside, ...SWAPPED], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (racer.stdout !== null) await once(racer.stdout, 'data');
});

afterAll(async () => {
  await ended(racer);
  if (hasMount) execFileSync('umount', ['--lazy', mounted]);
  tree.remove();
});

// Never tried twice: what has escaped once has escaped.
test(`nothing outside of the roots is opened or changed (seed ${SEED})`, { retry: 0 }, async () => {
  const before = stateOf(outside);
  const watched = doesReadingShow();
  if (!watched) console.log('this file system keeps no access times: reading is told by content alone');
  const sandbox = await tree.open();
  const counts: Record<string, number> = {};
  const until = Date.now() + RUN_MS;
  let operations = 0;
  while (Date.now() < until) {
    expect(racer.exitCode).toBe(null);
    const { name, result } = await anyOperation(sandbox);
    operations += 1;
    // What was deleted and moved is there again, so that there is always something to find.
    if (operations % 50 === 0) growRandomly();
    const kind = `${name} ${result.ok ? 'done' : result.category}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
    expect(JSON.stringify(result)).not.toContain(MARK);
    for (const path of pathsIn(result)) expect(path.startsWith(`${tree.root}/`) || path === tree.root).toBe(true);
  }
  await ended(racer);
  console.log(`${operations} operations held by ${ANCHORING}`, counts);
  // A test in which nothing was ever allowed, or nothing refused, would show nothing.
  for (const kind of [
    'read done',
    'read policy_blocked',
    'write done',
    'write policy_blocked',
    'delete done',
    'move done',
    'grep done',
  ]) {
    expect(counts[kind] ?? 0, kind).toBeGreaterThan(0);
  }
  const after = stateOf(outside);
  expect(after).toEqual(before);
  expect(readFileSync(join(tree.base, 'shared'), 'utf8')).toBe('shared by a hard link');
  expect(readFileSync(join(tree.base, 'root-evil/x.txt'), 'utf8')).toBe('OUTSIDE sibling');
  expect(contentsOf(tree.root).filter((content) => content.includes(MARK))).toEqual([]);
});

function growRandomly(): void {
  const directories = [tree.root];
  for (let index = 0; index < 60; index += 1) {
    const at = join(random.pick(directories), `n${below(12)}`);
    const up = '../'.repeat(below(6));
    const targets = [
      outside,
      `${up}outside`,
      `${up}outside/secret.txt`,
      `${up}root`,
      `n${below(12)}`,
      tree.base,
      '/',
      '.',
      '..',
      '/proc/self/root',
      `/proc/self/cwd/${up}`,
      `${up}outside/absent-${index}`,
      `${tree.root}/dir-1`,
      'dir-2/secret.txt',
      `${up}root/dir-1/../..`,
    ];
    try {
      writeFileSync(join(tree.root, 'a.txt'), 'inside a', { flag: 'wx' });
    } catch (error) {
      unlessTaken(error);
    }
    try {
      const kind = below(10);
      if (kind < 2) {
        mkdirSync(at);
        directories.push(at);
      } else if (kind < 4) writeFileSync(at, `inside ${index}`, { flag: 'wx' });
      else if (kind < 5) linkSync(join(tree.base, 'shared'), at);
      else symlinkSync(random.pick(targets), at);
    } catch (error) {
      unlessTaken(error);
    }
  }
}

function unlessTaken(error: unknown): void {
  if (codeOf(error) !== 'EEXIST') throw error;
}

function anyPath(): string {
  const names = [
    ...SWAPPED,
    ...SWAPPED,
    'mounted',
    'secret.txt',
    'deep',
    '..',
    '.',
    '.attic',
    'link_dir',
    'link_out',
    'link_in',
    'dangling',
    'a.txt',
    'new',
    'outside',
    'root',
    '',
  ];
  const length = 1 + below(4);
  const part = () => (below(3) === 0 ? `n${below(12)}` : random.pick(names));
  const path = Array.from({ length }, part).join('/');
  const prefixes = [
    '',
    '',
    '',
    `${tree.root}/`,
    `${tree.root}/../root/`,
    `${outside}/`,
    '/proc/self/root',
    '/proc/self/cwd/',
    './',
  ];
  return `${random.pick(prefixes)}${path}` || '.';
}

async function anyOperation(sandbox: FileSandbox) {
  const [path, to] = [anyPath(), anyPath()];
  switch (below(14)) {
    case 0:
    case 1:
    case 2:
      return { name: 'read', result: await readFile(sandbox, path) };
    case 3:
      return { name: 'read', result: await readFile(sandbox, `${random.pick(SWAPPED)}/secret.txt`) };
    case 4:
      return { name: 'write', result: await writeFile(sandbox, path, 'written', { parents: below(2) === 0 }) };
    case 5:
    case 11:
    case 12:
    case 13:
      return {
        name: 'write',
        result: await writeFile(sandbox, `${random.pick(SWAPPED)}/${random.pick(['secret.txt', 'x'])}`, 'written'),
      };
    case 6:
      return { name: 'edit', result: await editFile(sandbox, path, { old: 'i', new: 'j', all: true }) };
    case 7:
      return { name: 'copy', result: await copyFile(sandbox, path, to, { overwrite: true, parents: true }) };
    case 8:
      return below(4) === 0
        ? { name: 'move', result: await movePath(sandbox, 'a.txt', `moved-${below(1e6)}`) }
        : { name: 'move', result: await movePath(sandbox, path, to, { overwrite: below(2) === 0 }) };
    case 9:
      return { name: 'delete', result: await deletePath(sandbox, path, { recursive: below(4) === 0 }) };
    default:
      return below(2) === 0
        ? { name: 'glob', result: await globPaths(sandbox, '**', { path, maxMs: 200 }) }
        : { name: 'grep', result: await grepFiles(sandbox, 'secret|OUT|inside', { path, maxMs: 200 }) };
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function pathsIn(result: object): readonly string[] {
  if ('paths' in result) return result.paths as string[];
  if ('matches' in result) return (result.matches as { path: string }[]).map(({ path }) => path);
  return 'path' in result ? [result.path as string] : [];
}

/** By inode: what each is, when it was read, written or given another name, and what it holds. */
function stateOf(directory: string): readonly object[] {
  const state = (path: string): object[] => {
    const { ino, mode, nlink, size, atimeMs, mtimeMs, ctimeMs } = lstatSync(path);
    return [{ path, ino, mode, nlink, size, atimeMs, mtimeMs, ctimeMs }];
  };
  // Times first: looking for names and contents reads them.
  const paths = ['', 'secret.txt', 'deep', 'deep/secret.txt', 'deep/other.txt'].map((name) => join(directory, name));
  const states = paths.flatMap(state);
  const names = readdirSync(directory, { recursive: true }).sort();
  const contents = ['secret.txt', 'deep/secret.txt', 'deep/other.txt'].map((name) =>
    readFileSync(join(directory, name), 'utf8'),
  );
  makeUnread();
  return [...states.map((each, index) => ({ ...each, ctimeMs: undefined, index })), { names, contents }];
}

/** Where access times are kept at all, the first reading after a change shows: they are put before it. */
function makeUnread(): void {
  for (const name of ['secret.txt', 'deep/secret.txt', 'deep/other.txt', 'deep', '']) {
    utimesSync(join(outside, name), new Date(1_000_000), new Date(2_000_000_000));
  }
}

function doesReadingShow(): boolean {
  const control = join(tree.base, 'control');
  writeFileSync(control, 'x');
  utimesSync(control, new Date(1_000_000), new Date(2_000_000_000));
  readFileSync(control);
  const shows = lstatSync(control).atimeMs !== 1_000_000;
  rmSync(control);
  return shows;
}

function bindMount(from: string, to: string): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('mount', ['--bind', from, to], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // A container's root may not mount.
  }
}

function contentsOf(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (path === mounted) return [];
    if (entry.isDirectory()) return contentsOf(path);
    return entry.isFile() ? [readFileSync(path, 'utf8')] : [];
  });
}
