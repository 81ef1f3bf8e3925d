import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { COLUMNS, hashOf, VALID } from './tokens.ts';
import type { Token } from './tokens.ts';

export interface SessionSecrets {
  /** For the cookie. */
  readonly secret: string;
  /** For the page, which shows it besides: a cookie is sent to every port of a machine. */
  readonly page: string;
}

/** Begins a session of a token. Its secrets are returned here and nowhere else. What has ended meanwhile is cleared away. */
export async function beginSession(pool: pg.Pool, { id, name }: Token, seconds: number): Promise<SessionSecrets> {
  const [secret, page] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')];
  await pool.query(
    `with ended as (delete from session where expires_at < clock_timestamp()),
     noted as (insert into audit (actor, action, reason, detail)
       values ($4, 'signed in', '', jsonb_build_object('token', $2::text)))
     insert into session (hash, token, expires_at, page_hash)
     values ($1, $2::uuid, clock_timestamp() + $3::float8 * interval '1 second', $5)`,
    [hashOf(secret), id, seconds, name, hashOf(page)],
  );
  return { secret, page };
}

/** The token that a session stands for, as long as both hold; with `page`, only for its own page. */
export async function findSession(pool: pg.Pool, secret: string, page?: string): Promise<Token | undefined> {
  const found = await pool.query<Token>(
    `select ${COLUMNS} from token where ${VALID} and id = (
       select token from session where hash = $1 and session.expires_at > clock_timestamp()
         and ($2::bytea is null or page_hash = $2))`,
    [hashOf(secret), page === undefined ? null : hashOf(page)],
  );
  return found.rows[0];
}

export async function endSession(pool: pg.Pool, secret: string): Promise<void> {
  await pool.query('delete from session where hash = $1', [hashOf(secret)]);
}
