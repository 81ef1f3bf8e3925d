import { linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { FileSection } from '../../src/domain/files/files.schema.ts';
import { checkPath } from '../../src/execution/files/check.ts';
import { deletePath, movePath } from '../../src/execution/files/move.ts';
import { readFile } from '../../src/execution/files/read.ts';
import { openSandbox } from '../../src/execution/files/sandbox.ts';
import { globPaths, grepFiles } from '../../src/execution/files/search.ts';
import { copyFile, editFile, writeFile } from '../../src/execution/files/write.ts';
import { touchedPaths } from '../../src/execution/paths.ts';
import { growTree } from './tree.ts';

// Rules that allow everything, and the files that no rule gives away.
const tree = growTree();
afterAll(() => tree.remove());
const { root } = tree;
mkdirSync(join(root, 'deep/home/audit'), { recursive: true });
writeFileSync(join(root, 'deep/home/audit/line'), 'PASSWORD');
writeFileSync(join(root, 'surety.json'), '{"PASSWORD":1}');
symlinkSync('deep/home', join(root, 'shortcut'));
const rules = FileSection.parse({ allowRead: ['**'], allowWrite: ['**'] });
const fixed = [join(root, 'surety.json'), join(root, 'not-yet/surety.json')];
const sandbox = await openSandbox(rules, root, { own: { kept: [join(root, 'deep/home')], fixed } });

const KEPT = [
  ...['deep/home/audit/line', 'deep/home/audit/new', 'shortcut/', 'shortcut/audit/line', 'deep//home/./audit/line'],
  ...[`/proc/self/root${root}/deep/home/audit/line`, 'deep/home/../home/audit/line', 'deep/home/'],
];
const FIXED = [
  ...[
    'surety.json',
    './surety.json',
    'src/../surety.json',
    `/proc/self/root${root}/surety.json`,
    'not-yet/surety.json',
  ],
];

it.each(KEPT)('refuses every operation on %s, and says so when asked', async (path) => {
  const answers = [
    await readFile(sandbox, path),
    await writeFile(sandbox, path, 'x', { parents: true }),
    await editFile(sandbox, path, { old: 'P', new: 'p' }),
    await copyFile(sandbox, path, 'stolen'),
    await copyFile(sandbox, 'a.txt', path, { parents: true, overwrite: true }),
    await movePath(sandbox, 'a.txt', path, { overwrite: true }),
    await grepFiles(sandbox, 'P', { path }),
  ];
  for (const answer of answers) expect(answer.ok).toBe(false);
  expect(await checkPath(sandbox, 'read', path)).toMatchObject({ verdict: 'deny', rule: 'kept' });
  expect(await checkPath(sandbox, 'write', path)).toMatchObject({ verdict: 'deny', rule: 'kept' });
  expect(await touchedPaths(sandbox, [{ path, access: 'read', known: true }])).toMatchObject([
    { refusal: { because: expect.stringContaining('kept') as string } },
  ]);
});

it.each(FIXED)('lets everybody read %s and nobody change it', async (path) => {
  const answers = [
    await writeFile(sandbox, path, 'x', { parents: true }),
    await editFile(sandbox, path, { old: 'P', new: 'p' }),
    await copyFile(sandbox, 'a.txt', path, { parents: true, overwrite: true }),
    await movePath(sandbox, 'a.txt', path, { overwrite: true }),
    await deletePath(sandbox, path),
  ];
  for (const answer of answers) expect(answer.ok).toBe(false);
  expect(await checkPath(sandbox, 'write', path)).toMatchObject({ verdict: 'deny', rule: 'kept' });
  expect(await touchedPaths(sandbox, [{ path, access: 'write', known: true }])).toMatchObject([
    { refusal: { because: expect.stringContaining('kept') as string } },
  ]);
  expect(await touchedPaths(sandbox, [{ path, access: 'read', known: true }])).toMatchObject([{ refusal: undefined }]);
});

it('neither lists, finds, moves nor deletes them with what lies around', async () => {
  expect(await grepFiles(sandbox, 'PASSWORD')).toMatchObject({
    ok: true,
    matches: [{ path: join(root, 'surety.json') }],
  });
  const found = await globPaths(sandbox, '**');
  expect(found.ok && found.paths.filter((path) => path.includes('deep/home'))).toEqual([]);
  for (const path of ['deep', 'deep/home', 'surety.json']) {
    expect(await movePath(sandbox, path, 'elsewhere')).toMatchObject({ ok: false, category: 'policy_blocked' });
    expect(await deletePath(sandbox, path, { recursive: true })).toMatchObject({ category: 'policy_blocked' });
  }
  expect(readFileSync(join(root, 'deep/home/audit/line'), 'utf8')).toBe('PASSWORD');
});

it('knows them by what they are, whatever other name a hard link has given them', async () => {
  linkSync(join(root, 'deep/home/audit/line'), join(root, 'innocent.txt'));
  linkSync(join(root, 'surety.json'), join(root, 'innocent.json'));
  linkSync(join(root, 'a.txt'), join(root, 'really-innocent.txt'));
  expect(await readFile(sandbox, 'innocent.txt')).toMatchObject({ ok: false, rule: 'kept' });
  expect(await checkPath(sandbox, 'read', 'innocent.txt')).toMatchObject({ verdict: 'deny', rule: 'kept' });
  expect(await checkPath(sandbox, 'write', 'innocent.json')).toMatchObject({ verdict: 'deny', rule: 'kept' });
  expect(await checkPath(sandbox, 'read', 'innocent.json')).toMatchObject({ verdict: 'allow' });
  expect(await readFile(sandbox, 'really-innocent.txt')).toMatchObject({ ok: true, hardLinks: 2 });
  expect(await grepFiles(sandbox, 'PASSWORD', { path: 'innocent.txt' })).toMatchObject({ ok: false });
  for (const name of ['innocent.txt', 'innocent.json']) rmSync(join(root, name));
});

it.each([
  ['surety.j?on', 'write', true],
  ['*', 'write', true],
  ['*.json', 'read', false],
  ['sure*', 'read', false],
  ['deep/*/audit/line', 'read', true],
  ['de?p/home', 'read', true],
  ['d[e]ep/*/audit/*', 'read', true],
  ['*.txt', 'write', false],
  ['src/*', 'write', false],
  ['deep/*', 'read', true],
  ['public/**', 'read', false],
] as const)('sees whether %s in a command would %s them: %s', async (path, access, reaches) => {
  const touched = await touchedPaths(sandbox, [{ path, access, known: true }]);
  expect(touched.some(({ refusal }) => refusal !== undefined)).toBe(reaches);
});

it('does not let a command move the directory that holds them, nor guess what dots after a link mean', async () => {
  const touch = async (path: string, access: 'read' | 'write') =>
    (await touchedPaths(sandbox, [{ path, access, known: true }]))[0];
  expect((await touch('deep', 'write'))?.refusal).toBeDefined();
  expect((await touch('deep', 'read'))?.refusal).toBeUndefined();
  expect((await touch('.', 'write'))?.refusal).toBeUndefined();
  // By its text this is root/a.txt; the link takes it out of the root first.
  expect((await touch('link_dir/../a.txt', 'read'))?.refusal?.because).toContain('outside');
  expect(await touch('made-later/../a.txt', 'read')).toMatchObject({ known: false, refusal: undefined });
  expect((await touch('made-later/../surety.json', 'write'))?.refusal?.because).toContain('kept');
  expect(await touch('~somebody/x', 'read')).toMatchObject({ known: false });
});

it('stops a long search when the call is stopped', async () => {
  mkdirSync(join(root, 'many'));
  for (let each = 0; each < 500; each += 1) writeFileSync(join(root, `many/${each}`), 'text');
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 5);
  expect(await grepFiles({ ...sandbox, stopped: stop.signal }, 'nothing', { path: 'many' })).toMatchObject({
    ok: false,
    category: 'cancelled',
  });
  expect(await deletePath({ ...sandbox, stopped: stop.signal }, 'many', { recursive: true })).toMatchObject({
    category: 'cancelled',
  });
  expect(await copyFile({ ...sandbox, stopped: stop.signal }, 'a.txt', 'b.txt')).toMatchObject({
    category: 'cancelled',
  });
});
