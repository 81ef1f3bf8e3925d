import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openExecution } from '../../src/execution/open.ts';
import type { OpenExecution } from '../../src/execution/open.ts';

/** Links in a directory that is not to be changed, and links that lead out. */
const base = realpathSync(mkdtempSync(join(tmpdir(), 'surety-links-')));
const project = join(base, 'project');
for (const directory of [
  'outside',
  'cache',
  'project/protected',
  'project/guarded',
  'project/out',
  'project/sub',
  'project/led',
])
  mkdirSync(join(base, directory), { recursive: true });
writeFileSync(join(base, 'outside/secret.txt'), 'SECRET');
for (const file of ['a.txt', 'b']) writeFileSync(join(project, file), 'text');
const link = (name: string, to: string) => {
  symlinkSync(to, join(project, name));
};
link('protected/link', '../a.txt');
link('protected/tool', '/usr/bin/env');
link('sub/tool', '/usr/bin/env');
link('sub/within', '../a.txt');
link('guarded/link', '../a.txt');
for (const name of ['link_out', 'moved_out', 'shell_out']) link(name, '../outside/secret.txt');
for (const name of ['dangling', 'moved_dangling']) link(name, '../outside/nothing');
link('link_in', 'a.txt');
writeFileSync(
  join(project, 'surety.json'),
  JSON.stringify({
    file: { denyWrite: ['protected'] },
    runner: { sandbox: 'off', writable: ['../cache'] },
    authorization: {
      enabled: true,
      default: 'allow',
      rules: [{ action: 'deny', tools: ['*'], paths: [join(project, 'guarded/**')] }],
    },
  }),
);

let execution: OpenExecution;
beforeAll(async () => {
  vi.stubEnv('SURETY_HOME', join(base, 'home'));
  execution = await openExecution({ project });
});
afterAll(async () => {
  await execution.close();
  vi.unstubAllEnvs();
});

it.each([
  ...[
    'grep -R SECRET .',
    'grep -nR SECRET',
    'grep --dereference-recursive SECRET out',
    'rg -L SECRET',
    'rg --follow SECRET .',
  ],
  ...[
    'find -L . -name x',
    'find . -follow',
    'ls -LR',
    'tree -l',
    'cp -rL . ../cache',
    'tar chf ../cache/x.tar .',
    'diff -r . out',
  ],
  ...['zip -r x.zip .', 'rsync -aL . ../cache', 'grep -R SECRET ./o*', 'cd out && grep -R SECRET'],
])('whoever follows links asks where one leads out: %s', async (command) => {
  symlinkSync('../..', join(project, 'out/further'));
  try {
    expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict: 'ask' });
  } finally {
    rmSync(join(project, 'out/further'));
  }
});

it.each(['grep -r SECRET .', 'grep -R SECRET sub', 'find . -name x', 'diff -r sub sub', 'rg SECRET', 'find -L sub'])(
  'who follows none, or none that leads out, does not: %s',
  async (command) => {
    expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict: 'allow' });
  },
);

it('a link that leads out is found behind one that does not', async () => {
  const command = 'grep -R SECRET led';
  symlinkSync('../sub', join(project, 'led/in'));
  expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict: 'allow' });
  symlinkSync('../..', join(project, 'sub/further'));
  expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict: 'ask' });
});

it('a link that leads out is found among hundreds, by a process that may open few files', () => {
  const crowd = join(base, 'crowd');
  mkdirSync(join(crowd, 'links'), { recursive: true });
  writeFileSync(join(crowd, 'a.txt'), 'text');
  for (let nth = 0; nth < 800; nth += 1) symlinkSync('../a.txt', join(crowd, `links/${nth}`));
  symlinkSync('../../outside', join(crowd, 'links/out'));
  const command = `ulimit -n 256; exec "$0" "$1" exec --offline --dry-run -- 'grep -R SECRET links'`;
  const cli = ['-c', command, process.execPath, resolve('dist/src/cli/main.js')];
  const env = { PATH: process.env['PATH'] ?? '', HOME: base, SURETY_HOME: join(base, 'crowd-home') };
  const { stdout, stderr } = spawnSync('sh', cli, { cwd: crowd, env, encoding: 'utf8' });
  expect(stdout + stderr).toContain('lies outside of');
});

it.each([
  ...['mv protected/link out/', 'unlink protected/link', 'ln -sfn b protected/link', 'rm protected/link'],
  ...['rm -f protected/l*', 'mv b protected/link', 'mv guarded/link out/', 'unlink guarded/link'],
])('a link is where it lies, too: %s', async (command) => {
  expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict: 'deny' });
});

it.each(['git mv protected/link out/', 'tool protected/tool'])(
  'and so for programs nobody knows: %s',
  async (command) => {
    expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict: 'ask' });
  },
);

it.each(['echo x > link_out', 'tee dangling', 'cp a.txt link_out', 'cat link_out'])(
  'whoever goes through it is where it leads: %s',
  async (command) => {
    expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict: 'deny' });
  },
);

it.each(['echo x > link_in', 'mv link_in out/', 'cat protected/link'])(
  'what stays inside runs: %s',
  async (command) => {
    expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict: 'allow' });
  },
);

it.each<[string, 'allow' | 'deny']>([
  ['tar cf guarded/x.tar a.txt', 'deny'],
  ['tar cf guarded/x a.txt', 'deny'],
  ['tar cf out/x.tar a.txt', 'allow'],
  ['npm guarded-not', 'allow'],
])('what is not there yet may be denied as well: %s: %s', async (command, verdict) => {
  expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict });
});

it('what runner.writable names, a command may write and a file tool may not', async () => {
  expect(await execution.preview({ tool: 'shell', args: { command: 'echo x > ../cache/x' } })).toMatchObject({
    verdict: 'allow',
  });
  expect(await execution.preview({ tool: 'write', args: { path: '../cache/x', content: '' } })).toMatchObject({
    verdict: 'deny',
  });
});

it.each<[string, 'allow' | 'ask']>([
  ['find . -type f -exec grep -n text {} +', 'allow'],
  ['find . -type f -print0 | xargs -0 cat', 'allow'],
  ['find . -type f | xargs cat', 'ask'],
  ['find . -exec cat {} +', 'ask'],
  ['find . -type f -o -type l -exec cat {} +', 'ask'],
])('where everything may be read, files that are found are: %s: %s', async (command, verdict) => {
  expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict });
});

it.each([
  ['delete', { path: 'protected/link' }],
  ['delete', { path: 'guarded/link' }],
  ['move', { from: 'protected/link', to: 'out/link' }],
  ['move', { from: 'guarded/link', to: 'out/link' }],
  ['move', { from: 'b', to: 'guarded/link', overwrite: true }],
])('%s does not take away a link that lies where nothing is to change: %j', async (tool, args) => {
  expect(await execution.execute({ tool, args })).toMatchObject({ status: 'refused' });
  expect(lstatSync(join(project, 'protected/link')).isSymbolicLink()).toBe(true);
  expect(lstatSync(join(project, 'guarded/link')).isSymbolicLink()).toBe(true);
});

it.each([
  ['delete', { path: 'link_out' }],
  ['delete', { path: 'dangling' }],
  ['move', { from: 'moved_out', to: 'out/moved_out' }],
  ['move', { from: 'moved_dangling', to: 'out/moved_dangling' }],
])('%s is about the link, wherever it leads: %j', async (tool, args) => {
  expect(await execution.preview({ tool, args })).toMatchObject({ verdict: 'allow' });
  expect(await execution.execute({ tool, args })).toMatchObject({ status: 'done' });
  expect(readFileSync(join(base, 'outside/secret.txt'), 'utf8')).toBe('SECRET');
  expect(existsSync(join(base, 'outside/nothing'))).toBe(false);
});

it('what a rule keeps is not moved or copied from under it with the directory it lies in', async () => {
  const rooted = join(base, 'kept-below');
  mkdirSync(join(rooted, 'd/hid'), { recursive: true });
  mkdirSync(join(rooted, 'plain/sub'), { recursive: true });
  writeFileSync(join(rooted, 'd/hid/s'), 'SECRET');
  writeFileSync(join(rooted, 'd/keep'), '');
  writeFileSync(
    join(rooted, 'surety.json'),
    '{"file":{"denyRead":["d/hid/**"],"denyWrite":["d/keep"]},"runner":{"sandbox":"off"}}',
  );
  const own = await openExecution({ project: rooted });
  const runs = (command: string) => own.execute({ tool: 'shell', args: { command } });
  for (const command of [
    'mv d e',
    'cp -r d f',
    'rsync -a d/ g/',
    'mv --target-directory plain d',
    'cp --target-directory plain -r d',
    'mv d/hid h',
    'cp -a d/. i',
  ])
    expect([command, await runs(command)]).toMatchObject([command, { status: 'refused' }]);
  expect(await runs('mv plain other && cp -r other again')).toMatchObject({ status: 'done' });
  expect(existsSync(join(rooted, 'd/hid/s'))).toBe(true);
  await own.close();
});
