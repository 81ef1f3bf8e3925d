import type { Command } from 'commander';
import { Option } from 'commander';
import { SEVERITIES } from '../domain/outcome/outcome.ts';
import type { Severity } from '../domain/outcome/outcome.ts';
import { connect } from '../gate/index.ts';
import type { Gate, Report } from '../gate/index.ts';
import { Problem, reasonOf } from '../problem.ts';
import { readArguments } from './arguments.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { isPerSession } from './per-session.ts';
import { reportFile } from './report-file.ts';
import { parseSince } from './time.ts';
import { EXIT, parseCount, parseJson, UsageError } from './usage.ts';

interface ReportOptions {
  readonly tool?: string;
  readonly server?: string;
  readonly args?: string;
  readonly success?: boolean;
  readonly error?: string;
  readonly result?: unknown;
  readonly unknown?: boolean;
  readonly file?: string;
  readonly severity?: Severity;
  readonly httpStatus?: number;
  readonly scope?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly callId?: string;
  readonly at?: number;
  readonly recoverable: boolean;
  readonly json?: boolean;
}

export function registerReport(program: Command): void {
  program
    .command('report')
    .description('say what became of a call')
    .option('--tool <name>', 'the tool')
    .option('--server <name>', 'the server that offers it')
    .option('--args <json>', 'the arguments of the call: JSON, @file, or - for standard input')
    .option('--success', 'it worked')
    .option('--error <text>', 'it failed, and said this')
    .option('--result <json>', 'what it returned; whether that is a failure is found out', parseJson)
    .option('--unknown', 'it was sent and never answered')
    .option('--file <file>', 'many reports, one JSON object per line; - for standard input')
    .addOption(new Option('--severity <severity>', 'overrides the classification').choices(SEVERITIES))
    .option('--http-status <n>', 'the status that came with it', parseCount)
    .option('--scope <scope>', 'host, program or directory, where the arguments do not say')
    .option('--agent <id>', 'who made the call')
    .option('--session <id>', 'in which session')
    .option('--call-id <id>', 'reporting the same id again changes nothing')
    .option('--at <when>', 'when it ended: 5m (ago) or a time; now if absent', parseSince)
    .option('--no-recoverable', 'waiting will not cure it: a person has to order recovery')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  surety report --tool bash --args '{"command": "make"}' --success
  surety report --tool http_request --args '{"url": "https://api.example.com"}' --http-status 503 --error "no upstream"
  surety report --file reports.jsonl      {"tool": "bash", "args": {…}, "error": "…", "callId": "…"} per line`,
    )
    .action(action(report));
}

async function report(cli: Cli, options: ReportOptions): Promise<number> {
  const { config, terminal } = cli;
  const single = options.file === undefined ? await reportIn(options) : undefined;
  if (config.enabled === false) {
    terminal.complain('SURETY_ENABLED is false: nothing is recorded.');
    return EXIT.ok;
  }
  const gate = await connect();
  try {
    await requireLedger(cli, gate);
    if (single === undefined) return await reportFile(cli, gate, options.file ?? '-', options.json === true);
    const callId = await gate.report(single);
    if (options.json === true) terminal.printJson({ recorded: 1, callId });
    else terminal.print(`Recorded ${callId}`);
    return EXIT.ok;
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(reasonOf(error), 'surety report --help names every option.');
    throw error;
  } finally {
    await gate.close();
  }
}

async function reportIn(options: ReportOptions): Promise<Report> {
  const { tool, server, success, error, unknown, severity, httpStatus, scope, agent, session, at } = options;
  if (tool === undefined) throw new UsageError('Which tool was called?', 'Add --tool <name>, or --file for many.');
  const said = [success, error, options.result, unknown].filter((value) => value !== undefined);
  const hasOther = severity !== undefined || httpStatus !== undefined;
  if (said.length > 1 || (said.length === 0 && !hasOther)) {
    throw new UsageError(
      'Say what became of the call, once.',
      'One of --success, --error TEXT, --result JSON, --unknown; or --severity or --http-status alone for a failure.',
    );
  }
  const args = await readArguments(options.args);
  return {
    tool,
    ...(options.callId === undefined ? {} : { callId: options.callId }),
    ...(server === undefined ? {} : { server }),
    ...(args === undefined ? {} : { args }),
    ...(success === undefined ? {} : { success }),
    ...(error === undefined ? {} : { success: false, error }),
    ...(said.length === 0 ? { success: false } : {}),
    ...(options.result === undefined ? {} : { result: options.result }),
    ...(unknown === undefined ? {} : { outcome: 'unknown' as const }),
    ...(severity === undefined ? {} : { severity }),
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(scope === undefined ? {} : { scope }),
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(at === undefined ? {} : { at }),
    ...(options.recoverable ? {} : { recoverable: false }),
  };
}

/** A report waits for a ledger that is away, which is right in a program and wrong on a command line. */
async function requireLedger({ config }: Cli, gate: Gate): Promise<void> {
  if (await isPerSession(config)) {
    throw new Problem(
      'Trust is kept per session here: this process would keep the report to itself, and end.',
      'Set SURETY_PERSIST=true to report to the ledger all the same.',
    );
  }
  if (gate.situation === 'fresh') return;
  throw new Problem('The ledger does not answer; nothing was recorded.', '`surety doctor` looks at every part.');
}
