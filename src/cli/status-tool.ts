import type pg from 'pg';
import { serverKey } from '../domain/key/tool-key.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import { partView, rulesOf } from '../domain/trust/part-view.ts';
import { WHOLE } from '../domain/trust/parts.ts';
import type { Parts } from '../domain/trust/parts.ts';
import { duration, plural } from '../domain/trust/tally.ts';
import { stricter, TRUSTED } from '../domain/trust/trust.ts';
import { readSubjects } from '../postgres/read-subjects.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import type { PublishedRules } from '../postgres/rules.ts';
import type { Cli } from './cli.ts';
import { endOf, stateCell } from './state.ts';
import { shownName, subjectsMatching, typed } from './subject.ts';
import { table } from './table.ts';
import { clock, iso, shortClock } from './time.ts';
import { EXIT } from './usage.ts';

/** Every part of each tool that matches. */
export async function statusOfTools(
  { terminal }: Cli,
  pool: pg.Pool,
  pattern: string,
  published: PublishedRules,
  json: boolean,
): Promise<number> {
  const found = await subjectsMatching(pool, pattern);
  const servers = await serversOf(pool, found);
  const views = found.map((known) => viewOf(known, servers.get(known.server), published));
  if (json) {
    terminal.printJson({ subjects: views, rulesVersion: published.version });
    return EXIT.ok;
  }
  const now = Date.now();
  views.forEach((view, index) => {
    if (index > 0) terminal.print();
    terminal.print(terminal.paint('bold', view.subject));
    const ofServer = view.serverInDoubt === null ? [] : [{ ...view.serverInDoubt, label: `server ${view.server}` }];
    const rows = [...ofServer, ...view.parts].map((part) => ({
      cells: [stateCell(part.state), part.label, part.since === null ? '' : shortClock(Date.parse(part.since))],
      ...(part.state === 'TRUSTED' ? {} : { note: `${part.reason ?? ''} · ${endOf(part, now)}` }),
    }));
    terminal.print(
      table(terminal, [{ title: 'STATE' }, { title: 'WHAT', atLeast: 20 }, { title: 'SINCE (UTC)' }], rows, '  '),
    );
    const { level, pattern: rulePattern, windowSeconds } = view.rule;
    const rule = rulePattern === null ? level : `${level} ${JSON.stringify(rulePattern)}`;
    terminal.print(
      `  ${plural(view.outcomes, 'outcome')}, ${view.failures} failed, ${view.rejected} not understood; first seen ${clock(Date.parse(view.firstSeenAt))} UTC`,
    );
    terminal.print(`  Rule: ${rule}, window ${duration(windowSeconds)}.`);
    // A name may be long: in a line of its own it can be copied whole.
    terminal.print(`  Why so: surety explain ${view.typed}`);
    if (view.unapplied > 0) terminal.print(`  ${plural(view.unapplied, 'row')} not applied yet.`);
  });
  return EXIT.ok;
}

/** The servers in doubt that stand between callers and these tools, by name. */
async function serversOf(pool: pg.Pool, subjects: readonly KnownSubject[]): Promise<ReadonlyMap<string, KnownSubject>> {
  const names = subjects.filter(({ kind, server }) => kind === 'tool' && server !== LOCAL).map(({ server }) => server);
  const servers = await readSubjects(pool, { keys: [...new Set(names)].map(serverKey) });
  return new Map(servers.filter(({ status }) => status !== 'TRUSTED').map((server) => [server.server, server]));
}

function viewOf(known: KnownSubject, server: KnownSubject | undefined, published: PublishedRules) {
  const rules = rulesOf(known, published);
  const { level, pattern, rule } = rules.own;
  // The whole is shown even where nothing of it is stored: it is what the parts are parts of.
  const all: Parts = { [WHOLE]: TRUSTED, ...known.parts };
  const strictestFirst = Object.entries(all).toSorted(([a, x], [b, y]) => {
    if (x.status !== y.status) return stricter(x.status, y.status) ? -1 : 1;
    return a < b ? -1 : 1;
  });
  return {
    subject: shownName(known),
    typed: typed(known),
    kind: known.kind,
    server: known.server,
    tool: known.kind === 'server' ? null : known.name,
    workflowId: known.key,
    version: known.version,
    serverInDoubt:
      known.kind === 'server' || server === undefined
        ? null
        : partView(server, rulesOf(server, published), WHOLE, server.parts[WHOLE] ?? TRUSTED),
    parts: strictestFirst.map(([part, state]) => partView(known, rules, part, state)),
    outcomes: known.outcomes,
    failures: known.failures,
    rejected: known.rejected,
    unapplied: known.unapplied,
    firstSeenAt: iso(known.firstSeenAt),
    rule: { level, pattern: pattern ?? null, windowSeconds: rule.windowSeconds },
  };
}
