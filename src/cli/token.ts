import type { Command } from 'commander';
import { createToken, listTokens, revokeToken, ROLES } from '../postgres/tokens.ts';
import type { Role, Token } from '../postgres/tokens.ts';
import { BY, signedBy } from './actor.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { chooseId } from './choose.ts';
import { withLedger } from './ledger.ts';
import { pickById, shortId } from './short-id.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';
import { fromNow, iso, parseDuration } from './time.ts';
import { EXIT, UsageError } from './usage.ts';

interface CreateOptions {
  readonly role?: readonly Role[];
  readonly owner?: string;
  readonly for?: number;
  readonly by?: string;
  readonly json?: boolean;
}

export function registerToken(program: Command): void {
  const token = program.command('token').description('who may do what: agents, approvers, operators, admins');
  token
    .command('create')
    .description('make a token; its secret is shown once')
    .argument('<name>', 'who or what uses it')
    .option('--role <role>', `${ROLES.join(', ')}; may be repeated`, collectRole)
    .option('--owner <name>', 'the person behind it, who cannot decide about its calls (default: the name)')
    .option('--for <duration>', 'ends after so long: 30d', parseDuration)
    .option('--by <name>', BY)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
An agent's token can ask, report and withdraw, and never decides, whatever other
roles it has.

Examples:
  surety token create nightly-agent --role agent --owner ann
  surety token create ann --role approver --role operator`,
    )
    .action(action(create));
  token
    .command('list')
    .description('every token, without its secret')
    .option('--json', 'print JSON')
    .action(action(list));
  token
    .command('revoke')
    .description('end a token')
    .argument('[id]', 'as `surety token list` has it; on a terminal you can choose')
    .option('--by <name>', BY)
    .option('--json', 'print JSON')
    .action(action(revoke));
}

async function create({ config, terminal }: Cli, name: string, options: CreateOptions): Promise<number> {
  const { role: roles = [] } = options;
  if (roles.length === 0) throw new UsageError('A token has a role.', `Add --role ${ROLES.join(' | ')}.`);
  return withLedger(config, async (pool) => {
    const createdBy = await signedBy(pool, config, options.by, 'admin');
    const { id, secret } = await createToken(pool, {
      name,
      owner: options.owner ?? name,
      roles: [...new Set(roles)],
      createdBy,
      ...(options.for === undefined ? {} : { expiresAt: Date.now() + options.for }),
    });
    if (options.json === true) terminal.printJson({ id, name, secret });
    else {
      terminal.print(secret);
      terminal.complain('Keep it: only its hash is stored, and it is not shown again.');
    }
    return EXIT.ok;
  });
}

async function list({ config, terminal }: Cli, { json }: { json?: boolean }): Promise<number> {
  return withLedger(config, async (pool) => {
    const tokens = await listTokens(pool);
    if (json === true) terminal.printJson(tokens.map(forJson));
    else if (tokens.length === 0) terminal.print('There are no tokens.');
    else terminal.print(tokensTable(terminal, tokens));
    return EXIT.ok;
  });
}

const COLUMNS = [
  { title: 'ID' },
  { title: 'NAME', atLeast: 8 },
  { title: 'OWNER', atLeast: 5 },
  { title: 'ROLES' },
  { title: '' },
];

function tokensTable(terminal: Terminal, tokens: readonly Token[]): string {
  const rows = tokens.map((token) => ({
    cells: [shortId(token.id), token.name, token.owner, token.roles.join(', '), fate(token)],
  }));
  return table(terminal, COLUMNS, rows);
}

function fate({ revokedAt, expiresAt }: Token): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt === null ? '' : `${expiresAt > Date.now() ? 'ends' : 'ended'} ${fromNow(expiresAt, Date.now())}`;
}

function forJson({ createdAt, expiresAt, revokedAt, ...token }: Token): Record<string, unknown> {
  const time = (ms: number | null) => (ms === null ? null : iso(ms));
  return { ...token, createdAt: iso(createdAt), expiresAt: time(expiresAt), revokedAt: time(revokedAt) };
}

const NAMED = {
  none: 'no token that could be revoked',
  several: 'several tokens',
  listed: '`surety token list` has their ids.',
};

async function revoke(
  cli: Cli,
  typed: string | undefined,
  { by, json }: { by?: string; json?: boolean },
): Promise<number> {
  const { config, terminal } = cli;
  return withLedger(config, async (pool) => {
    const signed = await signedBy(pool, config, by, 'admin');
    const open = (await listTokens(pool)).filter(({ revokedAt }) => revokedAt === null);
    const words = { which: 'Which token?', listed: NAMED.listed, none: 'There is no token.' };
    const chosen = typed ?? (await chooseId(cli, words, open, (from) => tokensTable(terminal, from)));
    if (chosen === undefined) return EXIT.ok;
    const { id, name } = pickById(open, chosen, NAMED);
    await revokeToken(pool, id, signed);
    if (json === true) terminal.printJson({ id, name });
    else terminal.print(`Revoked the token of ${name}.`);
    return EXIT.ok;
  });
}

function collectRole(text: string, before: readonly Role[] = []): readonly Role[] {
  const role = ROLES.find((known) => known === text);
  if (role === undefined)
    throw new UsageError(`--role ${JSON.stringify(text)} is no role.`, `Give ${ROLES.join(', ')}.`);
  return [...before, role];
}
