import { createRoute, z } from '@hono/zod-openapi';
import { normaliseScope } from '../domain/key/scope.ts';
import { redactText } from '../domain/outcome/redact.ts';
import type { OrderName } from '../domain/trust/event.ts';
import { partName } from '../domain/trust/part-view.ts';
import { scopeOfPart } from '../domain/trust/parts.ts';
import { appendOrders } from '../postgres/append.ts';
import type { Ledger } from '../postgres/append.ts';
import { Names, Subjects } from '../postgres/intern.ts';
import { newOutcomeId } from '../postgres/outcome-id.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import { readApplied } from '../postgres/snapshot.ts';
import { untilAnnounced } from './announcements.ts';
import type { Api, ApiParts } from './app.ts';
import { allow, decides } from './identity.ts';
import { HttpProblem, problem } from './problem.ts';
import { text } from './text.ts';
import { knownTool } from './tool.ts';
import { State } from './tool-shapes.ts';

const APPLIED_WITHIN_MS = 10_000;
const MOST_REASON = 300;

const SUMMARY: Readonly<Record<OrderName, string>> = {
  reset: 'Trust it again; nothing before counts',
  block: 'Deny every call, until a reset',
  recover: 'End an escalation: one call at a time is tried',
};

/** What operators do to a tool: rows in the ledger like any outcome, with who and why. */
export function orderRoutes(app: Api, { pool, announcements }: Pick<ApiParts, 'pool' | 'announcements'>): void {
  let ledger: Ledger | undefined;
  for (const order of ['reset', 'block', 'recover'] as const) {
    app.openapi(
      createRoute({
        method: 'post',
        path: `/v1/tools/{key}/${order}`,
        summary: SUMMARY[order],
        middleware: [decides, allow('operator')] as const,
        request: {
          params: z.object({ key: text(300) }),
          body: { content: { 'application/json': { schema: OrderBody[order] } }, required: true },
        },
        responses: {
          200: {
            description: 'recorded, and applied unless no worker runs',
            content: { 'application/json': { schema: Ordered } },
          },
          404: problem('there is no such tool'),
          409: problem('there is nothing to recover'),
        },
      }),
      async (c) => {
        const { reason, scope: typed } = c.req.valid('json');
        const known = await knownTool(pool, c.req.valid('param').key);
        const scope = typed === undefined ? undefined : normaliseScope(typed);
        if (typed !== undefined && scope === undefined) {
          throw new HttpProblem(
            400,
            'Not understood',
            `scope ${JSON.stringify(typed)} names no host, program or directory.`,
          );
        }
        if (order === 'recover') refuseIfNotEscalated(known, scope);
        const { key, id } = known;
        const by = c.get('token').name;
        const one = { id: newOutcomeId(), order, subjectKey: key, by, reason: redactText(reason, MOST_REASON) };
        ledger ??= { pool, names: new Names(pool), subjects: new Subjects(pool) };
        const flushed = await appendOrders(ledger, [{ ...one, ...(scope === undefined ? {} : { scope }) }]);
        const seq = flushed.places.get(key) ?? 0;
        const isApplied = async () => ((await readApplied(pool, [key])).get(key) ?? 0) >= seq;
        await untilAnnounced(announcements, `trust:${id}`, isApplied, APPLIED_WITHIN_MS, c.req.raw.signal);
        const outcome = (await isApplied()) ? ('applied' as const) : ('recorded' as const);
        return c.json({ outcome, state: (await knownTool(pool, key)).status }, 200);
      },
    );
  }
}

const Reason = text(1000).trim();
const scope = text(1000).optional();
const OrderBody = {
  reset: z.strictObject({ reason: Reason.default(''), scope }),
  // Whoever is denied reads it.
  block: z.strictObject({ reason: Reason.min(1), scope }),
  recover: z.strictObject({ reason: Reason.default(''), scope }),
};
const Ordered = z.object({ outcome: z.enum(['applied', 'recorded']), state: State }).openapi('Ordered');

function refuseIfNotEscalated({ parts, status }: KnownSubject, scope: string | undefined): void {
  const reached = Object.entries(parts).filter(([part]) => scope === undefined || scopeOfPart(part) === scope);
  if (reached.some(([, state]) => state.status === 'ESCALATED')) return;
  const of = scope === undefined ? 'It' : partName(scope);
  const state = scope === undefined ? status : (reached[0]?.[1].status ?? 'TRUSTED');
  const wayOut = state === 'BLOCKED' ? 'Only a reset lifts a block.' : 'There is no escalation to end.';
  throw new HttpProblem(409, 'Not possible', `${of} is ${state}. ${wayOut}`);
}
