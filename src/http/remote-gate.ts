import { createRoute, z } from '@hono/zod-openapi';
import type pg from 'pg';
import { JudgedOutcome } from '../domain/outcome/ledger-outcome.schema.ts';
import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { normaliseScope } from '../domain/key/scope.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { shownName } from '../domain/key/tool-key.ts';
import { readNews, readSnapshot } from '../gate/ledger-source.ts';
import type { News } from '../gate/source.ts';
import { WirePlaces, WireProbe, WireRenewed, WireWanted } from '../gate/wire.schema.ts';
import { appendOutcomes } from '../postgres/append.ts';
import { defineTool } from '../postgres/grants.ts';
import { acquireProbe, ownProbes, releaseProbe, renewProbe } from '../postgres/probes.ts';
import { isRefusal } from '../postgres/refusal.ts';
import { currentRules } from '../postgres/rules.ts';
import type { Token } from '../postgres/tokens.ts';
import type { Api, ApiParts } from './app.ts';
import { ownLeases, spokenFor } from './gate.ts';
import { allow } from './identity.ts';
import { HttpProblem, problem } from './problem.ts';
import { text } from './text.ts';

const MOST_OUTCOMES = 1000;
const LONGEST_LEASE_S = 600;
/** A server, a tool and two scopes of it, and what one agent has seen of the last three. */
const MOST_PARTS = 7;
const Key = text(20_000).min(1);
const Json = <T>(schema: z.ZodType<T>) => ({ content: { 'application/json': { schema } } });
/** Described by zod itself, which knows what may be left out but not be undefined. */
const given = <T>(schema: z.ZodType<T>) => {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input' });
  return { body: { ...Json(schema.meta({ ...described })), required: true } };
};
/** The library's own business, which is why it is not spelt out: rules, doubts and grants as its version reads them. */
const GateState = z.record(z.string(), z.unknown()).openapi('GateState');
const ProbeBody = z.strictObject({
  parts: z
    .array(z.strictObject({ key: Key, part: text(20_000) }))
    .min(1)
    .max(MOST_PARTS),
  toolKey: Key,
  scope: text(10_240).exactOptional(),
  session: text(1024).optional(),
  callId: z.uuid(),
  trustVersion: z.int().min(0),
  leaseSeconds: z.int().min(1).max(LONGEST_LEASE_S),
});

/** What the library needs where it speaks HTTP instead of SQL. Judged outcomes come in, never arguments or results. */
export function remoteGateRoutes(app: Api, { pool, ledger }: Pick<ApiParts, 'pool' | 'ledger'>): void {
  const middleware = allow('agent', 'operator');
  const answers = <T>(schema: z.ZodType<T>) => ({ 200: { description: 'so it is', ...Json(schema) } });
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/gate/snapshot',
      summary: 'Everything a gate must know before it may say anything',
      middleware,
      responses: answers(GateState),
    }),
    async (c) => {
      const token = c.get('token');
      const { grants, ...snapshot } = await readSnapshot(pool);
      const own = grants.filter((grant) => concerns(token, grant));
      const agent = token.roles.includes('agent') ? token.name : undefined;
      return c.json({ ...snapshot, grants: own, agent } as never, 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/gate/news',
      summary: 'What has changed of what a gate knows; changes nothing',
      middleware,
      request: given(WireWanted),
      responses: answers(GateState),
    }),
    async (c) => {
      const wanted = c.req.valid('json');
      const news = forToken(c.get('token'), await readNews(pool, wanted));
      const isKnown = news.settings?.version === wanted.settingsAfter;
      const settings = isKnown && news.settings !== undefined ? { ...news.settings, rules: undefined } : news.settings;
      return c.json({ ...news, settings } as never, 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/gate/outcomes',
      summary: 'What became of calls, judged by the gate that made them; answered when it is durable',
      middleware,
      request: given(z.strictObject({ outcomes: z.array(JudgedOutcome).min(1).max(MOST_OUTCOMES) })),
      responses: answers(WirePlaces),
    }),
    async (c) => {
      const token = c.get('token');
      const outcomes = await credited(pool, token, c.req.valid('json').outcomes);
      const { places } = await appendOutcomes(ledger, outcomes, await currentRules(pool)).catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        throw new HttpProblem(422, 'Not recorded', 'The ledger does not take one of these outcomes.');
      });
      return c.json({ places: [...places].map(([key, place]): [string, number] => [key, place]) }, 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/gate/probes',
      summary: 'Lease the probe of a recovering tool; null where somebody else has it',
      middleware,
      request: given(ProbeBody),
      responses: answers(WireProbe),
    }),
    async (c) => {
      const { session: _, ...request } = c.req.valid('json');
      const token = await acquireProbe(pool, { ...request, agent: c.get('token').name });
      return c.json({ token: token ?? null }, 200);
    },
  );
  const params = z.object({ token: z.string().regex(/^\d{1,19}$/) });
  const own = async (probe: string, token: Token) => {
    if ((await ownProbes(pool, [probe], token.name)).length === 0) {
      throw new HttpProblem(404, 'Not found', `There is no lease ${probe} of yours.`);
    }
  };
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/gate/probes/{token}/renew',
      summary: 'Keep a lease',
      middleware,
      request: { params, ...given(z.strictObject({ leaseSeconds: z.int().min(1).max(LONGEST_LEASE_S) })) },
      responses: { ...answers(WireRenewed), 404: problem('there is no such lease') },
    }),
    async (c) => {
      const { token } = c.req.valid('param');
      await own(token, c.get('token'));
      return c.json({ renewed: await renewProbe(pool, token, c.req.valid('json').leaseSeconds) }, 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/gate/probes/{token}/release',
      summary: 'Give a lease back that was not used',
      middleware,
      request: { params },
      responses: { ...answers(z.object({ released: z.literal(true) })), 404: problem('there is no such lease') },
    }),
    async (c) => {
      const { token } = c.req.valid('param');
      await own(token, c.get('token'));
      await releaseProbe(pool, token);
      return c.json({ released: true as const }, 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/gate/definitions',
      summary: 'Say what a tool says it is; what the same agent was granted to another definition ends',
      middleware,
      request: given(
        z.strictObject({
          key: Key,
          definition: text(200).min(1),
          agent: text(1024).optional(),
        }),
      ),
      responses: answers(z.object({ defined: z.literal(true) })),
    }),
    async (c) => {
      const { key, definition, agent: claimed } = c.req.valid('json');
      const { agent } = spokenFor(c.get('token'), claimed);
      await defineTool(pool, { key, definition, agent, by: c.get('token').name });
      return c.json({ defined: true as const }, 200);
    },
  );
}

/** An agent is shown what was granted to it. */
function concerns(token: Token, grant: { readonly agent: string | null }): boolean {
  return !token.roles.includes('agent') || grant.agent === token.name;
}

function forToken(token: Token, news: News): News {
  return {
    ...news,
    grants: news.grants.map(({ toolKey, grants }) => ({
      toolKey,
      grants: grants.filter((one) => concerns(token, one)),
    })),
    allGrants: news.allGrants?.filter((grant) => concerns(token, grant)),
  };
}

/** Whoever judged them, they are kept as ours are: under the name of the token, without secrets, leases only its own. */
async function credited(pool: pg.Pool, token: Token, outcomes: readonly LedgerOutcome[]): Promise<LedgerOutcome[]> {
  const isAgent = token.roles.includes('agent');
  const mine = await ownLeases(pool, token, outcomes);
  return outcomes.map(({ probe, scope, ...outcome }) => {
    const normalised = scope === undefined ? undefined : normaliseScope(scope);
    return {
      ...outcome,
      server: shownName(outcome.server),
      name: shownName(outcome.name),
      ...(isAgent ? { agent: token.name } : {}),
      ...(normalised === undefined ? {} : { scope: normalised }),
      ...(mine(probe) ? { probe } : {}),
      ...(outcome.message === undefined ? {} : { message: redactText(outcome.message, 500) }),
      ...(outcome.context === undefined ? {} : { context: redactText(outcome.context, 1024) }),
      ...(outcome.traceback === undefined ? {} : { traceback: redactText(outcome.traceback, 2048) }),
    };
  });
}
