import type { Command } from 'commander';
import { coverage } from '../domain/approval/grant.ts';
import { plural } from '../domain/trust/tally.ts';
import { readShownGrants } from '../postgres/read-grants.ts';
import type { ShownGrant } from '../postgres/read-grants.ts';
import { revokeGrants } from '../postgres/grants.ts';
import { nameOf } from './approvals.ts';
import { BY, signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { chooseId } from './choose.ts';
import { withLedger } from './ledger.ts';
import { pickById, shortId } from './short-id.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { fromNow, iso } from './time.ts';
import { EXIT, parseCount } from './usage.ts';

interface GrantsOptions {
  readonly all?: boolean;
  readonly limit: number;
  readonly json?: boolean;
}

export function registerGrants(program: Command): void {
  program
    .command('grants')
    .description('what people have granted and may still be used')
    .option('--all', 'also what was used up, has ended or was revoked')
    .option('--limit <n>', 'show at most so many', parseCount, 50)
    .option('--json', 'print JSON')
    .action(action(grants));
  program
    .command('revoke')
    .description('end grants')
    .argument('[id...]', 'as `surety grants` lists them; on a terminal you can choose')
    .option('--reason <text>', 'why', '')
    .option('--by <name>', BY)
    .option('--json', 'print JSON')
    .action(action(revoke));
}

async function grants({ config, terminal }: Cli, { all = false, limit, json }: GrantsOptions): Promise<number> {
  return withLedger(config, async (pool) => {
    const found = await readShownGrants(pool, { all, limit });
    if (json === true) terminal.printJson(found.map(forJson));
    else if (found.length === 0) terminal.print(all ? 'Nothing was ever granted.' : 'No grant is open.');
    else {
      terminal.print(grantsTable(terminal, found));
      if (found.length === limit) terminal.print(terminal.paint('dim', `The newest ${limit}; more with --limit.`));
    }
    return EXIT.ok;
  });
}

const COLUMNS = [
  { title: 'ID' },
  { title: 'TOOL', atLeast: 8 },
  { title: 'FOR', atLeast: 5 },
  { title: 'BY', atLeast: 5 },
  { title: 'GIVEN' },
];

function grantsTable(terminal: Terminal, found: readonly ShownGrant[]): string {
  const rows = found.map((grant) => {
    const { id, agent, givenBy, givenAt } = grant;
    return {
      cells: [shortId(id), nameOf(grant), agent ?? '', givenBy ?? '', fromNow(givenAt, Date.now())],
      note: `${sentence(grant)}${fate(grant)}`,
    };
  });
  return table(terminal, COLUMNS, rows);
}

function sentence({ kind, covers, pattern, until, scope, ...grant }: ShownGrant): string {
  const terms = { kind, covers, ...(pattern === null ? {} : { pattern }), ...(until === null ? {} : { until }) };
  return coverage(terms, nameOf(grant), scope);
}

function fate({ consumedAt, revokedAt, revokedBy, revokeReason, until }: ShownGrant): string {
  if (revokedAt !== null) return `; revoked by ${revokedBy ?? 'somebody'}${revokeReason ? `: ${revokeReason}` : ''}`;
  if (consumedAt !== null) return '; used';
  return until !== null && until <= Date.now() ? '; ended' : '';
}

function forJson({ givenAt, until, consumedAt, revokedAt, ...grant }: ShownGrant): Record<string, unknown> {
  const time = (ms: number | null) => (ms === null ? null : iso(ms));
  return {
    ...grant,
    givenAt: iso(givenAt),
    until: time(until),
    consumedAt: time(consumedAt),
    revokedAt: time(revokedAt),
  };
}

const NAMED = { none: 'no open grant', several: 'several grants', listed: '`surety grants` lists them.' };

const MOST_LISTED = 20;

interface RevokeOptions {
  readonly reason: string;
  readonly by?: string;
  readonly json?: boolean;
}

async function revoke(cli: Cli, typed: readonly string[], { reason, by, json }: RevokeOptions): Promise<number> {
  const { config, terminal } = cli;
  return withLedger(config, async (pool) => {
    const signed = await signedBy(pool, config, by, 'approver', 'operator');
    const open = await readShownGrants(pool, { all: false, limit: 10_000 });
    const chosen = typed.length > 0 ? typed : await choose(cli, open);
    if (chosen.length === 0) return EXIT.ok;
    const ids = chosen.map((part) => pickById(open, part, NAMED).id);
    const gone = await revokeGrants(pool, ids, signed, redactText(reason, 500));
    if (json === true) terminal.printJson({ revoked: gone });
    else terminal.print(`Revoked ${plural(gone.length, 'grant')}.`);
    return EXIT.ok;
  });
}

async function choose(cli: Cli, open: readonly ShownGrant[]): Promise<readonly string[]> {
  const words = { which: 'Which grant?', listed: NAMED.listed, none: 'No grant is open.' };
  const typed = await chooseId(cli, words, open.slice(0, MOST_LISTED), (from) => grantsTable(cli.terminal, from));
  return typed === undefined ? [] : [typed];
}
