import { createRoute, z } from '@hono/zod-openapi';
import { readGrant } from '../domain/approval/message.ts';
import type { Verb } from '../domain/approval/message.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { decide, untilTold } from '../postgres/approval-decide.ts';
import { readAsked } from '../postgres/approval-ask.ts';
import { countPending, readDecided, readPending, readOne } from '../postgres/read-approvals.ts';
import type { Asker, ShownApproval } from '../postgres/read-approvals.ts';
import { spellingsOfOwner } from '../postgres/tokens.ts';
import type { Token } from '../postgres/tokens.ts';
import { untilAnnounced } from './announcements.ts';
import type { Api, ApiParts } from './app.ts';
import { allow, decides } from './identity.ts';
import { notOurs } from './cursor.ts';
import { HttpProblem, problem } from './problem.ts';
import { searchApprovals } from './search-approvals.ts';
import { Approval, approvalShown } from './shapes.ts';
import { text } from './text.ts';

const Id = z.uuid();
const Reason = text(1000).default('');
const ExpectedVersion = z.number().int().min(0).max(2_147_483_647).optional();
const Decided = z.object({ decision: Id, outcome: z.enum(['taken', 'recorded']) }).openapi('Decided');

const ApprovalsPage = z.object({
  approvals: z.array(Approval),
  cursor: Id.nullable(),
  pending: z.number().int().openapi({ description: 'how many are open in all, of those the token may see' }),
});
export type ApprovalsPage = z.infer<typeof ApprovalsPage>;

const TOLD_WITHIN_MS = 10_000;
const LONGEST_WAIT_S = 60;

/** What people do: see what waits, and decide. */
export function approvalRoutes(app: Api, { pool, announcements }: Pick<ApiParts, 'pool' | 'announcements'>): void {
  /** An agent sees its own questions, whatever other roles it has; that there are others is nothing it needs to know. */
  const onlyOf = async (token: Token): Promise<Asker | undefined> =>
    token.roles.includes('agent') ? { agent: token.name, owners: await spellingsOfOwner(pool, token) } : undefined;
  const visible = async (id: string, token: Token): Promise<ShownApproval> => {
    const found = await readOne(pool, id, await onlyOf(token));
    if (found !== undefined) return found;
    throw new HttpProblem(404, 'Not found', `There is no question ${id}.`);
  };
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/approvals',
      summary: 'Questions to people, open ones the oldest first, decided ones the newest first',
      description: "A token with the role agent sees that agent's own, whatever other roles it has.",
      middleware: [allow('approver', 'operator')] as const,
      request: {
        query: z.object({
          status: z.enum(['pending', 'decided']).default('pending'),
          limit: z.coerce.number().int().min(1).max(200).default(50),
          cursor: Id.optional(),
          search: text(200)
            .min(1)
            .optional()
            .openapi({ description: 'part of a tool, an agent, a scope, or of arguments as a list shows them' }),
        }),
      },
      responses: {
        200: {
          description: 'a page; `cursor` leads to the next',
          content: {
            'application/json': { schema: ApprovalsPage },
          },
        },
      },
    }),
    async (c) => {
      const { status, limit, cursor, search } = c.req.valid('query');
      // Where a decision stands in the list is known by its time, and that of one that is gone is not.
      if (status === 'decided' && cursor !== undefined && (await readAsked(pool, [cursor])).length === 0)
        throw notOurs();
      const readFrom = status === 'pending' ? readPending : readDecided;
      const only = await onlyOf(c.get('token'));
      const read = (most: number, after?: string) => readFrom(pool, most, after, only);
      const page = async () => {
        if (search !== undefined) return searchApprovals(read, search, limit, cursor);
        const found = await read(limit, cursor);
        return { found, cursor: found.length < limit ? null : (found.at(-1)?.id ?? null) };
      };
      const [{ found, cursor: next }, pending] = await Promise.all([page(), countPending(pool, only)]);
      return c.json({ approvals: found.map(approvalShown), cursor: next, pending }, 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'get',
      path: '/v1/approvals/{id}',
      summary: 'One question; with `wait` answered when it is over, or so many seconds later',
      middleware: [allow('agent', 'approver', 'operator')] as const,
      request: {
        params: z.object({ id: Id }),
        query: z.object({ wait: z.coerce.number().min(0).max(LONGEST_WAIT_S).default(0) }),
      },
      responses: {
        200: { description: 'the question', content: { 'application/json': { schema: Approval } } },
        404: problem('there is no such question'),
      },
    }),
    async (c) => {
      const { id } = c.req.valid('param');
      // First of all: whoever may not see it is told so at once, and learns nothing from how long it takes.
      await visible(id, c.get('token'));
      const isOver = async () => (await readAsked(pool, [id]))[0]?.status !== 'pending';
      await untilAnnounced(announcements, `approval:${id}`, isOver, c.req.valid('query').wait * 1000, c.req.raw.signal);
      return c.json(approvalShown(await visible(id, c.get('token'))), 200);
    },
  );
  const say = async (verb: Verb, id: string, by: Token, body: Said) => {
    await visible(id, by);
    if (body.automatic === true && !by.roles.includes('agent')) {
      throw new HttpProblem(
        403,
        'Not allowed',
        "Only an agent's gate takes a question back by itself: leave out automatic.",
      );
    }
    const grant = body.grant === undefined ? undefined : readGrant(body.grant, Date.now());
    if (typeof grant === 'string') throw new HttpProblem(400, 'Not understood', grant);
    const decision = await decide(pool, {
      ...{ approval: id, verb, token: by.id, reason: redactText(body.reason, 500) },
      by: body.automatic === true ? `surety for ${by.name}` : by.name,
      ...(body.expectedVersion === undefined ? {} : { expectedVersion: body.expectedVersion }),
      ...(grant === undefined ? {} : { grant }),
      ...(body.seconds === undefined ? {} : { extendSeconds: body.seconds }),
      ...(body.edit === undefined ? {} : { edit: body.edit }),
    });
    const told = await untilTold(pool, decision, TOLD_WITHIN_MS);
    if (told?.outcome === 'refused') throw new HttpProblem(409, 'Refused', told.because);
    // Otherwise it is written down; the worker will see it when it runs.
    return { decision, outcome: told?.outcome ?? ('recorded' as const) };
  };
  const answers = {
    200: { description: 'taken', content: { 'application/json': { schema: Decided } } },
    404: problem('there is no such question'),
    409: problem('refused, with what changed or who was first'),
  };
  const route = (verb: Verb, summary: string, body: z.ZodType<Said>) => {
    app.openapi(
      createRoute({
        method: 'post',
        path: `/v1/approvals/{id}/${verb}`,
        summary,
        middleware:
          verb === 'withdraw' ? ([allow('agent', 'approver')] as const) : ([decides, allow('approver')] as const),
        request: {
          params: z.object({ id: Id }),
          body: { content: { 'application/json': { schema: body } }, required: true },
        },
        responses: answers,
      }),
      async (c) => c.json(await say(verb, c.req.valid('param').id, c.get('token'), c.req.valid('json')), 200),
    );
  };
  const base = { reason: Reason, expectedVersion: ExpectedVersion };
  route(
    'approve',
    'Let the call run',
    z.strictObject({ ...base, grant: GrantBody, edit: z.unknown().optional() }) as never,
  );
  route('deny', 'Refuse the call', z.strictObject(base) as never);
  route(
    'extend',
    'Keep the question open for longer',
    z.strictObject({ ...base, seconds: z.number().int().min(1).max(31_536_000) }) as never,
  );
  const Automatic = z.boolean().optional().openapi({ description: 'nobody needs the answer any more' });
  route('withdraw', 'Take the question back', z.strictObject({ ...base, automatic: Automatic }) as never);
}

interface Said {
  readonly reason: string;
  readonly expectedVersion?: number;
  readonly grant?: unknown;
  readonly edit?: unknown;
  readonly seconds?: number;
  readonly automatic?: boolean;
}

const GrantBody = z
  .union([
    z.enum(['once', 'session', 'always']),
    z.strictObject({
      kind: z.enum(['once', 'session', 'until', 'always']),
      until: z.iso.datetime({ offset: true }).optional(),
      seconds: z.number().positive().optional(),
      covers: z.enum(['arguments', 'scope', 'tool']).optional(),
      pattern: z.record(text(1024), text(10_240)).optional().openapi({
        description:
          'by argument a glob: * stands for anything, ? for one character, and both for themselves after a backslash, as does a backslash',
      }),
    }),
  ])
  .default('once')
  .openapi('GrantTerms');
