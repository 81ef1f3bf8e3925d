import { buffer } from 'node:stream/consumers';
import { Argument } from 'commander';
import type { Command } from 'commander';
import type { AuditEntry } from '../domain/audit/entry.schema.ts';
import { openAudit } from '../execution/audit/audit.ts';
import { checkPath, FILE_OPERATIONS } from '../execution/files/check.ts';
import type { FileOperation } from '../execution/files/check.ts';
import { deletePath, movePath } from '../execution/files/move.ts';
import { readFile } from '../execution/files/read.ts';
import type { FileRefusal } from '../execution/files/refusal.ts';
import { openSandbox } from '../execution/files/sandbox.ts';
import type { FileSandbox } from '../execution/files/sandbox.ts';
import { globPaths, grepFiles } from '../execution/files/search.ts';
import { copyFile, editFile, writeFile } from '../execution/files/write.ts';
import { homeAt } from '../home.ts';
import { findRules } from '../rules-file.ts';
import { action, operator } from './cli.ts';
import type { Cli } from './cli.ts';
import { plain } from './text.ts';
import { EXIT, parseCount } from './usage.ts';

interface Common {
  readonly root?: string;
  readonly json?: boolean;
}

export function registerFiles(program: Command): void {
  const files = program.command('files').description('read, write and search files within the roots of surety.json');
  const add = (name: string, description: string) =>
    files
      .command(name)
      .description(description)
      .option('--root <directory>', 'the root (default: file.roots, or here)')
      .option('--json', 'print JSON');
  add('check', 'what an operation would be answered, and by which rule; touches nothing')
    .addArgument(new Argument('<op>', 'the operation').choices(FILE_OPERATIONS))
    .argument('<path>')
    .action(action(check));
  add('read', 'print a file')
    .argument('<path>')
    .option('--offset <bytes>', 'begin here', parseCount)
    .option('--max <bytes>', 'print at most so much', parseCount)
    .action(
      action((cli, path: string, options: Common & { offset?: number; max?: number }) =>
        run(
          cli,
          'read',
          { path },
          options,
          (sandbox) =>
            readFile(sandbox, path, {
              ...(options.offset === undefined ? {} : { offset: options.offset }),
              ...(options.max === undefined ? {} : { maxBytes: options.max }),
            }),
          (result) => Buffer.from(result.content, result.encoding),
        ),
      ),
    );
  add('write', 'write a file, from --text or standard input')
    .argument('<path>')
    .option('--text <text>', 'what to write')
    .option('--parents', 'make missing directories')
    .action(
      action(async (cli, path: string, options: Common & { text?: string; parents?: boolean }) => {
        const content = options.text ?? (await buffer(process.stdin));
        return run(
          cli,
          'write',
          { path },
          options,
          (sandbox) => writeFile(sandbox, path, content, { parents: options.parents === true }),
          ({ bytes, path: at }) => `Wrote ${bytes} bytes to ${plain(at)}.\n`,
        );
      }),
    );
  add('edit', 'replace a text in a file')
    .argument('<path>')
    .requiredOption('--old <text>', 'what to replace; must be there exactly once')
    .requiredOption('--new <text>', 'what to put in its place')
    .option('--all', 'every occurrence')
    .action(
      action((cli, path: string, options: Common & { old: string; new: string; all?: boolean }) =>
        run(
          cli,
          'edit',
          { path, old: options.old, new: options.new },
          options,
          (sandbox) => editFile(sandbox, path, { old: options.old, new: options.new, all: options.all === true }),
          ({ replacements, path: at }) => `Replaced ${replacements} in ${plain(at)}.\n`,
        ),
      ),
    );
  for (const name of ['copy', 'move'] as const) {
    add(name, name === 'copy' ? 'copy a file' : 'move a file, link or directory')
      .argument('<from>')
      .argument('<to>')
      .option('--overwrite', 'replace what is there')
      .action(
        action((cli, from: string, to: string, options: Common & { overwrite?: boolean }) => {
          const overwrite = options.overwrite === true;
          const transfer = async (sandbox: FileSandbox) =>
            name === 'copy' ? copyFile(sandbox, from, to, { overwrite }) : movePath(sandbox, from, to, { overwrite });
          return run(
            cli,
            name,
            { from, to },
            options,
            transfer,
            ({ from: source, path }) => `${plain(source)} -> ${plain(path)}\n`,
          );
        }),
      );
  }
  add('delete', 'delete a file, a link itself, or a directory')
    .argument('<path>')
    .option('-r, --recursive', 'a directory and what is in it')
    .action(
      action((cli, path: string, options: Common & { recursive?: boolean }) =>
        run(
          cli,
          'delete',
          { path },
          options,
          (sandbox) => deletePath(sandbox, path, { recursive: options.recursive === true }),
          ({ deleted, path: at }) => `Deleted ${plain(at)} (${deleted}).\n`,
        ),
      ),
    );
  add('glob', 'names that match a pattern')
    .argument('<pattern>')
    .argument('[path]', 'where to begin', '.')
    .action(
      action((cli, pattern: string, path: string, options: Common) =>
        run(
          cli,
          'glob',
          { pattern, path },
          options,
          (sandbox) => globPaths(sandbox, pattern, { path }),
          ({ paths, truncated }) =>
            `${paths.map((each) => `${plain(each)}\n`).join('')}${truncated ? '… (truncated)\n' : ''}`,
        ),
      ),
    );
  add('grep', 'lines that match an expression (RE2)')
    .argument('<pattern>')
    .argument('[path]', 'where to begin', '.')
    .option('-i, --ignore-case', 'whatever the case')
    .option('-F, --fixed', 'the pattern is plain text')
    .option('--glob <pattern>', 'only in these files')
    .action(
      action(
        (
          cli,
          pattern: string,
          path: string,
          options: Common & { ignoreCase?: boolean; fixed?: boolean; glob?: string },
        ) =>
          run(
            cli,
            'grep',
            { pattern, path },
            options,
            (sandbox) =>
              grepFiles(sandbox, pattern, {
                path,
                ignoreCase: options.ignoreCase === true,
                fixed: options.fixed === true,
                ...(options.glob === undefined ? {} : { glob: options.glob }),
              }),
            ({ matches, truncated }) =>
              `${matches.map(({ path: at, line, text }) => `${plain(at)}:${line}:${plain(text)}\n`).join('')}${truncated ? '… (truncated)\n' : ''}`,
          ),
      ),
    );
}

async function sandboxFor({ root }: Common): Promise<FileSandbox> {
  const { file } = await findRules();
  return openSandbox(root === undefined ? file : { ...file, roots: [root] }, process.cwd());
}

async function check({ terminal }: Cli, operation: FileOperation, path: string, options: Common): Promise<number> {
  const found = await checkPath(await sandboxFor(options), operation, path);
  if (options.json === true) terminal.printJson({ operation, given: path, ...found });
  else terminal.print(`${found.verdict}: ${plain(found.because)} (${plain(found.rule)})`);
  return found.verdict === 'allow' ? EXIT.ok : EXIT.denied;
}

/** Runs an operation, records it, and only then prints what it answered. */
async function run<R extends { readonly ok: true }>(
  { config, terminal }: Cli,
  operation: FileOperation,
  args: Record<string, string>,
  options: Common,
  operate: (sandbox: FileSandbox) => Promise<R | FileRefusal>,
  show: (result: R) => string | Uint8Array,
): Promise<number> {
  const sandbox = await sandboxFor(options);
  const { audit: section } = await findRules();
  const started = performance.now();
  const result = await operate(sandbox);
  const audit = openAudit(homeAt(config.home).audit, section);
  try {
    await audit.append(entryOf(operation, args, result, performance.now() - started));
  } finally {
    await audit.close();
  }
  if (options.json === true) terminal.printJson(result);
  else if (result.ok) process.stdout.write(show(result));
  else
    terminal.complain(`error: ${plain(result.because)}${result.rule === undefined ? '' : ` (${plain(result.rule)})`}`);
  if (result.ok) return EXIT.ok;
  return { policy_blocked: EXIT.denied, invalid_parameters: EXIT.usage, permanent_failure: EXIT.error }[
    result.category
  ];
}

function entryOf(
  operation: string,
  args: Record<string, string>,
  result: { readonly ok: true } | FileRefusal,
  took: number,
): AuditEntry {
  const common = {
    ts: new Date().toISOString(),
    tool: `files.${operation}`,
    server: 'local',
    agent: operator(),
    arguments: args,
    duration_ms: Math.round(took),
    truncated: 'truncated' in result && result.truncated === true,
    exit_code: null,
  };
  if (result.ok) return { ...common, result: 'success' };
  const { category, because } = result;
  const failure = { error_category: category, error_phase: category === 'policy_blocked' ? 'policy' : 'run', because };
  return { ...common, ...failure, result: category === 'policy_blocked' ? 'blocked' : 'error' };
}
