import { createRoute, z } from '@hono/zod-openapi';
import { ReportFields } from '../domain/outcome/report.schema.ts';
import type pg from 'pg';
import { BufferFull, InvalidReport } from '../gate/errors.ts';
import { ownProbes } from '../postgres/probes.ts';
import type { Token } from '../postgres/tokens.ts';
import type { Api, ApiParts } from './app.ts';
import { allow } from './identity.ts';
import { HttpProblem, problem } from './problem.ts';
import { text } from './text.ts';

export const Call = z
  .strictObject({
    tool: text(10_240).min(1),
    server: text(10_240).min(1).optional(),
    args: z.unknown().optional(),
    scope: text(10_240)
      .optional()
      .openapi({ description: 'where the arguments do not say it; where they do, both are judged' }),
    agent: text(1024).optional(),
    session: text(1024).optional(),
    definition: text(200).min(1).optional().openapi({
      description:
        'digest of what the tool says it is; what was granted to another, or to none, does not answer the call',
    }),
  })
  .openapi('Call');

const Decision = z
  .object({
    decision: z.enum(['allow', 'ask', 'deny']),
    because: z.string(),
    via: z.enum(['probe', 'grant', 'person']).optional(),
    retryAfter: z.number().int().optional(),
    trustVersion: z.number().int().optional(),
    grant: z.string().optional(),
    heldSince: z.number().optional(),
    isSecurity: z.boolean().optional(),
    probes: z.array(z.object({ key: z.string(), part: z.string() })).optional(),
    escalation: z.record(z.string(), z.unknown()).optional(),
    shadow: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('Decision');

const MOST_OUTCOMES = 1000;

/** What an agent does: ask before a call, report after it. */
export function gateRoutes(app: Api, { pool, gate }: Pick<ApiParts, 'pool' | 'gate'>): void {
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/check',
      summary: 'May this call be made now?',
      middleware: [allow('agent', 'operator')] as const,
      request: { body: { content: { 'application/json': { schema: Call } }, required: true } },
      responses: {
        200: {
          description: 'the decision',
          headers: z.object({
            'Retry-After': z.string().optional().openapi({ description: 'seconds until it may be another' }),
          }),
          content: { 'application/json': { schema: Decision } },
        },
      },
    }),
    (c) => {
      const { args, ...call } = c.req.valid('json');
      const decision = gate.check({ ...present(call), args, ...spokenFor(c.get('token'), call.agent) });
      const retryAfter = decision.decision === 'allow' ? undefined : decision.retryAfter;
      if (retryAfter !== undefined) c.header('retry-after', String(retryAfter));
      return c.json({ ...decision } as unknown as z.infer<typeof Decision>, 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/outcomes',
      summary: 'What became of calls; answered when it is durable',
      middleware: [allow('agent', 'operator')] as const,
      request: {
        body: {
          content: {
            'application/json': {
              schema: z.strictObject({ outcomes: z.array(OutcomeBody).min(1).max(MOST_OUTCOMES) }),
            },
          },
          required: true,
        },
      },
      responses: {
        200: {
          description: 'recorded',
          content: { 'application/json': { schema: z.object({ callIds: z.array(z.string()) }) } },
        },
        503: problem('not now'),
      },
    }),
    async (c) => {
      const { outcomes } = c.req.valid('json');
      const token = c.get('token');
      const mine = await ownLeases(pool, token, outcomes);
      const reports = outcomes.map(({ probe, ...one }) => ({
        ...one,
        ...(mine(probe) ? { probe } : {}),
        ...spokenFor(token, one.agent),
      }));
      const callIds = await Promise.all(reports.map((report) => gate.report(report))).catch((error: unknown) => {
        if (error instanceof InvalidReport) throw new HttpProblem(400, 'Not understood', error.message);
        if (error instanceof BufferFull) throw new HttpProblem(503, 'Not now', error.message, { retryAfter: 1 });
        throw error;
      });
      return c.json({ callIds }, 200);
    },
  );
}

/** Times travel as ISO text or epoch milliseconds. */
const Time = z.union([
  z.number().min(0).max(8.64e15),
  z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
]);
const OutcomeBody = ReportFields.extend({ at: Time.optional(), startedAt: Time.optional() }).openapi('Outcome');

/** Tells which leases are the token's own: nobody ends another's by naming it. */
export async function ownLeases(
  pool: pg.Pool,
  token: Token,
  outcomes: readonly { readonly probe?: string | undefined }[],
): Promise<(probe: string | undefined) => probe is string> {
  const named = outcomes.flatMap(({ probe }) => (probe === undefined ? [] : [probe]));
  const own = new Set(named.length === 0 ? [] : await ownProbes(pool, named, token.name));
  return (probe): probe is string => probe !== undefined && own.has(probe);
}

/** An agent speaks for itself: its name is its token's, whatever it says. */
export function spokenFor(token: Token, claimed: string | undefined): { agent?: string } {
  if (token.roles.includes('agent')) return { agent: token.name };
  return claimed === undefined ? {} : { agent: claimed };
}

export function present<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never;
}
