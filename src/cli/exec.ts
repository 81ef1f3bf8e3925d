import { access } from 'node:fs/promises';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { answerQuestion, openExecution } from '../execution/index.ts';
import type { Executed, OpenExecution } from '../execution/index.ts';
import { connect } from '../gate/index.ts';
import { homeAt } from '../home.ts';
import { locateLedger } from '../ledger-location.ts';
import { Problem } from '../problem.ts';
import { findRules } from '../rules-file.ts';
import { PolicyHolder } from '../domain/policy/holder.ts';
import { action, operator } from './cli.ts';
import type { Cli } from './cli.ts';
import { confirmed } from './confirm.ts';
import { plain } from './text.ts';
import { parseDuration } from './time.ts';
import { EXIT } from './usage.ts';

interface ExecOptions {
  readonly timeout?: number;
  readonly network?: 'on' | 'off';
  readonly cwd?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly wait?: number | true;
  readonly stdin?: boolean;
  readonly offline?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function registerExec(program: Command): void {
  program
    .command('exec')
    .description('run a command behind policy, gate, sandbox and audit')
    .argument('<command...>', 'after --: one argument is a line for the shell, several are a program and its arguments')
    .option('--timeout <duration>', 'end it after this: 30s, 10m (default: runner.timeoutSecs)', parseDuration)
    .addOption(new Option('--network <state>', 'off takes a sandbox').choices(['on', 'off']))
    .option('--cwd <directory>', 'where to run it; within a root')
    .option('--agent <id>', 'who calls (default: your user name)')
    .option('--session <id>', 'the session that the quota counts')
    .option('--wait [duration]', 'wait for a person to decide, if one has to', parseDuration)
    .option('--stdin', 'let it read standard input')
    .option('--offline', 'without the ledger: trust, quota and kill switch are not consulted')
    .option('--dry-run', 'say what the policy answers; run nothing')
    .option('--json', 'print the envelope instead of the output')
    .addHelpText(
      'after',
      `
Exit codes: that of the command; 3 refused, 4 a person has to be asked.

Examples:
  surety exec -- 'npm test 2>&1 | tail -20'
  surety exec --network off --timeout 5m -- make -j2
  surety exec --wait 10m -- 'rm -r build'`,
    )
    .action(action(exec));
}

async function exec(cli: Cli, words: readonly string[], options: ExecOptions): Promise<number> {
  const { terminal, config } = cli;
  const command = words.length === 1 ? (words[0] ?? '') : words.map(quoted).join(' ');
  if (options.dryRun === true) return dryRun(cli, command, options);
  const databaseUrl = await ledgerFor(config, options.offline === true);
  if (databaseUrl === undefined) {
    terminal.complain('No ledger: trust, quota and kill switch are not consulted; policy, audit and sandbox hold.');
  }
  const agent = options.agent ?? operator();
  const { session } = options;
  const identity = { agent, ...(session === undefined ? {} : { session }) };
  const gate = databaseUrl === undefined ? undefined : await connect({ databaseUrl, ...identity });
  let execution: OpenExecution | undefined;
  try {
    execution = await openExecution({
      ...(gate === undefined || databaseUrl === undefined ? {} : { gate, databaseUrl }),
      ...(options.network === undefined ? {} : { runner: { network: options.network === 'on' } }),
    });
    const executed = await run(cli, execution, command, identity, options);
    return shown(cli, executed, options);
  } finally {
    await execution?.close();
    await gate?.close();
  }
}

async function run(
  cli: Cli,
  execution: OpenExecution,
  command: string,
  identity: { readonly agent: string; readonly session?: string },
  options: ExecOptions,
): Promise<Executed> {
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupt);
  const how = {
    stopped: interrupted.signal,
    approvalWaitMs: options.wait === true ? Infinity : (options.wait ?? 0),
    ...(options.json === true ? {} : { onOutput: passOn }),
  };
  const args = {
    command,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.timeout === undefined ? {} : { timeoutSecs: Math.max(1, Math.ceil(options.timeout / 1000)) }),
    ...(options.stdin === true ? { input: (await buffer(process.stdin)).toString('utf8') } : {}),
  };
  try {
    const executed = await execution.execute({ tool: 'shell', args, ...identity }, how);
    // Only a person at a terminal, and only where the gate cannot ask one.
    if (executed.status !== 'ask' || executed.question.approval !== undefined || !cli.terminal.interactive)
      return executed;
    cli.terminal.complain(`The policy asks: ${plain(executed.question.because)}`);
    if (!(await confirmed(cli, `Run ${plain(command)}?`, false))) return executed;
    return await execution.executeConfirmed(answerQuestion(executed.question, operator()), how);
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, interrupt);
  }
}

async function passOn(stream: 'stdout' | 'stderr', chunk: Buffer): Promise<void> {
  if (!process[stream].write(chunk)) await once(process[stream], 'drain');
}

function shown({ terminal }: Cli, executed: Executed, { json }: ExecOptions): number {
  if (json === true) {
    const { status, callId } = executed;
    const envelope = 'output' in executed ? executed.output?.value : undefined;
    terminal.printJson({
      ...{ status, callId },
      ...(envelope === undefined ? {} : { envelope }),
      ...('error' in executed ? { error: executed.error } : {}),
      ...(executed.status === 'refused' ? { refusal: executed.refusal } : {}),
      ...(executed.status === 'ask' ? { approval: executed.question.approval ?? null } : {}),
    });
  }
  switch (executed.status) {
    case 'done':
      return executed.output.exitCode ?? EXIT.ok;
    case 'failed':
      if (executed.output?.exitCode == null || executed.output.failure !== undefined) {
        terminal.complain(`error: ${plain(executed.error.message)}`);
      }
      return executed.output?.exitCode ?? EXIT.error;
    case 'refused':
      terminal.complain(`refused (${executed.refusal.stage}): ${plain(executed.error.message)}`);
      return EXIT.denied;
    case 'ask': {
      const { approval, because } = executed.question;
      terminal.complain(`ask: ${plain(because)}`);
      terminal.complain(
        approval === undefined
          ? 'Nobody can be asked without a ledger: start one with `surety up`, or run it at a terminal.'
          : `A person may approve it: surety approve ${approval}   Then run the same again.`,
      );
      return EXIT.ask;
    }
  }
}

async function dryRun({ terminal }: Cli, command: string, { json }: ExecOptions): Promise<number> {
  const { shell } = await findRules();
  const { verdict, reasons } = new PolicyHolder(shell).judge(command);
  if (json === true) terminal.printJson({ verdict, reasons });
  else terminal.print([verdict, ...reasons.map(({ because }) => `  ${plain(because)}`)].join('\n'));
  return { allow: EXIT.ok, ask: EXIT.ask, deny: EXIT.denied }[verdict];
}

/**
 * Where there never was a ledger there is nothing to consult. Where there is one that does not answer, its kill switch may be
 * on: then somebody has to say that it is to be passed by.
 */
async function ledgerFor(config: Config, isOffline: boolean): Promise<string | undefined> {
  if (isOffline) return undefined;
  try {
    return await locateLedger(config);
  } catch (error) {
    if (!(error instanceof Problem) || config.databaseUrl !== undefined) throw error;
    const isInstalled = await access(homeAt(config.home).postgres).then(
      () => true,
      () => false,
    );
    if (!isInstalled) return undefined;
    throw new Problem(error.message, `${error.wayOut} Or pass it by: surety exec --offline.`, { cause: error });
  }
}

/** As a word for the shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
