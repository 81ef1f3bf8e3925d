import type { Command } from 'commander';
import type pg from 'pg';
import { argumentsLine } from '../domain/approval/arguments-line.ts';
import { enderOf } from '../domain/approval/person.ts';
import { nameOf as nameOfSubject } from '../domain/trust/describe.ts';
import { plural } from '../domain/trust/tally.ts';
import { partName } from '../domain/trust/part-view.ts';
import { readPendingRecoveries } from '../postgres/read-recoveries.ts';
import type { PendingRecovery } from '../postgres/read-recoveries.ts';
import { countPending, readDecided, readPending } from '../postgres/read-approvals.ts';
import type { ShownApproval } from '../postgres/read-approvals.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { withLedger } from './ledger.ts';
import { shortId } from './short-id.ts';
import { table } from './table.ts';
import { fromNow, iso } from './time.ts';
import { EXIT, parseCount } from './usage.ts';

interface ApprovalsOptions {
  readonly limit: number;
  readonly decided?: boolean;
  readonly json?: boolean;
}

/** Of the arguments; `surety approve` shows all of them. */
const LONGEST_LINE = 120;

export function registerApprovals(program: Command): void {
  program
    .command('approvals')
    .description('what waits for a person: calls that are held, and recoveries')
    .option('--decided', 'what was decided, the newest first')
    .option('--limit <n>', 'show at most so many', parseCount, 50)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  surety approvals
  surety approve 1f2e3d4c --session
  surety approvals --decided --json`,
    )
    .action(action(approvals));
}

async function approvals(cli: Cli, options: ApprovalsOptions): Promise<number> {
  return withLedger(cli.config, async (pool) => {
    if (options.decided === true) return listDecided(cli, pool, options);
    const [pending, count, recoveries] = await Promise.all([
      readPending(pool, options.limit),
      countPending(pool),
      readPendingRecoveries(pool, Date.now()),
    ]);
    if (options.json === true) {
      cli.terminal.printJson({ pending: pending.map(forJson), count, recoveries });
      return EXIT.ok;
    }
    const { terminal } = cli;
    if (count === 0 && recoveries.length === 0) terminal.print('Nothing waits for a person.');
    if (pending.length > 0) terminal.print(pendingTable(cli, pending));
    if (count > pending.length) terminal.print(`The oldest ${pending.length} of ${count}; more with --limit.`);
    if (pending.length > 0) {
      terminal.print(
        terminal.paint('dim', '`surety approve <id>` shows what would run and asks; so does `surety deny <id>`.'),
      );
    }
    if (recoveries.length > 0) printRecoveries(cli, recoveries);
    return EXIT.ok;
  });
}

export function pendingTable({ terminal }: Cli, pending: readonly ShownApproval[]): string {
  const now = Date.now();
  const rows = pending.map((one) => ({
    cells: [
      shortId(one.id),
      nameOf(one),
      one.scope === null ? '' : partName(one.scope),
      one.agent ?? '',
      fromNow(one.askedAt, now),
      fromNow(one.expiresAt, now),
      one.asked === 1 ? '' : `×${one.asked}`,
    ],
    note: [one.because, argumentsLine(one, LONGEST_LINE)],
  }));
  return table(
    terminal,
    [
      { title: 'ID' },
      { title: 'TOOL', atLeast: 8 },
      { title: 'SCOPE', atLeast: 8 },
      { title: 'AGENT', atLeast: 5 },
      { title: 'ASKED' },
      { title: 'EXPIRES' },
      { title: '' },
    ],
    rows,
  );
}

async function listDecided(cli: Cli, pool: pg.Pool, { json, limit }: ApprovalsOptions): Promise<number> {
  const decided = await readDecided(pool, limit);
  const { terminal } = cli;
  if (json === true) {
    terminal.printJson({ decided: decided.map(forJson) });
    return EXIT.ok;
  }
  if (decided.length === 0) {
    terminal.print('Nothing has been decided yet.');
    return EXIT.ok;
  }
  const rows = decided.map((one) => ({
    cells: [
      shortId(one.id),
      nameOf(one),
      { text: one.status, style: one.status === 'approved' ? ('green' as const) : ('yellow' as const) },
      enderOf(one),
      one.endedAt === null ? '' : fromNow(one.endedAt, Date.now()),
      one.grant === null ? '' : one.grant.kind,
    ],
    note: [
      [one.endReason, one.edited === null ? '' : 'with edited arguments'].filter(Boolean).join('; '),
      argumentsLine(one.edited === null ? one : { ...one, ...one.edited }, LONGEST_LINE),
    ],
  }));
  const titles = ['ID', 'TOOL', 'END', 'BY', 'WHEN', 'GRANT'];
  terminal.print(
    table(
      terminal,
      titles.map((title) => (title === 'TOOL' || title === 'BY' ? { title, atLeast: 8 } : { title })),
      rows,
    ),
  );
  return EXIT.ok;
}

function printRecoveries({ terminal }: Cli, recoveries: readonly PendingRecovery[]): void {
  terminal.print();
  terminal.print(terminal.paint('bold', `${plural(recoveries.length, 'recovery', 'recoveries')} to be ordered`));
  const rows = recoveries.map(({ name, part, since, reason }) => ({
    cells: [name, part === '' ? '' : partName(part), fromNow(since, Date.now())],
    note: `${reason}. The cooldown is over: surety recover ${name}`,
  }));
  terminal.print(
    table(terminal, [{ title: 'TOOL', atLeast: 8 }, { title: 'SCOPE', atLeast: 8 }, { title: 'SINCE' }], rows),
  );
}

export function nameOf({ server, tool }: Pick<ShownApproval, 'server' | 'tool'>): string {
  return nameOfSubject({ kind: 'tool', server, name: tool });
}

export function forJson({ askedAt, expiresAt, endedAt, grant, ...rest }: ShownApproval): Record<string, unknown> {
  return {
    ...rest,
    askedAt: iso(askedAt),
    expiresAt: iso(expiresAt),
    endedAt: endedAt === null ? null : iso(endedAt),
    grant: grant === null ? null : { ...grant, ...(grant.until === undefined ? {} : { until: iso(grant.until) }) },
  };
}
