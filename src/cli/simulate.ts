import type { Command } from 'commander';
import { matchesSubject } from '../domain/simulate/orders.ts';
import { createSimulation } from '../domain/simulate/simulate.ts';
import type { Subject } from '../domain/trust/parts.ts';
import { readAudit } from '../postgres/read-audit.ts';
import { readLedger } from '../postgres/read-ledger.ts';
import { currentRules } from '../postgres/rules.ts';
import { findRules, readRulesFile } from '../rules-file.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { withLedger } from './ledger.ts';
import { linesOf } from './lines.ts';
import { eventIn } from './simulate-event.ts';
import { createObserver, whatHappened } from './simulate-accounts.ts';
import { printSummary } from './simulate-summary.ts';
import { parseSince } from './time.ts';
import { EXIT, UsageError } from './usage.ts';

interface SimulateOptions {
  readonly rules?: string;
  readonly fromLedger?: boolean;
  readonly since?: number;
  readonly tool?: string;
  readonly summary?: boolean;
  readonly json?: boolean;
}

const WEEK_MS = 7 * 86_400_000;
const MOST_AUDITED = 100_000;

export function registerSimulate(program: Command): void {
  program
    .command('simulate')
    .description('what would these rules have done?')
    .argument('[events]', 'a file with one event per line; - for standard input')
    .option('--rules <file>', 'the rules to try (default: surety.json; with --from-ledger those in force)')
    .option('--from-ledger', 'take what really happened instead of a file')
    .option('--since <when>', 'with --from-ledger: 7d, 12h, or a time (default: 7d)', parseSince)
    .option('--tool <pattern>', 'with --from-ledger: only these tools')
    .option('--summary', 'per tool instead of one JSON line per event')
    .option('--json', 'with --summary: print JSON')
    .addHelpText(
      'after',
      `
Events, one JSON object per line, times in seconds on any clock:
  {"at": 0, "tool": "http_request", "args": {"url": "https://api.example.com"}, "httpStatus": 503, "success": false}
  {"at": 60, "idle": true}    {"at": 90, "reset": "bash"}    {"at": 95, "recover": true}    {"at": 99, "restart": true}

Examples:
  surety simulate --rules surety.json events.jsonl
  surety simulate --rules stricter.json --from-ledger --since 7d --summary`,
    )
    .action(action(simulate));
}

async function simulate(cli: Cli, file: string | undefined, options: SimulateOptions): Promise<number> {
  if (options.fromLedger === true) {
    if (file !== undefined) throw new UsageError('Events come from a file or from the ledger, not both.', 'Drop one.');
    return simulateLedger(cli, options);
  }
  if (options.since !== undefined || options.tool !== undefined) {
    throw new UsageError('--since and --tool go with --from-ledger.', 'Drop them; a file is taken whole.');
  }
  if (file === undefined) throw new UsageError('Which events?', 'Name a file, - for standard input, or --from-ledger.');
  return simulateFile(cli, file, options);
}

async function simulateFile(cli: Cli, file: string, options: SimulateOptions): Promise<number> {
  const rules = options.rules === undefined ? await findRules() : await readRulesFile(options.rules);
  const simulation = createSimulation(rules);
  const observer = createObserver(simulation);
  for await (const { number, text } of linesOf(file)) {
    const event = eventIn(text, file, number);
    if (options.summary === true) observer.event(event);
    else await cli.terminal.stream(JSON.stringify(simulation.event(event)));
  }
  if (options.summary === true) printSummary(cli, options.json === true, observer.end());
  return EXIT.ok;
}

async function simulateLedger(cli: Cli, options: SimulateOptions): Promise<number> {
  const since = options.since ?? Date.now() - WEEK_MS;
  const { tool } = options;
  return withLedger(cli.config, async (pool) => {
    const rules = options.rules === undefined ? (await currentRules(pool)).rules : await readRulesFile(options.rules);
    const simulation = createSimulation(rules);
    const observer = createObserver(simulation);
    const isWanted = wantedBy(tool);
    for await (const event of readLedger(pool, since)) {
      if (!isWanted(event.subject)) continue;
      if (options.summary === true) observer.row(event);
      else await cli.terminal.stream(JSON.stringify(simulation.row(event)));
    }
    if (options.summary !== true) return EXIT.ok;
    const audit = await readAudit(pool, { since, limit: MOST_AUDITED });
    printSummary(
      cli,
      options.json === true,
      observer.end(Date.now()),
      whatHappened(audit.filter(isWanted), Date.now()),
    );
    return EXIT.ok;
  });
}

/** A tool's server has a say about it, so what was done to that server belongs to the story. */
function wantedBy(pattern: string | undefined): (subject: Subject) => boolean {
  const servers = new Set<string>();
  return (subject) => {
    if (pattern === undefined || matchesSubject(pattern, subject)) {
      servers.add(subject.server);
      return true;
    }
    return subject.kind === 'server' && servers.has(subject.server);
  };
}
