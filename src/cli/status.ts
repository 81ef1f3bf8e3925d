import type { Command } from 'commander';
import { Option } from 'commander';
import { partView, rulesOf } from '../domain/trust/part-view.ts';
import { scopeOfPart, strictest } from '../domain/trust/parts.ts';
import { plural } from '../domain/trust/tally.ts';
import { readSubjects } from '../postgres/read-subjects.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import { readTotals } from '../postgres/read-totals.ts';
import type { Totals } from '../postgres/read-totals.ts';
import { currentRules } from '../postgres/rules.ts';
import type { PublishedRules } from '../postgres/rules.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { withLedger } from './ledger.ts';
import { nextIn, stateCell } from './state.ts';
import { statusByDomain } from './status-domains.ts';
import { statusOfTools } from './status-tool.ts';
import { shownName } from './subject.ts';
import { table } from './table.ts';
import { plain } from './text.ts';
import { clock, iso, parseSince } from './time.ts';
import { EXIT, parseCount, UsageError } from './usage.ts';

export interface StatusOptions {
  readonly by?: 'domain';
  readonly since?: number;
  readonly all?: boolean;
  readonly limit?: number;
  readonly json?: boolean;
}

const SHOWN = 20;

export function registerStatus(program: Command): void {
  program
    .command('status')
    .description('what is trusted, and what is not')
    .argument('[tool]', 'every part of this tool: name, server/name, server:name, or a glob')
    .addOption(new Option('--by <what>', 'group by host, across tools').choices(['domain']))
    .option('--since <when>', 'with --by: count from here on, e.g. 24h (default: 7d)', parseSince)
    .option('--limit <n>', `show at most so many (default: ${SHOWN})`, parseCount)
    .option('--all', 'show every one')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  surety status                    what is in doubt first, then the rest
  surety status http_request       every host, program or directory of one tool
  surety status 'atlassian/*'      every tool of one server
  surety status --by domain        failures per host, whichever tool went there
  surety status --by domain http_request --since 24h`,
    )
    .action(action(status));
}

async function status(cli: Cli, pattern: string | undefined, options: StatusOptions): Promise<number> {
  if (options.since !== undefined && options.by === undefined) {
    throw new UsageError('--since goes with --by domain.', 'Counters of tools are since their first report.');
  }
  return withLedger(cli.config, async (pool) => {
    const published = await currentRules(pool);
    if (published.unreadable !== undefined) {
      const { version } = published.unreadable;
      cli.terminal.complain(`Rules version ${version} cannot be read by this Surety; ${published.version} holds here.`);
    }
    if (options.by === 'domain') return statusByDomain(cli, pool, pattern, options);
    if (pattern !== undefined) return statusOfTools(cli, pool, pattern, published, options.json === true);
    const totals = await readTotals(pool);
    const limit = options.limit ?? (options.all === true || options.json === true ? undefined : SHOWN);
    const subjects = await readSubjects(pool, limit === undefined ? {} : { limit });
    const views = subjects.map((subject) => summaryOf(subject, published));
    if (options.json === true) {
      const { breakGlass, ...counts } = totals;
      const open = breakGlass === null ? null : { ...breakGlass, until: iso(breakGlass.until) };
      cli.terminal.printJson({ subjects: views, totals: counts, breakGlass: open, rulesVersion: published.version });
      return EXIT.ok;
    }
    print(cli, views, totals, published.version);
    return EXIT.ok;
  });
}

export type Summary = ReturnType<typeof summaryOf>;

/** A subject in one line: its strictest part stands for it. */
export function summaryOf(known: KnownSubject, published: PublishedRules) {
  const { part, state } = strictest(known.parts);
  const { kind, server, name, key, outcomes, failures, rejected, unapplied } = known;
  const others = Object.entries(known.parts).filter(([other, held]) => other !== part && held.status !== 'TRUSTED');
  return {
    subject: shownName(known),
    ...{ kind, server, tool: kind === 'server' ? null : name, key },
    ...partView(known, rulesOf(known, published), part, state),
    otherScopesInDoubt: new Set(others.map(([other]) => scopeOfPart(other))).size,
    ...{ outcomes, failures, rejected, unapplied },
  };
}

export function summaryTable(cli: Cli, views: readonly Summary[]): string {
  const now = Date.now();
  const rows = views.map((view) => {
    const more = view.otherScopesInDoubt === 0 ? '' : ` +${view.otherScopesInDoubt}`;
    const scope = view.state === 'TRUSTED' ? '' : `${view.label}${more}`;
    const counts = `${view.failures} of ${view.outcomes}`;
    const cells = [stateCell(view.state), view.subject, scope, counts, nextIn(view, now)];
    return { cells, ...(view.reason === null ? {} : { note: view.reason }) };
  });
  const columns = [
    { title: 'STATE' },
    { title: 'TOOL', atLeast: 16 },
    { title: 'IN DOUBT', atLeast: 12 },
    { title: 'FAILED', align: 'right' as const },
    { title: 'NEXT' },
  ];
  return table(cli.terminal, columns, rows);
}

function print(cli: Cli, views: readonly Summary[], totals: Totals, rulesVersion: number): void {
  const { terminal } = cli;
  if (views.length === 0) {
    terminal.print('No tool has been reported yet.');
    terminal.print('Try `surety demo`, or report one: surety report --tool bash --success');
  } else {
    terminal.print(summaryTable(cli, views));
    const left = totals.tools + totals.servers - views.length;
    if (left > 0) terminal.print(terminal.paint('dim', `…and ${left} more: surety status --all`));
  }
  terminal.print();
  for (const line of totalLines(totals, rulesVersion)) terminal.print(line);
  if (totals.breakGlass !== null) {
    const { until, by, reason } = totals.breakGlass;
    terminal.print(terminal.paint('red', plain(`BREAK GLASS until ${clock(until)} UTC, by ${by}: ${reason}`)));
  }
}

function totalLines(totals: Totals, rulesVersion: number): string[] {
  const { tools, servers, blocked, escalated, recovering, outcomes, failures, rejected, unapplied } = totals;
  const trusted = tools + servers - blocked - escalated - recovering;
  return [
    `${plural(tools, 'tool')}, ${plural(servers, 'server')}: ${blocked} blocked, ${escalated} escalated, ${recovering} recovering, ${trusted} trusted`,
    `${plural(outcomes, 'outcome')}, ${failures} failed, ${rejected} not understood; rules version ${rulesVersion}`,
    ...(unapplied === 0 ? [] : [`${plural(unapplied, 'row')} not applied yet. If that stays so: surety doctor`]),
  ];
}
