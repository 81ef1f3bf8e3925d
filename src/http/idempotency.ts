import { createHash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import type pg from 'pg';
import type { Identified } from './identity.ts';
import { HttpProblem } from './problem.ts';

/** What of an answer is kept besides its body. */
const KEPT_HEADERS = ['content-type'];
const REPLAYED = 'idempotency-replayed';

/**
 * A write that is sent again under its `Idempotency-Key` is answered as it was the first time, and done once. The same key
 * for something else is refused. Answers that say "try again" are not kept.
 */
export function idempotent(pool: pg.Pool): MiddlewareHandler<Identified> {
  return async (c, next) => {
    const key = c.req.header('idempotency-key');
    if (key === undefined || ['GET', 'HEAD'].includes(c.req.method) || isJudgedAnew(c.req.path)) return next();
    if (!/^[\x21-\x7e]{1,200}$/.test(key)) {
      throw new HttpProblem(400, 'Not understood', 'Idempotency-Key is up to 200 printable characters.');
    }
    const identity = c.get('token').id;
    const request = createHash('sha256')
      .update(`${c.req.method} ${c.req.path}\n${await c.req.text()}`)
      .digest('hex');
    const claimed = await pool.query<Claim>(
      `with claim as (
         insert into idempotency (identity, key, request, status, body) values ($1, $2, $3, 0, '')
         on conflict (identity, key) do update set at = clock_timestamp()
           where idempotency.status = 0 and idempotency.request = excluded.request
             and idempotency.at < clock_timestamp() - interval '60 seconds'
         returning true
       )
       select request, status, body, headers, false as mine from idempotency where identity = $1 and key = $2
         and not exists (select 1 from claim)
       union all select $3, 0, '', '{}'::jsonb, true from claim limit 1`,
      [identity, key, request],
    );
    const [found] = claimed.rows;
    // Somebody else's claim, made while this one was: what becomes of it will be known in a moment.
    if (found === undefined) throw stillAtIt();
    if (!found.mine) {
      if (found.request !== request) {
        throw new HttpProblem(422, 'Key was used', 'This Idempotency-Key belongs to another request.');
      }
      if (found.status === 0) {
        throw stillAtIt();
      }
      if (isAsking(c.req.path) && found.status === 200) {
        c.set('askedBefore', (JSON.parse(found.body) as { id: string }).id);
        c.header(REPLAYED, 'true');
        return next();
      }
      return c.body(found.body, found.status as 200, { ...found.headers, [REPLAYED]: 'true' });
    }
    try {
      await next();
    } finally {
      const { status } = c.res;
      const isToBeTriedAgain = status >= 500 || status === 429;
      const closing = isToBeTriedAgain
        ? pool.query('delete from idempotency where identity = $1 and key = $2', [identity, key])
        : pool.query('update idempotency set status = $3, body = $4, headers = $5 where identity = $1 and key = $2', [
            identity,
            key,
            status,
            await c.res.clone().text(),
            keptOf(c.res.headers),
          ]);
      // If this fails the claim lapses after a minute; the request itself was answered.
      await closing.catch(() => undefined);
    }
    return undefined;
  };
}

/**
 * Whether a call may be made, and whether a grant may still be used, is never answered from memory. Asking changes nothing,
 * and using a grant is done once by its `callId`.
 */
export function isJudgedAnew(path: string): boolean {
  return /^\/v1\/(?:check|gate\/news|grants\/[^/]+\/consume)$/.test(path);
}

/** A question is found again, and shown as it stands: whoever repeats a request wants to know what became of it. */
function isAsking(path: string): boolean {
  return path === '/v1/approvals';
}

interface Claim {
  readonly request: string;
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly mine: boolean;
}

function keptOf(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => KEPT_HEADERS.includes(name)));
}

function stillAtIt(): HttpProblem {
  const detail = 'The first request of this key has not been answered yet.';
  return new HttpProblem(409, 'Still at it', detail, { retryAfter: 1 });
}
