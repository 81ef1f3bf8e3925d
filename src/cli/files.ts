import { buffer } from 'node:stream/consumers';
import { Argument } from 'commander';
import type { Command } from 'commander';
import * as z from 'zod';
import { checkOperation, FILE_OPERATIONS } from '../execution/files/check.ts';
import type { FileOperation } from '../execution/files/check.ts';
import { openSandbox } from '../execution/files/sandbox.ts';
import { ownFiles } from '../execution/open.ts';
import { plural } from '../domain/trust/tally.ts';
import { findRules } from '../rules-file.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { callTool, complainOf, jsonOfCall, withCallOptions } from './execution.ts';
import type { CallOptions } from './execution.ts';
import { plain } from './text.ts';
import { EXIT, parseCount } from './usage.ts';

interface Common extends CallOptions {
  readonly json?: boolean;
}

/** What the tools answer, as far as it is printed. */
const ANSWERS = {
  read: z
    .object({ content: z.string(), encoding: z.enum(['utf8', 'base64']) })
    .transform(({ content, encoding }) => Buffer.from(content, encoding)),
  write: z
    .object({ bytes: z.number(), path: z.string() })
    .transform((at) => `Wrote ${plural(at.bytes, 'byte')} to ${at.path}`),
  edit: z
    .object({ replacements: z.number(), path: z.string() })
    .transform((done) => `Replaced ${done.replacements} in ${done.path}`),
  copy: z.object({ from: z.string(), path: z.string() }).transform(({ from, path }) => `${from} -> ${path}`),
  move: z.object({ from: z.string(), path: z.string() }).transform(({ from, path }) => `${from} -> ${path}`),
  delete: z
    .object({ deleted: z.number(), path: z.string() })
    .transform(({ deleted, path }) => `Deleted ${path} (${deleted})`),
  glob: z
    .object({ paths: z.array(z.string()), truncated: z.boolean() })
    .transform(({ paths, truncated }) => [...paths, ...(truncated ? ['… (truncated)'] : [])]),
  grep: z
    .object({
      matches: z.array(z.object({ path: z.string(), line: z.number(), text: z.string() })),
      truncated: z.boolean(),
      cut: z.number(),
    })
    .transform(({ matches, truncated, cut }) => [
      ...matches.map(({ path, line, text }) => `${path}:${line}:${text}`),
      ...(truncated ? ['… (truncated)'] : []),
      ...(cut > 0 ? [`… (of ${plural(cut, 'long file')} only the beginning was searched)`] : []),
    ]),
} satisfies Record<FileOperation, z.ZodType<string | readonly string[] | Uint8Array>>;

export function registerFiles(program: Command): void {
  const files = program.command('files').description('read, write and search files within the roots of surety.json');
  files
    .command('check')
    .description('what an operation would be answered, and by which rule; touches nothing')
    .addArgument(new Argument('<op>', 'the operation').choices(FILE_OPERATIONS))
    .argument('<path>')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExit codes: 0 allow, 1 it would fail, 2 unusable arguments, 3 deny.')
    .action(action(check));
  const add = (name: FileOperation, description: string) =>
    withCallOptions(files.command(name).description(description))
      .option('--json', 'print JSON')
      .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 unusable arguments, 3 refused, 4 ask a person.');
  add('read', 'print a file')
    .argument('<path>')
    .option('--offset <bytes>', 'begin here', parseCount)
    .option('--max <bytes>', 'print at most so much', parseCount)
    .action(
      action((cli, path: string, { offset, max, ...options }: Common & { offset?: number; max?: number }) =>
        run(cli, 'read', { path, offset, maxBytes: max }, options),
      ),
    );
  add('write', 'write a file, from --text or standard input')
    .argument('<path>')
    .option('--text <text>', 'what to write')
    .option('--parents', 'make missing directories')
    .action(
      action(async (cli, path: string, { text, parents, ...options }: Common & { text?: string; parents?: boolean }) =>
        run(cli, 'write', { path, parents, ...(await contentOf(text)) }, options),
      ),
    );
  add('edit', 'replace a text in a file')
    .argument('<path>')
    .requiredOption('--old <text>', 'what to replace; must be there exactly once')
    .requiredOption('--new <text>', 'what to put in its place')
    .option('--all', 'every occurrence')
    .action(
      action((cli, path: string, options: Common & { old: string; new: string; all?: boolean }) =>
        run(cli, 'edit', { path, old: options.old, new: options.new, all: options.all }, options),
      ),
    );
  for (const name of ['copy', 'move'] as const) {
    add(name, name === 'copy' ? 'copy a file' : 'move a file, link or directory')
      .argument('<from>')
      .argument('<to>')
      .option('--overwrite', 'replace what is there')
      .action(
        action((cli, from: string, to: string, options: Common & { overwrite?: boolean }) =>
          run(cli, name, { from, to, overwrite: options.overwrite }, options),
        ),
      );
  }
  add('delete', 'delete a file, a link itself, or a directory')
    .argument('<path>')
    .option('-r, --recursive', 'a directory and what is in it')
    .action(
      action((cli, path: string, options: Common & { recursive?: boolean }) =>
        run(cli, 'delete', { path, recursive: options.recursive }, options),
      ),
    );
  add('glob', 'names that match a pattern')
    .argument('<pattern>')
    .argument('[path]', 'where to begin', '.')
    .action(
      action((cli, pattern: string, path: string, options: Common) => run(cli, 'glob', { pattern, path }, options)),
    );
  add('grep', 'lines that match an expression (RE2)')
    .argument('<pattern>')
    .argument('[path]', 'where to begin', '.')
    .option('-i, --ignore-case', 'whatever the case')
    .option('-F, --fixed', 'the pattern is plain text')
    .option('--glob <pattern>', 'only in these files')
    .action(
      action((cli, pattern: string, path: string, options: Common & GrepFlags) => {
        const { ignoreCase, fixed, glob } = options;
        return run(cli, 'grep', { pattern, path, ignoreCase, fixed, glob }, options);
      }),
    );
}

interface GrepFlags {
  readonly ignoreCase?: boolean;
  readonly fixed?: boolean;
  readonly glob?: string;
}

async function contentOf(text: string | undefined): Promise<{ content: string; encoding?: 'base64' }> {
  if (text !== undefined) return { content: text };
  return { content: (await buffer(process.stdin)).toString('base64'), encoding: 'base64' };
}

async function check(
  { config, terminal }: Cli,
  operation: FileOperation,
  path: string,
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { file } = await findRules();
  const own = ownFiles(config.home, process.cwd());
  const found = await checkOperation(await openSandbox(file, process.cwd(), { own }), operation, path);
  if (json === true) terminal.printJson({ operation, given: path, ...found });
  else terminal.print(`${found.verdict}: ${plain(found.because)} (${plain(found.rule)})`);
  return found.verdict === 'allow' ? EXIT.ok : (EXIT_OF.get(found.category) ?? EXIT.error);
}

async function run(cli: Cli, tool: FileOperation, args: object, options: Common): Promise<number> {
  const { executed, stoppedWith } = await callTool(cli, { tool, args, question: `Let it ${tool}?` }, options);
  const value = 'output' in executed ? executed.output?.value : undefined;
  if (options.json === true) cli.terminal.printJson(value ?? jsonOfCall(executed));
  switch (executed.status) {
    case 'done':
      if (options.json !== true) print(ANSWERS[tool].parse(value));
      if (tool === 'read' && options.json !== true) sayIfCut(cli, value);
      return EXIT.ok;
    case 'failed':
      cli.terminal.complain(`error: ${plain(executed.error.message)}`);
      return stoppedWith ?? EXIT_OF.get(executed.error.category) ?? EXIT.error;
    case 'refused':
    case 'ask':
      return complainOf(cli, executed);
  }
}

const Part = z.object({ bytes: z.number(), size: z.number(), truncated: z.literal(true) });

/** What is read by itself is a part, and looks like a whole. */
function sayIfCut({ terminal }: Cli, value: unknown): void {
  const { success, data } = Part.safeParse(value);
  if (success) terminal.complain(`Only ${data.bytes} bytes of ${data.size}; more with --offset.`);
}

const EXIT_OF: ReadonlyMap<string, number> = new Map([
  ['policy_blocked', EXIT.denied],
  ['invalid_parameters', EXIT.usage],
]);

/** Content as it is; a sentence or names as lines that cannot steer a terminal. */
function print(shown: string | readonly string[] | Uint8Array): void {
  if (shown instanceof Uint8Array) process.stdout.write(shown);
  else if (typeof shown === 'string') process.stdout.write(`${plain(shown)}.\n`);
  else process.stdout.write(shown.map((line) => `${plain(line)}\n`).join(''));
}
