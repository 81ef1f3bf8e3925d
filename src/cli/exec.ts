import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';
import { Option } from 'commander';
import type { Command } from 'commander';
import { openExecution } from '../execution/index.ts';
import type { Executed } from '../execution/index.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { callTool, complainOf, jsonOfCall, ledgerFor, withCallOptions } from './execution.ts';
import type { CallOptions } from './execution.ts';
import { written } from './terminal.ts';
import { plain } from './text.ts';
import { parseDuration } from './time.ts';
import { EXIT, UsageError } from './usage.ts';

interface ExecOptions extends CallOptions {
  readonly timeout?: number;
  readonly network?: 'on' | 'off';
  readonly cwd?: string;
  readonly stdin?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function registerExec(program: Command): void {
  const command = program
    .command('exec')
    .description('run a command behind policy, gate, sandbox and audit')
    .argument('<command...>', 'after --: one argument is a line for the shell, several are a program and its arguments')
    .option('--timeout <duration>', 'end it after this: 30s, 10m (default: runner.timeoutSecs)', parseDuration)
    .addOption(
      new Option('--network <state>', 'off takes a sandbox; what surety.json keeps off stays off').choices([
        'on',
        'off',
      ]),
    )
    .option('--cwd <directory>', 'where to run it; within a root')
    .option('--stdin', 'let it read standard input');
  withCallOptions(command)
    .option('--dry-run', 'say what rules and policy answer; run nothing')
    .option('--json', 'print the envelope instead of the output')
    .addHelpText(
      'after',
      `
Exit codes: that of the command; 3 refused, 4 a person has to be asked, 130 interrupted.

Examples:
  surety exec -- 'npm test 2>&1 | tail -20'
  surety exec --network off --timeout 5m -- make -j2
  surety exec --wait 10m -- 'rm -r build'`,
    )
    .action(action(exec));
}

async function exec(cli: Cli, words: readonly string[], options: ExecOptions): Promise<number> {
  const command = words.length === 1 ? (words[0] ?? '') : words.map(quoted).join(' ');
  if (options.dryRun === true) return dryRun(cli, command, options);
  const args = {
    command,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.timeout === undefined ? {} : { timeoutSecs: Math.max(1, Math.ceil(options.timeout / 1000)) }),
    ...(options.stdin === true ? { input: await textOfInput() } : {}),
  };
  const call = { tool: 'shell', args, question: `Run ${plain(command)}?` };
  const opening = options.network === undefined ? {} : { runner: { network: options.network === 'on' } };
  const onOutput = options.json === true ? undefined : passOn;
  const { executed, stoppedWith } = await callTool(cli, call, options, opening, onOutput);
  const exitCode = shown(cli, executed, options);
  return stoppedWith ?? exitCode;
}

/** It becomes an argument of the call, and arguments are JSON. */
async function textOfInput(): Promise<string> {
  const input = await buffer(process.stdin);
  if (!isUtf8(input))
    throw new UsageError('standard input is no text', 'Encode it (base64) and decode it in the command.');
  return input.toString('utf8');
}

/** A command whose output nobody reads any more goes on: it may be in the middle of changing something. */
async function passOn(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void> {
  await written(process[stream], chunk);
}

function isUnread(envelope: unknown): boolean {
  return typeof envelope === 'object' && envelope !== null && Reflect.get(envelope, 'unread') === true;
}

function shown(cli: Cli, executed: Executed, { json }: ExecOptions): number {
  if (json === true) {
    const envelope = 'output' in executed ? executed.output?.value : undefined;
    cli.terminal.printJson({ ...jsonOfCall(executed), ...(envelope === undefined ? {} : { envelope }) });
  }
  switch (executed.status) {
    case 'done':
      if (isUnread(executed.output.value)) {
        cli.terminal.complain(
          'error: nobody took the output for as long as the command might run; the rest of it is lost',
        );
        return executed.output.exitCode || EXIT.error;
      }
      return executed.output.exitCode ?? EXIT.ok;
    case 'failed':
      if (executed.output?.exitCode == null || executed.output.failure !== undefined) {
        cli.terminal.complain(`error: ${plain(executed.error.message)}`);
      }
      return executed.output?.exitCode ?? EXIT.error;
    case 'refused':
    case 'ask':
      return complainOf(cli, executed);
  }
}

/** By the same judgement as a run: kill switch, claim, authorisation, paths, policy. Quota and trust would count it, and are left out. */
async function dryRun(
  { terminal, config }: Cli,
  command: string,
  { json, cwd, network, agent, offline }: ExecOptions,
): Promise<number> {
  const databaseUrl = await ledgerFor(config, offline === true);
  const execution = await openExecution({
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    ...(network === undefined ? {} : { runner: { network: network === 'on' } }),
  });
  try {
    const args = { command, ...(cwd === undefined ? {} : { cwd }) };
    const { verdict, because } = await execution.preview({
      tool: 'shell',
      args,
      ...(agent === undefined ? {} : { agent }),
    });
    if (json === true) terminal.printJson({ verdict, because });
    else terminal.print(because === '' ? verdict : `${verdict}\n  ${plain(because)}`);
    return { allow: EXIT.ok, ask: EXIT.ask, deny: EXIT.denied }[verdict];
  } finally {
    await execution.close();
  }
}

/** As a word for the shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
