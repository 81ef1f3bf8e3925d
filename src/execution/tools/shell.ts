import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { scrubEnvironment } from '../../domain/execution/environment.ts';
import { isWithin } from '../../domain/files/path-text.ts';
import type { Tool, ToolOutput } from '../call.ts';
import type { ExecutionRules } from '../rules.ts';
import type { ShellEnvelope } from '../shell/envelope.ts';
import { runShell } from '../shell/run.ts';

const ShellArguments = z.strictObject({
  command: z.string().min(1).max(1_000_000).describe('Run by /bin/sh.'),
  cwd: z.string().optional().describe('Within a root; the first root if absent.'),
  timeoutSecs: z.int().min(1).max(86_400).optional(),
  input: z.string().optional().describe('What the command reads; otherwise there is nothing to read.'),
});
type ShellArguments = z.infer<typeof ShellArguments>;

/** Runs commands. Not retryable: nobody knows what a command that failed has done. */
export function shellTool(rules: ExecutionRules, environment: Readonly<Record<string, string>>): Tool<ShellArguments> {
  const { runner, shell, files } = rules;
  const env = scrubEnvironment(environment, runner.passEnvironment);
  return {
    name: 'shell',
    description: 'Run a command and return its output, exit code and whether anything was cut.',
    risk: 'write',
    retryable: false,
    schema: ShellArguments,
    intent: ({ command, cwd = '.' }) => {
      const directory = resolve(files.base, cwd);
      const paths = shell.judge(command).paths.map(({ path, intent, known }) => ({
        path: known && !/^[/~]/.test(path) ? resolve(directory, path) : path,
        access: intent,
        known,
      }));
      return { command, paths: [{ path: directory, access: 'read', known: true }, ...paths] };
    },
    run: async ({ command, cwd = '.', timeoutSecs = runner.timeoutSecs, input }, context) => {
      const directory = await realpath(resolve(files.base, cwd));
      if (!files.rules.roots.some((root) => isWithin(root, directory))) {
        const message = `${directory} lies outside of ${files.rules.roots.join(', ')}`;
        return {
          value: undefined,
          truncated: false,
          exitCode: null,
          text: '',
          failure: { category: 'policy_blocked', message },
        };
      }
      const { maxOutputBytes } = runner;
      const envelope = await runShell({
        ...{ command, cwd: directory, env, timeoutMs: timeoutSecs * 1000, maxOutputBytes, ...context },
        ...(input === undefined ? {} : { input }),
      });
      return outputOf(envelope, timeoutSecs);
    },
  };
}

function outputOf(envelope: ShellEnvelope, timeoutSecs: number): ToolOutput {
  const { stdout, stderr, truncated, exitCode, timedOut, cancelled } = envelope;
  const text = [stdout, ...(stderr === '' ? [] : ['[stderr]', stderr])].join('\n');
  const output = { value: envelope, truncated, exitCode, text };
  if (cancelled) return { ...output, failure: { category: 'cancelled', message: 'it was stopped before its end' } };
  if (!timedOut) return output;
  return { ...output, failure: { category: 'timeout', message: `it did not end within ${timeoutSecs} s` } };
}
