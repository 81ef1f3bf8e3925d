import type pg from 'pg';
import { scopeOfPart } from '../domain/trust/parts.ts';
import { stricter } from '../domain/trust/trust.ts';
import type { Status } from '../domain/trust/trust.ts';
import { readDomains } from '../postgres/read-domains.ts';
import { readInDoubt } from '../postgres/snapshot.ts';
import type { Cli } from './cli.ts';
import { stateCell } from './state.ts';
import type { StatusOptions } from './status.ts';
import { subjectsMatching } from './subject.ts';
import { table } from './table.ts';
import { clock, iso, shortClock } from './time.ts';
import { EXIT } from './usage.ts';

const WEEK_MS = 7 * 86_400_000;
const SHOWN = 20;

/** What happened per host, whichever tool went there. */
export async function statusByDomain(
  { terminal }: Cli,
  pool: pg.Pool,
  pattern: string | undefined,
  options: StatusOptions,
): Promise<number> {
  const since = options.since ?? Date.now() - WEEK_MS;
  const only = pattern === undefined ? undefined : (await subjectsMatching(pool, pattern)).map(({ id }) => id);
  const [domains, all] = await Promise.all([readDomains(pool, since, only), readInDoubt(pool)]);
  const inDoubt = only === undefined ? all : all.filter(({ id }) => only.includes(id));
  const states = new Map<string, Status>();
  for (const { parts } of inDoubt) {
    for (const [part, { status }] of Object.entries(parts)) {
      const scope = scopeOfPart(part);
      if (stricter(status, states.get(scope) ?? 'TRUSTED')) states.set(scope, status);
    }
  }
  const views = domains.map(({ scope, tools, outcomes, failures, lastFailureAt }) => ({
    domain: scope.slice('host:'.length),
    state: states.get(scope) ?? ('TRUSTED' as const),
    ...{ tools, outcomes, failures },
    lastFailureAt: lastFailureAt === null ? null : iso(lastFailureAt),
  }));
  const limit = options.limit ?? (options.all === true || options.json === true ? views.length : SHOWN);
  const shown = views.toSorted((a, b) => (stricter(a.state, b.state) ? -1 : stricter(b.state, a.state) ? 1 : 0));
  if (options.json === true) {
    terminal.printJson({ since: iso(since), domains: shown.slice(0, limit) });
    return EXIT.ok;
  }
  if (views.length === 0) {
    terminal.print(`No call to a host has been reported since ${clock(since)} UTC.`);
    terminal.print('Reports whose arguments hold a URL count here, e.g. --args \'{"url": "https://api.example.com"}\'');
    return EXIT.ok;
  }
  const rows = shown.slice(0, limit).map(({ domain, state, tools, outcomes, failures, lastFailureAt }) => ({
    cells: [
      stateCell(state),
      domain,
      tools.join(', '),
      `${failures} of ${outcomes}`,
      lastFailureAt === null ? '' : shortClock(Date.parse(lastFailureAt)),
    ],
  }));
  const columns = [
    { title: 'STATE' },
    { title: 'HOST', atLeast: 16 },
    { title: 'TOOLS', atLeast: 8 },
    { title: 'FAILED', align: 'right' as const },
    { title: 'LAST (UTC)' },
  ];
  terminal.print(table(terminal, columns, rows));
  if (views.length > limit) terminal.print(terminal.paint('dim', `…and ${views.length - limit} more: add --all`));
  terminal.print();
  terminal.print(`Since ${clock(since)} UTC. The state is the strictest that any tool has for the host.`);
  return EXIT.ok;
}
