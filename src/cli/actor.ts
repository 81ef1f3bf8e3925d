import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type pg from 'pg';
import type { Config } from '../config.ts';
import { isSamePerson, nameAsKept, refusalOfName, unverified } from '../domain/approval/person.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { homeAt } from '../home.ts';
import { AGENTS_NEVER_DECIDE, findToken, missingRole } from '../postgres/tokens.ts';
import type { Role, Token } from '../postgres/tokens.ts';
import { codeOf, Problem } from '../problem.ts';
import { UsageError } from './usage.ts';

/** Of every command that changes something. */
export const BY = 'your name where no token says it: recorded as unverified';

/** Who changes something at this terminal. */
export interface Actor {
  readonly name: string;
  /** The id of the token that says so; without one nobody vouches for the name. */
  readonly token?: string;
}

const MOST_NAME = 200;

/**
 * A token says who it is: SURETY_TOKEN, or what `surety up` has left in the data directory. Where there is none the name that
 * was given counts, and nobody vouches for it. Whoever has a token acts under its name, and only as far as its roles reach:
 * otherwise the record would name whom they typed.
 */
export async function actorOf(
  pool: pg.Pool,
  { remote, home }: Config,
  by: string | undefined,
  roles: readonly Role[],
): Promise<Actor> {
  const unnamed = by === undefined ? undefined : refusalOfName(by);
  if (unnamed !== undefined) throw new UsageError(unnamed, 'Give --by a name of your own.');
  const token = remote.token === undefined ? await keptToken(pool, home) : await givenToken(pool, remote.token);
  if (token === undefined) return { name: nameAsKept(redactText(by ?? operator(), MOST_NAME)) };
  requireRole(token, roles);
  if (by === undefined || isSamePerson(by, token.name)) return { name: token.name, token: token.id };
  throw new UsageError(
    `The token says that this is ${token.name}, and --by ${JSON.stringify(by)}.`,
    'Leave --by away, or set SURETY_TOKEN to a token of that name.',
  );
}

/** As it is written where a record has room for a name alone. */
export function signature({ name, token }: Actor): string {
  return token === undefined ? unverified(name) : name;
}

/** The name to write down for a command that takes one of the roles. */
export async function signedBy(
  pool: pg.Pool,
  config: Config,
  by: string | undefined,
  ...roles: readonly Role[]
): Promise<string> {
  return signature(await actorOf(pool, config, by, roles));
}

/** What `surety up` has left in the data directory. That may be older than the ledger in use: it then says nothing here. */
export async function keptToken(pool: pg.Pool, home: string): Promise<Token | undefined> {
  const kept = await readFile(homeAt(home).adminToken, 'utf8').catch(() => '');
  return kept === '' ? undefined : findToken(pool, kept.trim());
}

async function givenToken(pool: pg.Pool, secret: string): Promise<Token> {
  const token = await findToken(pool, secret);
  if (token !== undefined) return token;
  throw new Problem(
    'The token in SURETY_TOKEN is not known, has ended, or was revoked.',
    'Unset it, or make another: surety token create <name> --role approver',
  );
}

function requireRole(token: Token, roles: readonly Role[]): void {
  const refused = token.roles.includes('agent') ? AGENTS_NEVER_DECIDE : missingRole(token, roles);
  if (refused === undefined) return;
  const [role = 'admin'] = roles;
  throw new Problem(
    `The token of ${token.name} is not enough; nothing was changed. ${refused}`,
    `Set SURETY_TOKEN to one of your own; an admin makes it: surety token create <name> --role ${role}`,
  );
}

/** Whose account this is. */
export function operator(): string {
  try {
    return userInfo().username;
  } catch (error) {
    // A container may run under a number that has no name.
    if (codeOf(error) !== 'ERR_SYSTEM_ERROR') throw error;
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
