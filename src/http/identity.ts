import type { Context, MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import type pg from 'pg';
import { Recent } from '../domain/recent.ts';
import { findSession } from '../postgres/sessions.ts';
import { AGENTS_NEVER_DECIDE, findToken, missingRole } from '../postgres/tokens.ts';
import type { Role, Token } from '../postgres/tokens.ts';
import { cameFrom } from './failed-attempts.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import type { Limits } from './limits.ts';
import { refuseForeign } from './own-origin.ts';
import { HttpProblem } from './problem.ts';

export interface Identified {
  readonly Variables: {
    readonly token: Token;
    /** For whoever stays longer than one request. */
    readonly isStillKnown: () => Promise<boolean>;
    /** The question that the same request has asked before. */
    readonly askedBefore?: string;
  };
}

export const SESSION_COOKIE = 'surety_session';
const PAGE_HEADER = 'x-surety-page';

/** A revoked token is refused this much later at the latest. */
const REMEMBERED_MS = 2000;
const MOST_REMEMBERED = 10_000;

export interface Doorkeeping {
  readonly pool: pg.Pool;
  readonly limits: Limits;
  readonly failedAttempts: FailedAttempts;
}

/** Every route but health and the API's description wants a token; what it may do with it is said by `allow`. */
export function authenticate({ pool, limits, failedAttempts }: Doorkeeping): MiddlewareHandler<Identified> {
  const known = new Recent<string, { readonly token: Token; readonly until: number }>(MOST_REMEMBERED);
  return async (c, next) => {
    const shown = credentialOf(c);
    if (shown === undefined) throw unauthorised('Send a token: Authorization: Bearer surety_…');
    if (shown.by === 'cookie') refuseElsewhere(c, shown);
    const name = `${shown.by} ${shown.secret} ${shown.page ?? ''}`;
    const remembered = known.get(name);
    let token = remembered !== undefined && remembered.until > Date.now() ? remembered.token : undefined;
    if (token === undefined) {
      const from = cameFrom(c);
      // Whoever was known a moment ago does not suffer from what others send from the same address.
      if (remembered === undefined) failedAttempts.refuse(from);
      token = await whoIs(pool, shown);
      if (token === undefined) {
        known.delete(name);
        failedAttempts.note(from);
        throw unauthorised(NOT_KNOWN[shown.by]);
      }
      known.set(name, { token, until: Date.now() + REMEMBERED_MS });
    }
    limits.count(token.id);
    c.set('token', token);
    c.set('isStillKnown', async () => (await whoIs(pool, shown)) !== undefined);
    await next();
  };
}

/** A browser cannot be made to show the page's key where it streams events: they name what to look at and no more. */
function refuseElsewhere(c: Context, { page }: Credential): void {
  if (!['GET', 'HEAD'].includes(c.req.method)) refuseForeign(c);
  if (page === undefined && c.req.path !== '/v1/events') throw unauthorised(NOT_KNOWN.cookie);
}

const NOT_KNOWN = {
  bearer: 'The token is not known, has ended, or was revoked.',
  cookie: 'The session has ended, or its token was revoked. Sign in again.',
};

export interface Credential {
  readonly by: 'bearer' | 'cookie';
  readonly secret: string;
  /** What the page that signed in was given besides the cookie. */
  readonly page?: string;
}

/** What a request shows of who sends it: a token, or the cookie that stands for one. A token goes first. */
export function credentialOf(c: Context): Credential | undefined {
  const header = c.req.header('authorization');
  const [, token] = /^Bearer ([\w-]{10,200})$/.exec(header ?? '') ?? [];
  if (token !== undefined) return { by: 'bearer', secret: token };
  const session = header === undefined ? getCookie(c, SESSION_COOKIE) : undefined;
  if (session === undefined || session === '') return undefined;
  const page = c.req.header(PAGE_HEADER);
  return { by: 'cookie', secret: session, ...(page === undefined ? {} : { page }) };
}

export function whoIs(pool: pg.Pool, { by, secret, page }: Credential): Promise<Token | undefined> {
  return by === 'bearer' ? findToken(pool, secret) : findSession(pool, secret, page);
}

function unauthorised(detail: string): HttpProblem {
  return new HttpProblem(401, 'Not authenticated', detail);
}

/** Lets a request through whose token has one of the roles; an admin's has all, except that an agent's never decides. */
export function allow(...roles: readonly Role[]): MiddlewareHandler<Identified> {
  return async (c, next) => {
    const missing = missingRole(c.get('token'), roles);
    if (missing !== undefined) throw new HttpProblem(403, 'Not allowed', missing);
    await next();
  };
}

/** Checked before roles: whoever acts for an agent does not decide. */
export const decides: MiddlewareHandler<Identified> = async (c, next) => {
  if (c.get('token').roles.includes('agent')) throw new HttpProblem(403, 'Not allowed', AGENTS_NEVER_DECIDE);
  await next();
};
