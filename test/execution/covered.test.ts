import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { coveredBelow } from '../../src/execution/files/covered.ts';
import { trustedPlaces } from '../../src/execution/find-program.ts';
import { mountsBelow } from '../../src/execution/mounts.ts';
import { executionRules } from '../../src/execution/rules.ts';
import { findSandbox } from '../../src/execution/sandbox.ts';
import { findBash } from '../../src/execution/shell/bash.ts';
import { shellTool } from '../../src/execution/tools/shell.ts';

/** A project with what nobody may read, and what nobody may write, in places that nobody names. */
const root = realpathSync(mkdtempSync(join(tmpdir(), 'surety-covered-')));
const project = join(root, 'project');
for (const file of ['.env', 'a/.env', 'a/b/secrets/key', 'locked/file', 'locked/.env', 'src/x.ts', 'a/b/plain']) {
  mkdirSync(dirname(join(project, file)), { recursive: true });
  writeFileSync(join(project, file), `HELD in ${file}\n`);
}
symlinkSync('a/.env', join(project, 'link'));
symlinkSync(project, join(project, 'around'));
const rules = { file: { denyRead: ['.env', '**/secrets/**'], denyWrite: ['/**/locked', 'src/x.ts'] } };
const files = async (more: object = {}) => (await executionRules(parseRules({ ...rules, ...more }), project)).files;
const below = (...names: string[]) => names.map((name) => join(project, name)).toSorted();

it('finds all that the rules deny below the roots, and nothing within what is covered already', async () => {
  const covered = await coveredBelow((await files()).rules);
  expect(covered.hidden.toSorted()).toEqual(below('.env', 'a/.env', 'a/b/secrets', 'locked/.env'));
  expect(covered.readOnly.toSorted()).toEqual(below('locked', 'src/x.ts'));
  const nothing = await files({ file: {} });
  expect(await coveredBelow(nothing.rules, 1)).toEqual({ hidden: [], readOnly: [] });
});

it('does not pretend to have looked through what is too much', async () => {
  const { rules: fileRules } = await files();
  expect((await coveredBelow(fileRules, 10)).flaw).toContain('more than anybody');
  const many = realpathSync(mkdtempSync(join(tmpdir(), 'surety-covered-')));
  for (let turn = 0; turn < 2100; turn++) writeFileSync(join(many, `${turn}.key`), '');
  const crowded = await executionRules(parseRules({ file: { denyRead: ['*.key'] } }), many);
  expect((await coveredBelow(crowded.files.rules)).flaw).toContain('more than anybody');
  const tool = shellTool(crowded, { PATH: '/usr/bin:/bin' }, await findBash(await trustedPlaces([], [])));
  const confinement = { writable: [many], hidden: [], readOnly: [], network: true };
  const context = { stopped: new AbortController().signal, sandbox: { ...sandbox, kind: 'bubblewrap' }, confinement };
  const { failure, exitCode } = await tool.run({ command: 'ls' }, context as never);
  expect(exitCode).toBe(null);
  expect(failure).toMatchObject({ category: 'policy_blocked', message: expect.stringContaining('denyRead') as string });
});

it('covers what authorisation rules deny, and says what it cannot: names that are not UTF-8', async () => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'surety-covered-')));
  for (const name of ['a', 'b']) writeFileSync(join(place, name), '');
  const { files: own } = await executionRules(parseRules({ file: { denyRead: ['*.env'] } }), place);
  const unauthorised = (access: string, path: string) => (access === 'read' && path.endsWith('/b') ? 'no' : undefined);
  expect(await coveredBelow({ ...own.rules, unauthorised })).toEqual({ hidden: [join(place, 'b')], readOnly: [] });
  const odd = (name: string) => Buffer.concat([Buffer.from(`${place}/`), Buffer.from(name, 'latin1')]);
  writeFileSync(odd('caf\xe9.txt'), '');
  expect(await coveredBelow(own.rules)).toEqual({ hidden: [], readOnly: [] });
  writeFileSync(odd('\xff.env'), '');
  expect((await coveredBelow(own.rules)).flaw).toContain('not UTF-8');
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'surety-covered-')));
  mkdirSync(Buffer.concat([Buffer.from(`${directory}/caf`), Buffer.from([0xe9])]));
  const { files: others } = await executionRules(parseRules({ file: { denyRead: ['.env'] } }), directory);
  expect((await coveredBelow(others.rules)).flaw).toContain('not UTF-8');
});

it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
  'hides what else is mounted below a root, unless it is a root itself',
  async ({ skip }) => {
    const place = realpathSync(mkdtempSync(join(tmpdir(), 'surety-mounted here-')));
    const mount = join(place, 'mnt');
    mkdirSync(mount);
    if (spawnSync('mount', ['-t', 'tmpfs', 'none', mount]).status !== 0) skip('this machine mounts nothing');
    try {
      writeFileSync(join(mount, 'secret'), 'OUTSIDE');
      expect(await mountsBelow([place])).toEqual([mount]);
      expect(await mountsBelow([place, mount])).toEqual([]);
      const own = await executionRules(parseRules({}), place);
      const tool = shellTool(own, { PATH: '/usr/bin:/bin' }, await findBash(await trustedPlaces([], [])));
      const confinement = { writable: [place], hidden: [], readOnly: [], network: true };
      const context = { stopped: new AbortController().signal, sandbox, confinement };
      writeFileSync(join(place, 'look.sh'), 'cat mnt/secret; echo looked');
      const { text } = await tool.run({ command: 'sh look.sh' }, context);
      expect(text).toContain('looked');
      if (sandbox.kind === 'bubblewrap') expect(text).not.toContain('OUTSIDE');
    } finally {
      spawnSync('umount', [mount]);
    }
  },
);

const sandbox = await findSandbox(await trustedPlaces([], []));
const confined = sandbox.kind === 'none' ? `skipped, ${sandbox.because}` : sandbox.kind;

it.skipIf(sandbox.kind === 'none')(`holds what a command finds by itself to the same rules (${confined})`, async () => {
  const own = await executionRules(parseRules(rules), project);
  const tool = shellTool(own, { PATH: process.env['PATH'] ?? '' }, await findBash(await trustedPlaces([], [])));
  const confinement = { writable: [project], hidden: [], readOnly: [], network: true };
  const script = join(project, 'script.sh');
  writeFileSync(
    script,
    'grep -r HELD .; cat .e* link; tar cf - . | grep -ao "HELD in [a-z/.]*"; find . -type f | xargs cat\n',
  );
  chmodSync(script, 0o755);
  const run = async (command: string) =>
    (await tool.run({ command }, { stopped: new AbortController().signal, sandbox, confinement })).text;
  const shown = await run('./script.sh');
  expect(shown).toContain('HELD in a/b/plain');
  expect(shown).not.toMatch(/HELD in (?:\.env|a\/\.env|a\/b\/secrets\/key|locked\/\.env)/);
  writeFileSync(
    script,
    'for f in locked/file locked/new src/x.ts src/y.ts .env; do (echo mine > $f); done; mv src/x.ts moved; rm -rf locked .env',
  );
  await run('./script.sh');
  const held = (file: string) => readFileSync(join(project, file), 'utf8');
  expect(held('src/y.ts')).toBe('mine\n');
  for (const file of ['locked/file', 'src/x.ts', '.env']) expect(held(file)).toBe(`HELD in ${file}\n`);
});
