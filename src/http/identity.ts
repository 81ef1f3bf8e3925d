import type { MiddlewareHandler } from 'hono';
import type pg from 'pg';
import { findToken } from '../postgres/tokens.ts';
import type { Role, Token } from '../postgres/tokens.ts';
import { HttpProblem } from './problem.ts';
import type { Limits } from './limits.ts';

export interface Identified {
  readonly Variables: {
    readonly token: Token;
    /** For whoever stays longer than one request. */
    readonly isStillKnown: () => Promise<boolean>;
  };
}

/** A revoked token is refused this much later at the latest. */
const REMEMBERED_MS = 2000;
const MOST_REMEMBERED = 10_000;

/** Every route but health and the API's description wants a token; what it may do with it is said by `allow`. */
export function authenticate(pool: pg.Pool, limits: Limits): MiddlewareHandler<Identified> {
  const known = new Map<string, { readonly token: Token; readonly until: number }>();
  return async (c, next) => {
    const [, secret] = /^Bearer ([\w-]{10,200})$/.exec(c.req.header('authorization') ?? '') ?? [];
    if (secret === undefined) throw unauthorised('Send a token: Authorization: Bearer surety_…');
    const remembered = known.get(secret);
    let token = remembered !== undefined && remembered.until > Date.now() ? remembered.token : undefined;
    if (token === undefined) {
      token = await findToken(pool, secret);
      if (token === undefined) throw unauthorised('The token is not known, has ended, or was revoked.');
      if (known.size >= MOST_REMEMBERED) known.clear();
      known.set(secret, { token, until: Date.now() + REMEMBERED_MS });
    }
    await limits.count(token.id);
    c.set('token', token);
    c.set('isStillKnown', async () => (await findToken(pool, secret)) !== undefined);
    await next();
  };
}

function unauthorised(detail: string): HttpProblem {
  return new HttpProblem(401, 'Not authenticated', detail);
}

/** Lets a request through whose token has one of the roles; an admin's has all, except that an agent's never decides. */
export function allow(...roles: readonly Role[]): MiddlewareHandler<Identified> {
  return async (c, next) => {
    const token = c.get('token');
    if (!token.roles.includes('admin') && !roles.some((role) => token.roles.includes(role))) {
      throw new HttpProblem(
        403,
        'Not allowed',
        `This takes the role ${roles.join(' or ')}; the token has ${token.roles.join(', ')}.`,
      );
    }
    await next();
  };
}

/** Checked before roles: whoever acts for an agent does not decide. */
export const decides: MiddlewareHandler<Identified> = async (c, next) => {
  if (c.get('token').roles.includes('agent')) {
    throw new HttpProblem(403, 'Not allowed', "An agent's token never decides, whatever other roles it has.");
  }
  await next();
};
