import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { beginSession, endSession } from '../postgres/sessions.ts';
import { findToken, ROLES } from '../postgres/tokens.ts';
import type { Token } from '../postgres/tokens.ts';
import type { Api } from './app.ts';
import { cameFrom } from './failed-attempts.ts';
import { credentialOf, SESSION_COOKIE, whoIs } from './identity.ts';
import type { Doorkeeping } from './identity.ts';
import { refuseForeign } from './own-origin.ts';
import { HttpProblem } from './problem.ts';
import { text } from './text.ts';

/** A working day; then the token is asked for again. */
const SESSION_SECONDS = 12 * 3600;
/** Of one token in ten seconds: each leaves a session behind. */
const MOST_SIGN_INS = 20;

const Session = z
  .object({
    who: z
      .object({ name: z.string(), owner: z.string(), roles: z.array(z.enum(ROLES)) })
      .nullable()
      .openapi({ description: 'null for whoever is not signed in' }),
    page: z.string().optional().openapi({
      description: 'when signing in: to be sent as X-Surety-Page with everything that the cookie is sent with',
    }),
  })
  .openapi('Session');
export type Session = z.infer<typeof Session>;

const answer = { description: 'who asks', content: { 'application/json': { schema: Session } } };

/** Signing in to the console. Reached without a token, because one is what these are about. */
export function sessionRoutes(app: Api, { pool, limits, failedAttempts }: Doorkeeping): void {
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/session',
      summary: 'Who am I?',
      responses: { 200: answer },
    }),
    async (c) => {
      const shown = credentialOf(c);
      if (shown !== undefined) failedAttempts.refuse(cameFrom(c));
      // Whoever has the cookie and not what the page was given is not signed in here.
      const isOurs = shown !== undefined && (shown.by === 'bearer' || shown.page !== undefined);
      const token = isOurs ? await whoIs(pool, shown) : undefined;
      if (isOurs && token === undefined) failedAttempts.note(cameFrom(c));
      if (token !== undefined) limits.count(token.id);
      c.header('cache-control', 'no-store');
      return c.json(sessionOf(token), 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/session',
      summary: 'Sign in to the console: a token for a cookie that no script can read',
      security: [],
      request: {
        body: {
          content: { 'application/json': { schema: z.strictObject({ token: text(200).min(1) }) } },
          required: true,
        },
      },
      responses: { 200: answer },
    }),
    async (c) => {
      refuseForeign(c);
      failedAttempts.refuse(cameFrom(c));
      const token = await findToken(pool, c.req.valid('json').token.trim());
      if (token === undefined) {
        failedAttempts.note(cameFrom(c));
        throw new HttpProblem(401, 'Not authenticated', 'The token is not known, has ended, or was revoked.');
      }
      if (token.roles.includes('agent')) {
        throw new HttpProblem(
          403,
          'Not allowed',
          `${token.name} is an agent's token, and agents never decide. Sign in with one of your own: surety token create <name> --role approver`,
        );
      }
      limits.count(`sign-in ${token.id}`, MOST_SIGN_INS);
      const { secret, page } = await beginSession(pool, token, SESSION_SECONDS);
      setCookie(c, SESSION_COOKIE, secret, { ...attributesOf(c), maxAge: SESSION_SECONDS });
      c.header('cache-control', 'no-store');
      return c.json({ ...sessionOf(token), page }, 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'delete',
      path: '/v1/session',
      summary: 'Sign out',
      responses: { 200: answer },
    }),
    async (c) => {
      const shown = credentialOf(c);
      if (shown?.by === 'cookie') {
        refuseForeign(c);
        await endSession(pool, shown.secret);
      }
      deleteCookie(c, SESSION_COOKIE, attributesOf(c));
      return c.json(sessionOf(undefined), 200);
    },
  );
}

function attributesOf(c: Context) {
  const isTls = new URL(c.req.url).protocol === 'https:' || c.req.header('x-forwarded-proto') === 'https';
  return { path: '/v1', httpOnly: true, sameSite: 'Strict', secure: isTls } as const;
}

function sessionOf(token: Token | undefined): Session {
  return { who: token === undefined ? null : { name: token.name, owner: token.owner, roles: [...token.roles] } };
}
