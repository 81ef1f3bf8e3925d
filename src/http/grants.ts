import { createRoute, z } from '@hono/zod-openapi';
import { revokeGrants } from '../postgres/grants.ts';
import { readShownGrants } from '../postgres/read-grants.ts';
import type { GrantsCursor } from '../postgres/read-grants.ts';
import type { Api, ApiParts } from './app.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { allow, decides } from './identity.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { HttpProblem, problem } from './problem.ts';
import { Grant, grantShown } from './shapes.ts';
import { text } from './text.ts';

const Id = z.uuid();
const GrantsPage = z.object({ grants: z.array(Grant), cursor: z.string().nullable() });
export type GrantsPage = z.infer<typeof GrantsPage>;

/** What later calls may do without asking, and the end of it. */
export function grantRoutes(app: Api, { pool }: Pick<ApiParts, 'pool'>): void {
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/grants',
      summary: 'What people have granted',
      middleware: [allow('approver', 'operator')] as const,
      request: {
        query: z.object({
          all: z.enum(['true', 'false']).default('false'),
          limit: z.coerce.number().int().min(1).max(500).default(100),
          cursor: z.string().max(2000).optional(),
        }),
      },
      responses: {
        200: {
          description: 'a page, the newest first; `cursor` leads to the next',
          content: { 'application/json': { schema: GrantsPage } },
        },
      },
    }),
    async (c) => {
      const { all, limit, cursor } = c.req.valid('query');
      const after = cursor === undefined ? undefined : placeIn(cursor);
      const grants = await readShownGrants(pool, { all: all === 'true', limit, after });
      const last = grants.length < limit ? undefined : grants.at(-1);
      return c.json(
        {
          grants: grants.map(grantShown),
          cursor: last === undefined ? null : writeCursor([last.givenAt, last.id]),
        },
        200,
      );
    },
  );
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/grants/{id}/revoke',
      summary: 'End a grant',
      middleware: [decides, allow('approver', 'operator')] as const,
      request: {
        params: z.object({ id: Id }),
        body: {
          content: { 'application/json': { schema: z.strictObject({ reason: text(1000).default('') }) } },
          required: true,
        },
      },
      responses: {
        200: { description: 'revoked', content: { 'application/json': { schema: z.object({ revoked: Id }) } } },
        404: problem('there is no such grant, or it has ended'),
      },
    }),
    async (c) => {
      const { id } = c.req.valid('param');
      const gone = await revokeGrants(pool, [id], c.get('token').name, redactText(c.req.valid('json').reason, 500));
      if (gone.length === 0) throw new HttpProblem(404, 'Not found', `There is no open grant ${id}.`);
      return c.json({ revoked: id }, 200);
    },
  );
}

const Cursor = z.tuple([z.number().min(0).max(8.64e15), Id]);

function placeIn(cursor: string): GrantsCursor {
  const [givenAt, id] = readCursor(cursor, Cursor);
  return { givenAt, id };
}
