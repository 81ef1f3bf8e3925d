import * as z from 'zod';
import type { Access } from '../../domain/files/file-rules.ts';
import type { Rule } from '../../domain/rules/rules.schema.ts';
import type { Tool, ToolOutput } from '../call.ts';
import { executorOf, firstOf } from '../executor.ts';
import type { Executor } from '../call.ts';
import { deletePath, movePath } from '../files/move.ts';
import { readFile } from '../files/read.ts';
import type { FileRefusal } from '../files/refusal.ts';
import type { FileSandbox } from '../files/sandbox.ts';
import { globPaths, grepFiles } from '../files/search.ts';
import { copyFile, editFile, writeFile } from '../files/write.ts';

const path = z.string().min(1, 'there is no path').max(4096);
const flag = z.boolean().default(false);

type Touched = readonly [path: string, access: Access, how?: 'itself' | 'taken'];

/** Reading twice reads the same; what changes files says for itself whether doing it again does more. */
export function fileExecutor(files: FileSandbox): Executor {
  const tool = <Args>(
    name: string,
    description: string,
    declared: { readonly risk: Rule['risk']; readonly retryable: boolean },
    schema: z.ZodType<Args>,
    touches: (args: Args) => readonly Touched[],
    operate: (sandbox: FileSandbox, args: Args) => Promise<({ readonly ok: true } & object) | FileRefusal>,
    confirmed?: (args: Args) => boolean,
  ): Executor => {
    const made: Tool<Args> = {
      ...{ name, description, schema, ...declared },
      intent: (args) => ({
        paths: touches(args).map(([each, access, how]) => ({
          ...{ path: each, access, known: true },
          ...(how === undefined ? {} : { link: 'itself' as const }),
          ...(how === 'taken' ? { isTaken: true as const } : {}),
        })),
        ...(confirmed?.(args) === true ? { question: `${name} with all that is in it is to be confirmed` } : {}),
      }),
      run: async (args, { stopped, unauthorised }) => {
        const rules = unauthorised === undefined ? files.rules : { ...files.rules, unauthorised };
        return outputOf(await operate({ ...files, rules, stopped }, args));
      },
    };
    return executorOf(made);
  };
  const reads = { risk: 'read', retryable: true } as const;
  const changes = { risk: 'write', retryable: false } as const;
  return firstOf([
    tool(
      ...(['read', 'Read a file.', reads] as const),
      z.strictObject({ path, offset: z.int().min(0).default(0), maxBytes: z.int().min(1).optional() }),
      (args) => [[args.path, 'read']],
      (sandbox, { path: at, offset, maxBytes }) =>
        readFile(sandbox, at, { offset, ...(maxBytes === undefined ? {} : { maxBytes }) }),
    ),
    tool(
      ...(['write', 'Write a whole file.', { risk: 'write', retryable: true }] as const),
      z.strictObject({
        ...{ path, content: z.string(), parents: flag, overwrite: z.boolean().default(true) },
        encoding: z.enum(['utf8', 'base64']).default('utf8').describe('Of content.'),
      }),
      (args) => [[args.path, 'write']],
      (sandbox, { path: at, content, encoding, ...options }) =>
        writeFile(sandbox, at, Buffer.from(content, encoding), options),
    ),
    tool(
      ...(['edit', 'Replace a text in a file.', changes] as const),
      z.strictObject({ path, old: z.string(), new: z.string(), all: flag }),
      (args) => [...both(args.path)],
      (sandbox, { path: at, ...edit }) => editFile(sandbox, at, edit),
    ),
    tool(
      ...(['copy', 'Copy a file.', changes] as const),
      z.strictObject({ from: path, to: path, parents: flag, overwrite: flag }),
      ({ from, to }) => [
        [from, 'read'],
        [to, 'write'],
      ],
      (sandbox, { from, to, ...options }) => copyFile(sandbox, from, to, options),
    ),
    tool(
      ...(['move', 'Move a file, a link or a directory.', changes] as const),
      z.strictObject({ from: path, to: path, overwrite: flag }),
      ({ from, to }) => [
        [from, 'read', 'itself'],
        [from, 'write', 'taken'],
        [to, 'write', 'itself'],
      ],
      (sandbox, { from, to, overwrite }) => movePath(sandbox, from, to, { overwrite }),
    ),
    tool(
      ...(['delete', 'Delete a file, a link, or a directory.', { risk: 'destructive', retryable: false }] as const),
      z.strictObject({ path, recursive: flag }),
      (args) => [[args.path, 'write', 'taken']],
      (sandbox, { path: at, recursive }) => deletePath(sandbox, at, { recursive }),
      ({ recursive }) => recursive,
    ),
    tool(
      ...(['glob', 'Names that match a pattern.', reads] as const),
      z.strictObject({ pattern: z.string().min(1), path: path.default('.') }),
      (args) => [[args.path, 'read']],
      (sandbox, { pattern, path: at }) => globPaths(sandbox, pattern, { path: at }),
    ),
    tool(
      ...(['grep', 'Lines that match an expression (RE2).', reads] as const),
      z.strictObject({
        ...{ pattern: z.string().min(1), path: path.default('.'), glob: z.string().optional() },
        ...{ fixed: flag, ignoreCase: flag },
      }),
      (args) => [[args.path, 'read']],
      (sandbox, { pattern, path: at, glob, fixed, ignoreCase }) =>
        grepFiles(sandbox, pattern, { path: at, fixed, ignoreCase, ...(glob === undefined ? {} : { glob }) }),
    ),
  ]);
}

function both(each: string): readonly [Touched, Touched] {
  return [
    [each, 'read'],
    [each, 'write'],
  ];
}

function outputOf(result: ({ readonly ok: true } & object) | FileRefusal): ToolOutput {
  const truncated = 'truncated' in result && result.truncated === true;
  const output = { value: result, truncated, exitCode: null, text: JSON.stringify(result, withoutBinary) };
  return result.ok ? output : { ...output, failure: { category: result.category, message: result.because } };
}

/** For the audit: in base64 it would know no secret. */
function withoutBinary(this: unknown, key: string, value: unknown): unknown {
  const { encoding, bytes } = this as { readonly encoding?: unknown; readonly bytes?: unknown };
  return key === 'content' && encoding === 'base64' ? `[binary, ${String(bytes)} bytes]` : value;
}
