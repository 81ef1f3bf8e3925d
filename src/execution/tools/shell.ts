import { realpath, stat } from 'node:fs/promises';
import * as z from 'zod';
import type { ErrorCategory } from '../../domain/execution/errors.ts';
import { scrubEnvironment } from '../../domain/execution/environment.ts';
import type { CalledPath } from '../../domain/execution/authorisation.ts';
import { decidePath, toStandIn } from '../../domain/files/file-rules.ts';
import type { FileRules } from '../../domain/files/file-rules.ts';
import { isWithin } from '../../domain/files/path-text.ts';
import { handedOn } from '../../domain/policy/paths/handed-on.ts';
import type { CommandPath } from '../../domain/policy/paths/paths.ts';
import type { RunContext, Tool, ToolOutput } from '../call.ts';
import { coveredBelow } from '../files/covered.ts';
import type { Covered } from '../files/covered.ts';
import { below } from '../paths.ts';
import { mountsBelow } from '../mounts.ts';
import type { ExecutionRules } from '../rules.ts';
import type { Confinement } from '../sandbox.ts';
import type { Bash } from '../shell/bash.ts';
import type { ShellEnvelope } from '../shell/envelope.ts';
import { runShell } from '../shell/run.ts';

/** Of one argument, on Linux. */
const LONGEST_COMMAND = 131_000;

const ShellArguments = z.strictObject({
  command: z
    .string()
    .min(1, 'there is no command')
    .refine(
      (command) => Buffer.byteLength(command) <= LONGEST_COMMAND,
      `the system passes on ${LONGEST_COMMAND} bytes at most`,
    )
    .describe('Run by bash.'),
  cwd: z.string().optional().describe('Within a root; the first root if absent.'),
  timeoutSecs: z.int().min(1).max(86_400).optional(),
  input: z.string().optional().describe('What the command reads; otherwise there is nothing to read.'),
});
type ShellArguments = z.infer<typeof ShellArguments>;

/** Runs commands. Not retryable: nobody knows what a command that failed has done. */
export function shellTool(
  rules: ExecutionRules,
  environment: Readonly<Record<string, string>>,
  bash: Bash,
): Tool<ShellArguments> {
  const { runner, shell, files } = rules;
  const env = scrubEnvironment(environment, runner.passEnvironment);
  return {
    name: 'shell',
    description: 'Run a command and return its output, exit code and whether anything was cut.',
    risk: 'write',
    retryable: false,
    schema: ShellArguments,
    intent: ({ command, cwd = '.' }) => {
      const directory = below(files.base, cwd);
      const { paths, guesses } = shell.judge(command);
      const named = [
        ...withoutHandedOn(command, paths, files.rules).flatMap((each) => calledFrom(directory, each)),
        ...guesses.flatMap((each) =>
          calledFrom(directory, each).map((called) => ({ ...called, isGuess: true as const })),
        ),
      ];
      return { command, paths: [{ path: directory, access: 'read', known: true, isPlace: true }, ...named] };
    },
    run: async ({ command, cwd = '.', timeoutSecs = runner.timeoutSecs, input }, context) => {
      if (!bash.found) return refused('permanent_failure', `${bash.because}. ${bash.wayOut}`);
      const directory = await realDirectory(below(files.base, cwd));
      if (directory === undefined) return refused('invalid_parameters', `There is no directory ${cwd} to run it in.`);
      const { verdict, because } = decidePath(toStandIn(files.rules), 'read', directory);
      if (verdict === 'deny') {
        return refused('policy_blocked', because);
      }
      const { flaw, ...confinement } = await withCovered(context, rules);
      if (flaw !== undefined) return refused('policy_blocked', uncovered(flaw));
      const { maxOutputBytes } = runner;
      const envelope = await runShell({
        ...{ command, bash: bash.program, cwd: directory, env },
        ...{ timeoutMs: timeoutSecs * 1000, maxOutputBytes, ...context, confinement },
        ...(input === undefined ? {} : { input }),
      });
      return outputOf(envelope, timeoutSecs);
    },
  };
}

/**
 * Without what nobody knows because `find` or `xargs` will say it, where that does no harm: only names and sizes are told, or there is
 * nothing within the roots that may not be read.
 */
function withoutHandedOn(command: string, paths: readonly CommandPath[], rules: FileRules): readonly CommandPath[] {
  const isOpen = ({ path, known, intent }: CommandPath) => !known && path === '…' && intent === 'read';
  if (!paths.some(isOpen)) return paths;
  const { roots, kept, deny, allow } = rules;
  const isKept = kept.some((own) => roots.some((root) => isWithin(root, own)));
  const mayShow = deny.read.length === 0 && allow.read.length === 0 && !isKept;
  const harmless = handedOn(command).filter(({ isShown }) => mayShow || !isShown);
  return paths.filter(
    (each) => !isOpen(each) || !harmless.some(({ start, end }) => start === each.start && end === each.end),
  );
}

/** Each place where a path of a command may lie, seen from the directory in which the command begins. */
function calledFrom(
  beginning: string,
  { path, intent, known: isKnown, starts, takes }: CommandPath,
): readonly CalledPath[] {
  // Some commands write through a link, others replace it or take it away.
  const called = { access: intent, known: isKnown, link: 'either', ...(takes && { takes }) } as const;
  if (!isKnown || /^[/~]/.test(path)) return [{ ...called, path }];
  return starts.map(({ directory, unless }): CalledPath => {
    if (directory === undefined) return { ...called, path, known: false };
    const place = { ...called, path: from(from(beginning, directory), path) };
    return unless.length === 0 ? place : { ...place, unless: unless.map((each) => from(beginning, each)) };
  });
}

/** As a command has it, where `~` is somebody's home. */
function from(directory: string, path: string): string {
  if (path.startsWith('~')) return path;
  return path === '' ? directory : below(directory, path);
}

/** What a command finds by itself no rule has looked at: there the sandbox holds what the rules deny, or says why it could not. */
async function withCovered(
  { sandbox, confinement, unauthorised }: RunContext,
  { files, authorization }: ExecutionRules,
): Promise<Confinement & Pick<Covered, 'flaw'>> {
  if (sandbox.kind === 'none') return confinement;
  const isDenied = authorization.rules.some(({ action, paths }) => action === 'deny' && paths !== undefined);
  const rules = unauthorised !== undefined && isDenied ? { ...files.rules, unauthorised } : files.rules;
  const [covered, mounts] = await Promise.all([coveredBelow(rules), mountsBelow(confinement.writable)]);
  const unnamed = mounts.find((mount) => mount.includes('\ufffd'));
  return {
    ...{ ...confinement, ...covered },
    ...(unnamed === undefined
      ? {}
      : { flaw: `${unnamed}, where something else is mounted, has a name that is not UTF-8` }),
    hidden: [...confinement.hidden, ...covered.hidden, ...mounts],
    readOnly: [...confinement.readOnly, ...covered.readOnly],
  };
}

function uncovered(flaw: string): string {
  return `the sandbox could not cover what rules deny (denyRead, denyWrite, authorization): ${flaw}, or set runner.sandbox to off`;
}

async function realDirectory(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return undefined;
  return (await stat(real).catch(() => undefined))?.isDirectory() === true ? real : undefined;
}

/** Nothing has run. */
function refused(category: ErrorCategory, message: string): ToolOutput {
  return { value: undefined, truncated: false, exitCode: null, text: '', failure: { category, message } };
}

function outputOf(envelope: ShellEnvelope, timeoutSecs: number): ToolOutput {
  const { truncated, exitCode, timedOut, cancelled, encoding, bytes } = envelope;
  // In base64 the audit would know no secret.
  const [stdout, stderr] = (['stdout', 'stderr'] as const).map((stream) =>
    encoding[stream] === 'base64' ? `[binary, ${bytes[stream]} bytes]` : envelope[stream],
  ) as [string, string];
  const text = [stdout, ...(stderr === '' ? [] : ['[stderr]', stderr])].join('\n');
  const output = { value: envelope, truncated, exitCode, text };
  if (cancelled) return { ...output, failure: { category: 'cancelled', message: 'it was stopped before its end' } };
  if (!timedOut) return output;
  return { ...output, failure: { category: 'timeout', message: `it did not end within ${timeoutSecs} s` } };
}
