import { createRoute, z } from '@hono/zod-openapi';
import { partName } from '../domain/trust/part-view.ts';
import { readLately } from '../postgres/read-lately.ts';
import { readPendingRecoveries } from '../postgres/read-recoveries.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import { cursorOf, readTools } from '../postgres/read-tools.ts';
import type { ToolsCursor } from '../postgres/read-tools.ts';
import { readTotals } from '../postgres/read-totals.ts';
import { currentRules } from '../postgres/rules.ts';
import type { Api, ApiParts } from './app.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { allow } from './identity.ts';
import { text } from './text.ts';
import { State, time, Time, Tool, toolShown } from './tool-shapes.ts';

const Count = z.number().int();

const ToolsPage = z
  .object({
    tools: z.array(Tool),
    cursor: z.string().nullable(),
    summary: z.object({
      states: z.object({ TRUSTED: Count, RECOVERING: Count, ESCALATED: Count, BLOCKED: Count }),
      outcomes: Count,
      failures: Count,
      breakGlass: z.object({ until: Time, by: z.string(), reason: z.string() }).nullable(),
    }),
    recoveries: z
      .array(
        z.object({
          key: z.string(),
          title: z.string(),
          scope: z.string().nullable(),
          label: z.string(),
          reason: z.string(),
          since: Time,
        }),
      )
      .openapi({ description: 'cooled down, and waiting for an order to recover' }),
  })
  .openapi('ToolsPage');
export type ToolsPage = z.infer<typeof ToolsPage>;

/** What is trusted, and what is not. */
export function toolsRoute(app: Api, { pool }: Pick<ApiParts, 'pool'>): void {
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/tools',
      summary: 'Tools and servers with their trust, those in doubt first',
      middleware: [allow('approver', 'operator')] as const,
      request: {
        query: z.object({
          state: State.optional(),
          search: text(200).min(1).optional(),
          limit: z.coerce.number().int().min(1).max(100).default(50),
          cursor: z.string().max(2000).optional(),
        }),
      },
      responses: {
        200: {
          description: 'a page; `cursor` leads to the next',
          content: { 'application/json': { schema: ToolsPage } },
        },
      },
    }),
    async (c) => {
      const { state, search, limit, cursor } = c.req.valid('query');
      const [published, totals, recoveries, found] = await Promise.all([
        currentRules(pool),
        readTotals(pool),
        readPendingRecoveries(pool, Date.now()),
        readTools(pool, {
          limit,
          ...(state === undefined ? {} : { status: state }),
          ...(search === undefined ? {} : { search }),
          ...(cursor === undefined ? {} : { after: placeIn(cursor) }),
        }),
      ]);
      const lately = await readLately(pool, found);
      const last = found.at(-1);
      const { tools, servers, blocked, escalated, recovering, outcomes, failures, breakGlass } = totals;
      const trusted = tools + servers - blocked - escalated - recovering;
      return c.json(
        {
          tools: found.map((known) => toolShown(known, published, lately.get(known.id))),
          cursor: last === undefined || found.length < limit ? null : placeOf(last),
          summary: {
            states: { TRUSTED: trusted, RECOVERING: recovering, ESCALATED: escalated, BLOCKED: blocked },
            ...{ outcomes, failures },
            breakGlass: breakGlass === null ? null : { ...breakGlass, until: time(breakGlass.until) },
          },
          recoveries: recoveries.map(({ key, name, part, reason, since }) => ({
            ...{ key, title: name, scope: part === '' ? null : part, label: partName(part), reason },
            since: time(since),
          })),
        },
        200,
      );
    },
  );
}

const Cursor = z.tuple([z.int().min(0).max(3), text(20_000), text(20_000), z.int()]);

function placeIn(cursor: string): ToolsCursor {
  const [rank, server, name, id] = readCursor(cursor, Cursor);
  return { rank, server, name, id };
}

function placeOf(last: KnownSubject): string {
  const { rank, server, name, id } = cursorOf(last);
  return writeCursor([rank, server, name, id]);
}
