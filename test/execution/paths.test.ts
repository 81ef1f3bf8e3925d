import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { sandboxForCommands } from '../../src/execution/files/sandbox.ts';
import { touchedPaths } from '../../src/execution/paths.ts';
import { executionRules } from '../../src/execution/rules.ts';
import { shellTool } from '../../src/execution/tools/shell.ts';
import cases from '../fixtures/execution.json' with { type: 'json' };
import { growTree } from '../files/tree.ts';

const outside = realpathSync(mkdtempSync(join(tmpdir(), 'surety-outside-')));
const root = realpathSync(mkdtempSync(join(tmpdir(), 'surety-paths-')));
writeFileSync(join(outside, 'shadow'), '');
mkdirSync(join(outside, 'deep'));
mkdirSync(join(root, 'sub'));
mkdirSync(join(root, 'sub', 'secrets'));
for (const file of ['.env', 'a.txt', 'b.txt', 'sub/c.txt', 'sub/secrets/key', 'shadow'])
  writeFileSync(join(root, file), '');
symlinkSync(join(outside, 'deep'), join(root, 'link'));
symlinkSync(join(outside, 'shadow'), join(root, 'out.log'));

const rules = await executionRules(
  parseRules({ file: { denyRead: ['**/.env', '**/secrets/**'] }, runner: { sandbox: 'off' } }),
  root,
);

async function verdictOf(command: string, of = rules, files = of.files): Promise<'allow' | 'ask' | 'deny'> {
  const { paths } = shellTool(of, {}, { found: true, program: '/bin/bash' }).intent({ command });
  const touched = await touchedPaths(files, paths);
  if (touched.some(({ refusal }) => refusal !== undefined)) return 'deny';
  return touched.some(({ known }) => !known) ? 'ask' : 'allow';
}

it.each(cases.commands)('$id: $command leaves the root', async ({ command }) => {
  const tree = growTree();
  const within = await executionRules(parseRules({ runner: { sandbox: 'off' } }), tree.root);
  expect(await verdictOf(command.replace('$ROOT', tree.root), within)).toBe('deny');
  expect(await verdictOf('cat a.txt link_in', within)).toBe('allow');
  tree.remove();
});

it.each<[string, 'allow' | 'ask' | 'deny']>([
  ['cat a.txt sub/c.txt', 'allow'],
  ['cat *.txt */*.txt', 'allow'],
  ['cat sub/../a.txt', 'allow'],
  ['for f in *.txt; do cat "$f"; done', 'allow'],
  ['cat nothing-like-*', 'allow'],
  ['cd sub && cat c.txt', 'allow'],
  // A link makes `..` another place than its text says; the file of that name within the root is not the one that is read.
  ['cat link/../shadow', 'deny'],
  ['cat sub/../link/../shadow', 'deny'],
  // Every name that a glob matches is looked at.
  ['cat *.log', 'deny'],
  ['cat .e?v', 'deny'],
  ['cat .[e]nv', 'deny'],
  ['cat .e*', 'deny'],
  ['cat s*/s*/k*', 'deny'],
  ['for f in *; do cat "$f"; done', 'deny'],
  ['cat /et?/passwd', 'deny'],
  ['cat /e*/shadow', 'deny'],
  ['cat {a.txt,.env}', 'deny'],
  ['ls .?', 'deny'],
  [`cat .?/${basename(outside)}/shadow`, 'deny'],
  ['cat sub/secrets/.*/../../../x', 'deny'],
  ['ls sub/.?', 'allow'],
  ['ls .[a-f]x*', 'allow'],
  ['ls sub/.[!.]*', 'allow'],
  ['cat .e{n,x}v', 'deny'],
  // Where a relative path begins depends on where the line has gone before.
  ['cd sub && cat secrets/key', 'deny'],
  ['cd sub/secrets; cat key', 'deny'],
  ['cd sub; cd secrets; cat key', 'deny'],
  ['f() { cat key; }; cd sub/secrets; f', 'deny'],
  ['cd; cat x', homedir().startsWith(root) ? 'allow' : 'deny'],
  ['cd link', 'deny'],
  // What only the running shell knows is asked about, also where it is only read.
  ['cat ~root/x', 'ask'],
  ['cat ~-/x', 'ask'],
  ['cat "$X"', 'ask'],
  ['cat a$((1)).txt', 'ask'],
  ['cd "$X" && cat a.txt', 'ask'],
  ['cat > "$X"', 'ask'],
])('%s: %s', async (command, verdict) => {
  expect(await verdictOf(command)).toBe(verdict);
});

/** As under bubblewrap, where `/tmp` is the command's own; project and outside lie in it here. */
const confined = await sandboxForCommands(rules.files, [join(outside, 'deep')], { scratch: '/tmp' });

it.each<[string, 'allow' | 'ask' | 'deny']>([
  ['npm test > /tmp/out.log', 'allow'],
  ['cat /tmp/*.log', tmpdir() === '/tmp' ? 'deny' : 'allow'],
  ['cat /tmp/own/*.log', 'allow'],
  [`echo x > ${outside}/deep/x`, 'allow'],
  [`echo x > ${outside}/deep/../shadow`, 'deny'],
  ['cat /tmp/../etc/passwd', 'deny'],
  ['cat /tmpx', 'deny'],
  ['cat /etc/passwd', 'deny'],
  [`rm -r ${root.slice(0, root.indexOf('/', 1))}`, 'deny'],
  [`cat ${root}/.env`, 'deny'],
])('what the sandbox lets a command touch, it may name: %s: %s', async (command, verdict) => {
  expect(await verdictOf(command, rules, confined)).toBe(verdict);
});

it('without a sandbox /tmp is outside', async () => {
  expect(await verdictOf('npm test > /tmp/out.log')).toBe('deny');
});
