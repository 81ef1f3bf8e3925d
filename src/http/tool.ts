import { createRoute, z } from '@hono/zod-openapi';
import type pg from 'pg';
import { candidatesFor, pathOf, ruleInWords } from '../domain/rules/explain.ts';
import { serverKey } from '../domain/key/tool-key.ts';
import { dueOf } from '../domain/trust/describe.ts';
import { partName, partView, rulesOf } from '../domain/trust/part-view.ts';
import { WHOLE } from '../domain/trust/parts.ts';
import type { Parts } from '../domain/trust/parts.ts';
import { stricter, TRUSTED } from '../domain/trust/trust.ts';
import { readAudit } from '../postgres/read-audit.ts';
import { readHistory } from '../postgres/read-history.ts';
import { readLately, readOrders } from '../postgres/read-lately.ts';
import { readSubjects } from '../postgres/read-subjects.ts';
import type { KnownSubject } from '../postgres/read-subjects.ts';
import { currentRules } from '../postgres/rules.ts';
import type { Api, ApiParts } from './app.ts';
import { allow } from './identity.ts';
import { HttpProblem, problem } from './problem.ts';
import { text } from './text.ts';
import { Part, time, Time, Tool, toolShown } from './tool-shapes.ts';

const MOST_PARTS = 200;
const MOST_TIMELINE = 100;
const MOST_OUTCOMES = 50;

const ToolPage = Tool.extend({
  firstSeenAt: Time,
  rejected: z.number().int(),
  next: z.object({ at: Time, what: z.string() }).nullable().openapi({ description: 'the next timer' }),
  parts: z.array(Part).openapi({ description: 'the strictest first, at most 200' }),
  partsInDoubt: z.number().int(),
  serverInDoubt: z
    .union([Part, z.null()])
    .openapi({ description: 'the server stands between callers and the tool, too' }),
  rule: z.object({
    version: z.number().int(),
    path: z.string().openapi({ description: 'as surety.json spells it' }),
    words: z.array(z.string()),
    candidates: z.array(z.object({ path: z.string(), won: z.boolean(), because: z.string() })),
  }),
  timeline: z
    .array(
      z.object({ at: Time, what: z.string(), label: z.string().nullable(), actor: z.string(), reason: z.string() }),
    )
    .openapi({ description: 'transitions, orders and decisions, the newest first' }),
  recent: z
    .array(
      z.object({
        id: z.string(),
        at: Time,
        kind: z.enum(['success', 'failure', 'unknown', 'reset', 'block', 'recover']),
        severity: z.string().nullable(),
        scope: z.string().nullable(),
        agent: z.string().nullable(),
        message: z.string(),
      }),
    )
    .openapi({ description: 'outcomes, the newest first' }),
  workflowUrl: z.string().nullable().openapi({ description: 'in Temporal UI, where it is known where that is' }),
}).openapi('ToolPage');
export type ToolPage = z.infer<typeof ToolPage>;

/** One tool: why it is where it is. */
export function toolRoute(app: Api, parts: Pick<ApiParts, 'pool' | 'temporalUi'>): void {
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/tools/{key}',
      summary: 'One tool or server: every part, its rule, what happened, and what comes next',
      middleware: [allow('approver', 'operator')] as const,
      request: { params: z.object({ key: text(300) }) },
      responses: {
        200: { description: 'the tool', content: { 'application/json': { schema: ToolPage } } },
        404: problem('there is no such tool'),
      },
    }),
    async (c) => c.json(await toolPage(parts, await knownTool(parts.pool, c.req.valid('param').key)), 200),
  );
}

export async function knownTool(pool: pg.Pool, key: string): Promise<KnownSubject> {
  const [known] = await readSubjects(pool, { keys: [key] });
  if (known !== undefined) return known;
  throw new HttpProblem(404, 'Not found', `Nothing has been reported of ${JSON.stringify(key)}.`);
}

async function toolPage({ pool, temporalUi }: Pick<ApiParts, 'pool' | 'temporalUi'>, known: KnownSubject) {
  const { kind, server, key, firstSeenAt, rejected } = known;
  const [published, lately, timeline, recent, servers] = await Promise.all([
    currentRules(pool),
    readLately(pool, [known]),
    timelineOf(pool, known),
    readHistory(pool, {
      ...{ subjects: [known.id], ofServers: kind === 'server', failuresOnly: false, limit: MOST_OUTCOMES },
    }),
    kind === 'server' ? [] : readSubjects(pool, { keys: [serverKey(server)] }),
  ]);
  const rules = rulesOf(known, published);
  // The whole is shown even where nothing of it is stored: it is what the parts are parts of.
  const all: Parts = { [WHOLE]: TRUSTED, ...known.parts };
  const strictestFirst = Object.entries(all).toSorted(([a, x], [b, y]) => {
    if (x.status !== y.status) return stricter(x.status, y.status) ? -1 : 1;
    return a < b ? -1 : 1;
  });
  const [ofServer] = servers.filter(({ status }) => status !== 'TRUSTED');
  const due = dueOf(known, known.parts, rules);
  const { candidates, level, pattern, rule } = candidatesFor(published.rules, known, null);
  return {
    ...toolShown(known, published, lately.get(known.id)),
    ...{ firstSeenAt: time(firstSeenAt), rejected },
    next: due === undefined ? null : { at: time(due.at), what: due.what },
    parts: strictestFirst.slice(0, MOST_PARTS).map(([part, state]) => partView(known, rules, part, state)),
    partsInDoubt: strictestFirst.filter(([, state]) => state.status !== 'TRUSTED').length,
    serverInDoubt:
      ofServer === undefined
        ? null
        : partView(ofServer, rulesOf(ofServer, published), WHOLE, ofServer.parts[WHOLE] ?? TRUSTED),
    rule: {
      version: published.version,
      path: pathOf({ level, pattern }),
      words: ruleInWords(rule, kind),
      candidates: candidates.map((one) => ({ path: pathOf(one), won: one.won, because: one.because })),
    },
    timeline,
    recent: recent.map(({ id, at, kind: what, severity, scope, agent, detail }) => ({
      ...{ id, at: time(at), kind: what, severity, agent },
      scope: scope === null ? null : partName(scope),
      message: [detail['message'], detail['reason']].find((text) => typeof text === 'string') ?? '',
    })),
    workflowUrl:
      temporalUi === undefined
        ? null
        : `${temporalUi.url}/namespaces/${encodeURIComponent(temporalUi.namespace)}/workflows/${encodeURIComponent(key)}`,
  };
}

async function timelineOf(pool: pg.Pool, { id }: KnownSubject): Promise<ToolPage['timeline']> {
  const [audit, orders] = await Promise.all([
    readAudit(pool, { subjects: [id], limit: MOST_TIMELINE }),
    readOrders(pool, id, MOST_TIMELINE),
  ]);
  const entries = [
    ...audit.map(({ at, part, actor, action, reason }) => ({ at, what: action, part, actor, reason })),
    ...orders.map(({ at, order, scope, by, reason }) => ({
      ...{ at, what: `${order} ordered`, part: scope, actor: by, reason },
    })),
  ];
  return entries
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MOST_TIMELINE)
    .map(({ part, at, ...entry }) => ({ ...entry, at: time(at), label: part ? partName(part) : null }));
}
