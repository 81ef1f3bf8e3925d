import type { Command } from 'commander';
import type pg from 'pg';
import type { Decision } from '../domain/gate/decision.ts';
import { normaliseScope, scopeOf } from '../domain/key/scope.ts';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import type { Subject } from '../domain/trust/parts.ts';
import { ToolGate } from '../gate/tool-gate.ts';
import { View } from '../gate/view.ts';
import { readSubjects } from '../postgres/read-subjects.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import { readSettings } from '../postgres/snapshot.ts';
import type { Settings } from '../postgres/snapshot.ts';
import { readArguments } from './arguments.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { candidatesFor } from '../domain/rules/explain.ts';
import { printExplanation } from './explain-print.ts';
import { leadingTo, partsWithASay } from './explain-state.ts';
import { withLedger } from './ledger.ts';
import { shownName, subjectMeant } from './subject.ts';
import { EXIT } from './usage.ts';

interface ExplainOptions {
  readonly args?: string;
  readonly scope?: string;
  readonly agent?: string;
  readonly json?: boolean;
}

export function registerExplain(program: Command): void {
  program
    .command('explain')
    .description('which rule won, why the state is what it is')
    .argument('<tool>', 'name, server/name, or server:name')
    .option('--args <json>', 'the arguments of a call, which name a scope: JSON, @file, or -')
    .option('--scope <scope>', 'the scope itself: a host, program:… or dir:…')
    .option('--agent <id>', 'as seen by this agent')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  surety explain http_request --args '{"url": "https://api.example.com/data"}'
  surety explain bash --scope program:git
  surety explain server:atlassian`,
    )
    .action(action(explain));
}

async function explain(cli: Cli, name: string, options: ExplainOptions): Promise<number> {
  const args = await readArguments(options.args);
  return withLedger(cli.config, async (pool) => {
    const { subject } = await subjectMeant(pool, name);
    const scope = normaliseScope(options.scope) ?? scopeOf(subject.name, args) ?? null;
    const { agent } = options;
    const settings = await readSettings(pool);
    const standings = await readStandingsOf(pool, subject);
    const parts = partsWithASay(subject, standings, settings, scope, agent);
    const explanation = {
      subject: shownName(subject),
      kind: subject.kind,
      known: standings.some(({ kind }) => kind === subject.kind),
      scope,
      // A server is not called; its tools are.
      decision: subject.kind === 'server' ? null : decisionOf(subject, standings, settings, scope, agent),
      parts,
      causes: await leadingTo(pool, subject, parts, standings, settings),
      rulesVersion: settings.version,
      rule: candidatesFor(settings.rules, subject, scope),
    };
    if (options.json === true) cli.terminal.printJson(explanation);
    else printExplanation(cli, explanation);
    return EXIT.ok;
  });
}

export interface Explanation {
  readonly subject: string;
  readonly kind: Subject['kind'];
  readonly known: boolean;
  readonly scope: string | null;
  readonly decision: Decision | null;
  readonly parts: ReturnType<typeof partsWithASay>;
  readonly causes: Awaited<ReturnType<typeof leadingTo>>;
  readonly rulesVersion: number;
  readonly rule: ReturnType<typeof candidatesFor>;
}

function readStandingsOf(pool: pg.Pool, { kind, server, name }: Subject): Promise<readonly KnownSubject[]> {
  const ofServer = server === LOCAL ? [] : [serverKey(server)];
  return readSubjects(pool, { keys: kind === 'server' ? ofServer : [toolKey(server, name), ...ofServer] });
}

/** The answer of a gate that has just read everything: its own code, so that it cannot be another one. */
function decisionOf(
  subject: Subject,
  standings: readonly KnownSubject[],
  settings: Settings,
  scope: string | null,
  agent: string | undefined,
): Decision {
  const view = new View(settings.rules);
  view.setSettings(settings);
  view.setSituation('fresh');
  for (const standing of standings) view.take(standing);
  view.know(standings.map(({ key }) => key));
  return new ToolGate(view, subject.server, subject.name, agent === undefined ? {} : { agent }).check(
    undefined,
    scope === null ? {} : { scope },
  );
}
