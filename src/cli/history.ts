import type { Command } from 'commander';
import type pg from 'pg';
import { scopeOfPart, WHOLE } from '../domain/trust/parts.ts';
import { partName } from '../domain/trust/part-view.ts';
import { readAudit } from '../postgres/read-audit.ts';
import type { AuditEntry } from '../postgres/read-audit.ts';
import { readHistory } from '../postgres/read-history.ts';
import type { HistoryEntry } from '../postgres/read-history.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import { currentRules } from '../postgres/rules.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { withLedger } from './ledger.ts';
import { shownName, subjectsMatching } from './subject.ts';
import { table } from './table.ts';
import type { Cell } from './table.ts';
import { iso, todaysClock } from './time.ts';
import { EXIT, parseCount } from './usage.ts';

interface HistoryOptions {
  readonly limit: number;
  readonly failures?: boolean;
  readonly json?: boolean;
}

export function registerHistory(program: Command): void {
  program
    .command('history')
    .description('what happened to a tool, newest first')
    .argument('<tool>', 'name, server/name, server:name, or a glob')
    .option('--limit <n>', 'show at most so many, up to maxHistoryEntries of the rules', parseCount, 20)
    .option('--failures', 'only what failed, and what followed from it')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  surety history http_request --failures
  surety history server:atlassian --limit 100
  surety history 'demo/*' --json`,
    )
    .action(action(history));
}

async function history(cli: Cli, pattern: string, options: HistoryOptions): Promise<number> {
  const { terminal } = cli;
  return withLedger(cli.config, async (pool) => {
    const { rules } = await currentRules(pool);
    const limit = Math.min(options.limit, rules.maxHistoryEntries);
    if (limit < options.limit) terminal.complain(`The rules allow ${limit} entries at the most (maxHistoryEntries).`);
    const subjects = await subjectsMatching(pool, pattern);
    const entries = await readEntries(pool, subjects, limit, options.failures === true);
    const names = new Map(subjects.map((subject) => [subject.id, shownName(subject)]));
    if (options.json === true) {
      terminal.printJson(entries.map((entry) => ({ subject: names.get(entry.subject), ...forJson(entry) })));
      return EXIT.ok;
    }
    if (entries.length === 0) {
      terminal.print(`${pattern} has no ${options.failures === true ? 'failures' : 'entries'} in the ledger.`);
      return EXIT.ok;
    }
    const several = subjects.length > 1;
    const rows = entries.map((entry) => rowOf(entry, several ? names.get(entry.subject) : undefined));
    terminal.print(table(terminal, several ? OF_SEVERAL : OF_ONE, rows));
    if (entries.length === limit) terminal.print(terminal.paint('dim', `The newest ${limit}; more with --limit.`));
    return EXIT.ok;
  });
}

const OF_ONE = [
  { title: 'TIME (UTC)' },
  { title: 'WHAT' },
  { title: 'SEVERITY' },
  { title: 'SCOPE', atLeast: 8 },
  { title: 'WHO', atLeast: 5 },
  { title: 'CALL', atLeast: 6 },
];
const OF_SEVERAL = [
  { title: 'TIME (UTC)' },
  { title: 'TOOL', atLeast: 10 },
  { title: 'WHAT' },
  { title: 'SEVERITY' },
  { title: 'SCOPE', atLeast: 8 },
];

type Entry = HistoryEntry | AuditEntry;

/** Rows of the ledger and what followed from them. A change stands above the row that brought it about. */
async function readEntries(
  pool: pg.Pool,
  subjects: readonly KnownSubject[],
  limit: number,
  failuresOnly: boolean,
): Promise<readonly Entry[]> {
  const ids = (kind: KnownSubject['kind']) => subjects.filter((subject) => subject.kind === kind).map(({ id }) => id);
  const [ofTools, ofServers, audit] = await Promise.all([
    readHistory(pool, { subjects: ids('tool'), ofServers: false, failuresOnly, limit }),
    readHistory(pool, { subjects: ids('server'), ofServers: true, failuresOnly, limit }),
    readAudit(pool, { subjects: subjects.map(({ id }) => id), limit }),
  ]);
  // A reset stands there as the order it was, with who gave it, unless only failures were asked for.
  const changes = audit.filter(({ action: change }) => failuresOnly || change !== 'reset');
  const rank = (entry: Entry) => ('action' in entry ? 1 : 0);
  return [...ofTools, ...ofServers, ...changes]
    .toSorted((a, b) => b.at - a.at || rank(b) - rank(a) || bySeq(a, b))
    .slice(0, limit);
}

function bySeq(a: Entry, b: Entry): number {
  return 'seq' in a && 'seq' in b && a.subject === b.subject ? b.seq - a.seq : 0;
}

function rowOf(entry: Entry, name: string | undefined): { cells: Cell[]; note?: string } {
  const time = todaysClock(entry.at);
  const tool = name === undefined ? [] : [name];
  if ('action' in entry) {
    const scope = entry.part === null || entry.part === WHOLE ? '' : partName(entry.part);
    const what: Cell = { text: `→ ${entry.action}`, style: 'bold' };
    const who = entry.actor === 'surety' ? '' : entry.actor;
    return { cells: [time, ...tool, what, '', scope, who, ''], note: entry.reason };
  }
  const { kind, severity, scope, agent, detail, probe } = entry;
  const how = probe === null ? '' : probe === 'live' ? '/probe' : '/late';
  const what: Cell = kind === 'failure' ? { text: `failure${how}`, style: 'red' } : `${kind}${how}`;
  const shown = [severity ?? '', scope === null ? '' : partName(scope)];
  const who = name === undefined ? [agent ?? text(detail['by']), callOf(entry)] : [];
  const granted =
    entry.granted === null ? '' : ` (granted by ${entry.granted.by ?? 'somebody'}: ${entry.granted.kind})`;
  const note = `${text(detail['message']) || text(detail['reason'])}${granted}`.trim();
  return { cells: [time, ...tool, what, ...shown, ...who], ...(note === '' ? {} : { note }) };
}

const UUID = /^[0-9a-f-]{36}$/i;

/** The caller's own id where it was kept. Of a UUID the end: its beginning is only the time. */
function callOf({ id, detail }: HistoryEntry): string {
  const callId = text(detail['callId']) || id;
  return UUID.test(callId) ? `…${callId.slice(-6)}` : callId;
}

function forJson(entry: Entry): object {
  if ('action' in entry) {
    const { at, action: change, actor, reason, part } = entry;
    const scope = part === null ? null : scopeOfPart(part);
    return { at: iso(at), change, actor, reason, scope: scope === WHOLE ? null : scope };
  }
  const { at, receivedAt, subject: _, ...row } = entry;
  return { at: iso(at), receivedAt: iso(receivedAt), ...row };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
