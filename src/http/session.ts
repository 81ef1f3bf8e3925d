import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import type pg from 'pg';
import { beginSession, endSession } from '../postgres/sessions.ts';
import { findToken, ROLES } from '../postgres/tokens.ts';
import type { Token } from '../postgres/tokens.ts';
import type { Api } from './app.ts';
import { credentialOf, SESSION_COOKIE, whoIs } from './identity.ts';
import { refuseForeign } from './own-origin.ts';
import { HttpProblem, problem, refusals } from './problem.ts';

/** A working day; then the token is asked for again. */
const SESSION_SECONDS = 12 * 3600;

const Session = z
  .object({
    who: z
      .object({ name: z.string(), owner: z.string(), roles: z.array(z.enum(ROLES)) })
      .nullable()
      .openapi({ description: 'null for whoever is not signed in' }),
  })
  .openapi('Session');
export type Session = z.infer<typeof Session>;

const answer = { description: 'who asks', content: { 'application/json': { schema: Session } } };

/** Signing in to the console. Reached without a token, because one is what these are about. */
export function sessionRoutes(app: Api, { pool }: { readonly pool: pg.Pool }): void {
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/session',
      summary: 'Who am I?',
      responses: { 200: answer },
    }),
    async (c) => {
      const shown = credentialOf(c);
      const token = shown === undefined ? undefined : await whoIs(pool, shown);
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
          content: { 'application/json': { schema: z.object({ token: z.string().min(1).max(200) }) } },
          required: true,
        },
      },
      responses: { 200: answer, ...refusals, 415: problem('not JSON') },
    }),
    async (c) => {
      refuseForeign(c);
      const token = await findToken(pool, c.req.valid('json').token.trim());
      if (token === undefined) {
        throw new HttpProblem(401, 'Not authenticated', 'The token is not known, has ended, or was revoked.');
      }
      if (token.roles.includes('agent')) {
        throw new HttpProblem(
          403,
          'Not allowed',
          `${token.name} is an agent's token, and agents never decide. Sign in with one of your own: surety token create <name> --role approver`,
        );
      }
      const secret = await beginSession(pool, token, SESSION_SECONDS);
      setCookie(c, SESSION_COOKIE, secret, { ...attributesOf(c), maxAge: SESSION_SECONDS });
      return c.json(sessionOf(token), 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'delete',
      path: '/v1/session',
      summary: 'Sign out',
      responses: { 200: answer, ...refusals },
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
