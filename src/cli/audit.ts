import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { AuditLine } from '../domain/audit/entry.schema.ts';
import { canonical } from '../domain/audit/chain.ts';
import { plural } from '../domain/trust/tally.ts';
import { endOfAudit } from '../execution/audit/end-of-audit.ts';
import { allLines } from '../execution/audit/read.ts';
import { verifyAudit } from '../execution/audit/verify.ts';
import { homeAt } from '../home.ts';
import { registerAuditIndex } from './audit-index.ts';
import { saidOf } from './audit-line.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { parseSince } from './time.ts';
import { EXIT, parseCount } from './usage.ts';

const COLUMNS = [
  'ts',
  'tool',
  'result',
  'exit_code',
  'duration_ms',
  'truncated',
  'error_category',
  'error_phase',
  'trust',
  'approved_by',
  'command',
  'arguments',
  'because',
  'lane',
  'seq',
  'hash',
];
const FOLLOW_MS = 500;

export function registerAudit(program: Command): void {
  const audit = program.command('audit').description('the record of tool calls: look, verify, export');
  audit
    .command('tail')
    .description('the newest calls')
    .option('-n, --lines <n>', 'so many', parseCount, 20)
    .option('-f, --follow', 'and what comes, until interrupted')
    .option('--json', 'print the lines as they are')
    .action(action(tail));
  audit
    .command('verify')
    .description('check every line against the one before it; exit 1 at a break')
    .option('--json', 'print JSON')
    .action(action(verify));
  audit
    .command('export')
    .description('print the lines of a time')
    .option('--since <time>', 'from here on: 7d, or an ISO time', parseSince)
    .option('--until <time>', 'up to here', parseSince)
    .addOption(new Option('--format <format>', 'what to print').choices(['jsonl', 'csv']).default('jsonl'))
    .addOption(new Option('--json', 'the same as --format jsonl').conflicts('format'))
    .action(action(exportLines));
  registerAuditIndex(audit);
}

async function tail(
  { config, terminal }: Cli,
  { lines, follow, json }: { lines: number; follow?: boolean; json?: boolean },
): Promise<number> {
  const show = (line: AuditLine) => terminal.stream(json === true ? canonical(line) : saidOf(line));
  const { newest, further } = await endOfAudit(homeAt(config.home).audit, lines);
  for (const { line } of newest) await show(line);
  if (newest.length === 0 && follow !== true && json !== true) terminal.print('No call has been recorded.');
  while (follow === true) {
    await sleep(FOLLOW_MS);
    for await (const { line } of further()) await show(line);
  }
  return EXIT.ok;
}

async function verify({ config, terminal }: Cli, { json }: { json?: boolean }): Promise<number> {
  const found = await verifyAudit(homeAt(config.home).audit);
  if (json === true) terminal.printJson(found);
  else {
    const torn = found.torn === 0 ? '' : `, ${found.torn} torn and noted`;
    terminal.print(`Checked ${plural(found.lines, 'line')} in ${plural(found.files, 'file')}${torn}.`);
    for (const { file, line, because } of found.breaks) terminal.complain(`${file}:${line}: ${because}`);
    for (const { lane, seq, hash } of found.heads) terminal.print(`lane ${lane} ends at ${seq} ${hash}`);
  }
  return found.ok ? EXIT.ok : EXIT.error;
}

async function exportLines(
  { config, terminal }: Cli,
  { since = 0, until = Infinity, format }: { since?: number; until?: number; format: string },
): Promise<number> {
  if (format === 'csv') await terminal.stream(COLUMNS.join(','));
  for await (const { line } of allLines(homeAt(config.home).audit)) {
    const at = Date.parse(line.ts);
    if (!(at >= since && at <= until)) continue;
    await terminal.stream(format === 'csv' ? COLUMNS.map((column) => cell(line[column])).join(',') : canonical(line));
  }
  return EXIT.ok;
}

/** Quoted as RFC 4180 wants it; what a spreadsheet would take for a formula is made text. */
function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
