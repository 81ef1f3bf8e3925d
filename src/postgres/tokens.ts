import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { folded, isSamePerson, nameAsKept, refusalOfName } from '../domain/approval/person.ts';
import { Problem } from '../problem.ts';
import { withdrawQuestionsOf } from './approval-ask.ts';
import { revokeGrantsOf } from './grants.ts';
import { newOutcomeId } from './outcome-id.ts';
import { inTransaction } from './pool.ts';

export const ROLES = ['agent', 'approver', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** Who a token stands for. An agent's token never decides, whatever other roles it has. */
export interface Token {
  readonly id: string;
  readonly name: string;
  /** The person behind it: whoever owns an agent's token cannot decide about its calls. */
  readonly owner: string;
  readonly roles: readonly Role[];
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

export interface NewToken {
  readonly name: string;
  readonly owner: string;
  readonly roles: readonly Role[];
  readonly createdBy: string;
  readonly expiresAt?: number;
}

export const COLUMNS = `id, name, owner, roles, created_by as "createdBy",
  extract(epoch from created_at)::float8 * 1000 as "createdAt",
  extract(epoch from expires_at)::float8 * 1000 as "expiresAt",
  extract(epoch from revoked_at)::float8 * 1000 as "revokedAt"`;

export const VALID = 'revoked_at is null and (expires_at is null or expires_at > clock_timestamp())';

/**
 * Makes a token. Its secret is returned here and nowhere else: only a hash is kept. Of a name that is in use the owner is
 * one: otherwise nobody could tell who has decided.
 */
export async function createToken(pool: pg.Pool, token: NewToken): Promise<{ id: string; secret: string }> {
  const id = newOutcomeId();
  const secret = `surety_${randomBytes(32).toString('base64url')}`;
  const [name, owner] = [nameAsKept(token.name), nameAsKept(token.owner)];
  for (const given of [name, owner]) {
    const refused = refusalOfName(given);
    if (refused !== undefined) throw new Problem(refused, 'Give the token another name, or another owner.');
  }
  await inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 12))', [folded(name)]);
    await refuseOtherOwner(client, name, owner);
    await endInherited(client, name, owner);
    await client.query(
      `with made as (
         insert into token (id, name, owner, hash, roles, created_by, expires_at)
         values ($1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000))
       )
       insert into audit (actor, action, reason, detail)
       values ($6, 'token created', '', jsonb_build_object('token', $1::text, 'name', $2::text, 'roles', $5::text[]))`,
      [id, name, owner, hashOf(secret), token.roles, token.createdBy, token.expiresAt ?? null],
    );
  });
  return { id, secret };
}

async function refuseOtherOwner(client: pg.PoolClient, name: string, owner: string): Promise<void> {
  const other = (await tokensOf(client, name)).find((one) => one.isValid && !isSamePerson(one.owner, owner));
  if (other === undefined) return;
  throw new Problem(
    `There is a token ${JSON.stringify(other.name)} already, and it belongs to ${other.owner}.`,
    'Choose another name, or revoke that one first (surety token list).',
  );
}

/**
 * What was granted to an agent was granted to whoever it belonged to: they may even have granted it themselves since. What
 * it has asked is theirs as well, and so is what was said to that.
 */
async function endInherited(client: pg.PoolClient, name: string, owner: string): Promise<void> {
  const before = await tokensOf(client, name);
  if (before.every((one) => isSamePerson(one.owner, owner))) return;
  const reason = `the agent belongs to ${owner} now`;
  await revokeGrantsOf(client, name, reason);
  await withdrawQuestionsOf(client, { agent: name, exceptOf: owner }, reason);
}

type NamedToken = Pick<Token, 'name' | 'owner'> & { readonly isValid: boolean };

/** All that there ever was of a name, however it is spelt, the newest last. */
async function tokensOf(pool: pg.Pool | pg.PoolClient, name: string): Promise<readonly NamedToken[]> {
  const made = await pool.query<NamedToken>(
    `select name, owner, ${VALID} as "isValid" from token order by created_at, id`,
  );
  return made.rows.filter((one) => isSamePerson(one.name, name));
}

/** Whoever an agent belongs to: by its tokens, or by the last that it had, since that is likely to be renewed. */
export async function ownersOf(pool: pg.Pool, agent: string): Promise<readonly string[]> {
  const made = await tokensOf(pool, agent);
  const valid = made.filter(({ isValid }) => isValid);
  return (valid.length > 0 ? valid : made.slice(-1)).map(({ owner }) => owner);
}

/** As tokens of that name have had it. */
export async function spellingsOfOwner(
  pool: pg.Pool,
  { name, owner }: Pick<Token, 'name' | 'owner'>,
): Promise<readonly string[]> {
  const made = await tokensOf(pool, name);
  return made.map((one) => one.owner).filter((other) => isSamePerson(other, owner));
}

/** Whoever acts for an agent changes nothing that agents are held by. Asked before roles. */
export const AGENTS_NEVER_DECIDE = "An agent's token never decides, whatever other roles it has.";

/** What a token lacks for what takes one of the roles; undefined where it lacks nothing. An admin's has all. */
export function missingRole({ roles: has }: Pick<Token, 'roles'>, takes: readonly Role[]): string | undefined {
  if (has.includes('admin') || takes.some((role) => has.includes(role))) return undefined;
  return `This takes the role ${takes.join(' or ')}; the token has ${has.join(', ')}.`;
}

/** Looked up by its hash: nothing about the secret can be learnt from how long that takes. */
export async function findToken(pool: pg.Pool, secret: string): Promise<Token | undefined> {
  const found = await pool.query<Token>(`select ${COLUMNS} from token where hash = $1 and ${VALID}`, [hashOf(secret)]);
  return found.rows[0];
}

export async function listTokens(pool: pg.Pool): Promise<readonly Token[]> {
  return (await pool.query<Token>(`select ${COLUMNS} from token order by id`)).rows;
}

/** Answers whether there was one to revoke. */
export async function revokeToken(pool: pg.Pool, id: string, by: string): Promise<boolean> {
  const revoked = await pool.query(
    `with revoked as (
       update token set revoked_at = clock_timestamp(), revoked_by = $2 where id::text = $1 and revoked_at is null
       returning id, name
     ), noted as (
       insert into audit (actor, action, reason, detail)
       select $2, 'token revoked', '', jsonb_build_object('token', id, 'name', name) from revoked
     )
     select id from revoked`,
    [id, by],
  );
  return revoked.rowCount === 1;
}

export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
