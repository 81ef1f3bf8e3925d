import { mkdir, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { AuditLine } from '../domain/audit/entry.schema.ts';
import { canonical } from '../domain/audit/chain.ts';
import { plural } from '../domain/trust/tally.ts';
import { auditFiles } from '../execution/audit/files.ts';
import { originOf } from '../execution/audit/origin.ts';
import { allLines, linesIn } from '../execution/audit/read.ts';
import type { ReadLine } from '../execution/audit/read.ts';
import { verifyAudit } from '../execution/audit/verify.ts';
import { homeAt } from '../home.ts';
import { dropFromIndex, dropOtherFiles, indexLines } from '../postgres/audit-index.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { withLedger } from './ledger.ts';
import { plain } from './text.ts';
import { clock, parseSince } from './time.ts';
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
/** Arguments of Surety's own tools that tell what a call is about. */
const SUBJECTS = ['pattern', 'path', 'from', 'to', 'url'];
const FOLLOW_MS = 500;
const BATCH = 1000;

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
  audit
    .command('index')
    .description('bring the index in Postgres up to the files')
    .option('--json', 'print JSON')
    .action(action(index));
}

async function tail(
  { config, terminal }: Cli,
  { lines, follow, json }: { lines: number; follow?: boolean; json?: boolean },
): Promise<number> {
  const directory = homeAt(config.home).audit;
  const newest: ReadLine[] = [];
  const seen = new Map<string, number>();
  for (const { name, path } of await auditFiles(directory)) seen.set(name, (await stat(path)).size);
  for await (const read of allLines(directory)) {
    newest.push(read);
    if (newest.length > lines * 2) newest.splice(0, newest.length - lines);
  }
  const show = (line: AuditLine) => terminal.stream(json === true ? canonical(line) : shown(line));
  for (const { file, offset, line } of newest.slice(-lines)) {
    seen.set(file, Math.max(seen.get(file) ?? 0, offset + 1));
    await show(line);
  }
  if (newest.length === 0 && follow !== true && json !== true) terminal.print('No call has been recorded.');
  while (follow === true) {
    await sleep(FOLLOW_MS);
    for (const file of await auditFiles(directory)) {
      for await (const { offset, line } of linesIn(file, 0)) {
        if (offset < (seen.get(file.name) ?? 0)) continue;
        seen.set(file.name, offset + 1);
        await show(line);
      }
    }
  }
  return EXIT.ok;
}

function shown(line: AuditLine): string {
  const { ts, result, tool, because, command, exit_code: exitCode } = line;
  const code = typeof exitCode === 'number' && exitCode !== 0 ? ` ${exitCode}` : '';
  const about = [tool, command ?? subjectOf(line), because]
    .filter((part) => typeof part === 'string')
    .map((part) => plain(part));
  return `${clock(Date.parse(ts))}  ${`${plain(result)}${code}`.padEnd(10)}  ${about.join('  ')}`.slice(0, 400);
}

/** What a call was about that ran no command: the file, the pattern, the address. */
function subjectOf({ arguments: given }: AuditLine): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const said = SUBJECTS.map((name): unknown => Reflect.get(given, name)).filter((each) => typeof each === 'string');
  return said.length === 0 ? undefined : said.join(' ');
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

async function index({ config, terminal }: Cli, { json }: { json?: boolean }): Promise<number> {
  const directory = homeAt(config.home).audit;
  return withLedger(config, async (pool) => {
    const files = await auditFiles(directory);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const origin = await originOf(directory);
    let [written, lines] = [0, 0];
    let removed = await dropOtherFiles(
      pool,
      origin,
      files.map(({ name }) => name),
    );
    for (const file of files) {
      let batch: ReadLine[] = [];
      const offsets: number[] = [];
      const flush = async () => {
        written += await indexLines(pool, origin, batch.map(rowOf));
        batch = [];
      };
      for await (const read of linesIn(file)) {
        batch.push(read);
        offsets.push(read.offset);
        if (batch.length >= BATCH) await flush();
      }
      await flush();
      lines += offsets.length;
      removed += await dropFromIndex(pool, origin, file.name, offsets);
    }
    if (json === true) terminal.printJson({ files: files.length, lines, written, removed });
    else
      terminal.print(
        `${plural(lines, 'line')} in ${plural(files.length, 'file')}: ${written} indexed anew, ${removed} taken out.`,
      );
    return EXIT.ok;
  });
}

function rowOf({ file, offset, line }: ReadLine) {
  const tool = typeof line['tool'] === 'string' ? line['tool'] : '';
  return { file, offset, hash: line.hash, at: line.ts, tool, outcome: line.result };
}
