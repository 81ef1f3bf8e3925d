import { access } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { answerQuestion, openExecution } from '../execution/index.ts';
import type { CallRequest, Executed, ExecuteOptions, OpenExecution, OpenOptions } from '../execution/index.ts';
import { connect } from '../gate/index.ts';
import { SWITCH_UNREAD } from '../execution/stages.ts';
import { homeAt } from '../home.ts';
import { locateLedger } from '../ledger-location.ts';
import { codeOf, Problem } from '../problem.ts';
import { operator } from './actor.ts';
import type { Cli } from './cli.ts';
import { confirmed } from './confirm.ts';
import { plain } from './text.ts';
import { parseDuration } from './time.ts';
import { EXIT } from './usage.ts';

/** SIGHUP: the terminal was closed. The call is ended and its line written all the same. */
const ENDS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What every command that runs a tool can be told. */
export interface CallOptions {
  readonly agent?: string;
  readonly session?: string;
  readonly wait?: number | true;
  readonly offline?: boolean;
}

export function withCallOptions(command: Command): Command {
  return command
    .option('--agent <id>', 'who calls (default: your user name)')
    .option('--session <id>', 'the session that the quota counts')
    .option('--wait [duration]', 'wait for a person to decide, if one has to', parseDuration)
    .option('--offline', 'without the ledger: trust, quota and kill switch are not consulted');
}

interface Called {
  readonly executed: Executed;
  /** 130 and the like, where a signal to us is why it ended. */
  readonly stoppedWith?: number;
}

/**
 * Runs one tool in the one order that there is, as an agent's call would be. A person at the terminal is asked only where the
 * gate cannot ask one; `question` is what they read.
 */
export async function callTool(
  cli: Cli,
  { tool, args, question }: Pick<CallRequest, 'tool' | 'args'> & { readonly question: string },
  options: CallOptions,
  opening: OpenOptions = {},
  onOutput?: ExecuteOptions['onOutput'],
): Promise<Called> {
  const databaseUrl = await ledgerFor(cli.config, options.offline === true);
  if (databaseUrl === undefined)
    cli.terminal.complain(
      `${options.offline === true ? 'The ledger is passed by' : 'No ledger'}: trust and kill switch are not consulted; policy, audit and sandbox hold, and where there is a quota nothing runs.`,
    );
  const { agent = operator(), session } = options;
  const identity = { agent, ...(session === undefined ? {} : { session }) };
  const gate = databaseUrl === undefined ? undefined : await connect({ databaseUrl, ...identity });
  const interrupted = new AbortController();
  let signalled: NodeJS.Signals | undefined;
  const interrupt = (signal: NodeJS.Signals) => {
    signalled ??= signal;
    interrupted.abort();
  };
  const called = (executed: Executed): Called =>
    signalled !== undefined && 'error' in executed && executed.error.category === 'cancelled'
      ? { executed, stoppedWith: 128 + constants.signals[signalled] }
      : { executed };
  // Every one of them: a second interrupt must not end us before what runs has ended, and has its line.
  for (const signal of ENDS) process.on(signal, interrupt);
  let execution: OpenExecution | undefined;
  try {
    const shared = gate === undefined || databaseUrl === undefined ? {} : { gate, databaseUrl };
    execution = await openExecution({ ...shared, ...opening });
    const how = {
      stopped: interrupted.signal,
      approvalWaitMs: options.wait === true ? Infinity : (options.wait ?? 0),
      ...(onOutput === undefined ? {} : { onOutput }),
    };
    const executed = await execution.execute({ tool, args, ...identity }, how);
    if (executed.status === 'refused' && executed.refusal.because.startsWith(SWITCH_UNREAD))
      complainOfLedger(cli, databaseUrl);
    if (executed.status !== 'ask' || executed.question.approval !== undefined || !cli.terminal.interactive)
      return called(executed);
    cli.terminal.complain(`The policy asks: ${plain(executed.question.because)}`);
    if (!(await confirmed(cli, question, false))) return called(executed);
    return called(await execution.executeConfirmed(answerQuestion(executed.question, operator()), how));
  } finally {
    for (const signal of ENDS) process.removeListener(signal, interrupt);
    await execution?.close();
    await gate?.close();
  }
}

/** Whoever has a database of their own in DATABASE_URL does not think of it when a kill switch cannot be read. */
function complainOfLedger({ terminal, config }: Cli, tried: string | undefined): void {
  if (tried === undefined || tried !== config.databaseUrl || config.isOwnDatabaseUrl) return;
  const { host, pathname } = new URL(tried);
  terminal.complain(
    `The ledger was looked for at ${plain(host + pathname)}, which DATABASE_URL names; nothing runs on ${config.home}.\n` +
      'If that is a database of your project: start a ledger with `surety up`, set SURETY_DATABASE_URL to where it is, or pass it by with --offline.',
  );
}

/** Says why a call did not run, and gives the exit code for it. */
export function complainOf(
  { terminal }: Cli,
  executed: Extract<Executed, { readonly status: 'refused' | 'ask' }>,
): number {
  if (executed.status === 'refused') {
    terminal.complain(`refused (${executed.refusal.stage}): ${plain(executed.error.message)}`);
    return executed.error.category === 'invalid_parameters' || executed.error.category === 'type_mismatch'
      ? EXIT.usage
      : EXIT.denied;
  }
  const { approval, because, call } = executed.question;
  terminal.complain(`ask: ${plain(because)}`);
  // Whoever asks does not decide, and without --agent that is whoever sits here.
  const but = call.agent === operator() ? ` (not ${plain(operator())}, who asks; name the agent with --agent)` : '';
  terminal.complain(
    approval === undefined
      ? 'Nobody can be asked without a ledger: start one with `surety up`, or run it at a terminal.'
      : `A person may approve it${but}: surety approve ${approval}   Then run the same again.`,
  );
  return EXIT.ask;
}

/** For --json: what is the same whatever the tool. */
export function jsonOfCall(executed: Executed): object {
  const { status, callId } = executed;
  return {
    ...{ status, callId },
    ...('error' in executed ? { error: executed.error } : {}),
    ...(executed.status === 'refused' ? { refusal: executed.refusal } : {}),
    ...(executed.status === 'ask' ? { approval: executed.question.approval ?? null } : {}),
  };
}

/**
 * Where there never was a ledger there is nothing to consult. Where there is one that does not answer, its kill switch may be
 * on: then somebody has to say that it is to be passed by.
 */
export async function ledgerFor(config: Config, isOffline: boolean): Promise<string | undefined> {
  if (isOffline) return undefined;
  try {
    return await locateLedger(config);
  } catch (error) {
    if (!(error instanceof Problem) || config.databaseUrl !== undefined) throw error;
    // One that we may not even look at is there.
    const isInstalled = await access(homeAt(config.home).postgres).then(
      () => true,
      (reason: unknown) => codeOf(reason) !== 'ENOENT' && codeOf(reason) !== 'ENOTDIR',
    );
    if (!isInstalled) return undefined;
    throw new Problem(error.message, `${error.wayOut} Or pass it by: --offline.`, { cause: error });
  }
}
