import { createRoute, z } from '@hono/zod-openapi';
import { TooManyQuestions } from '../domain/approval/too-many-questions.ts';
import { CallDenied, NotShowable, TOO_MANY_QUESTIONS } from '../gate/errors.ts';
import { useOf } from '../gate/use-grant.ts';
import { WireConsumed } from '../gate/wire.schema.ts';
import { scopesOf } from '../domain/key/scope.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { consumeGrant, readGrant } from '../postgres/grants.ts';
import { outcomeId } from '../postgres/outcome-id.ts';
import { readOne } from '../postgres/read-approvals.ts';
import type { Token } from '../postgres/tokens.ts';
import type { Api, ApiParts } from './app.ts';
import { exactNumbers } from './exact-numbers.ts';
import { Call, present, spokenFor } from './gate.ts';
import { allow } from './identity.ts';
import { HttpProblem, problem } from './problem.ts';
import { Approval, approvalShown } from './shapes.ts';
import { text } from './text.ts';

const SOON = { retryAfter: 1 };
/** People take their time. */
const LATER = { retryAfter: 60, type: TOO_MANY_QUESTIONS };
const CallId = text(1024).min(1);
const Digest = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .openapi({
    description:
      'of the arguments that were asked about, as the question has it, where they themselves are not sent; of no others',
  });
// Not extended: the description would have both, and neither takes what only the other knows.
const AskBody = z.strictObject({
  ...Call.shape,
  callId: CallId.optional().openapi({ description: 'asking again with the same one finds the same question' }),
  because: text(1000)
    .optional()
    .openapi({ description: 'why, where nothing is held against the call; shown as what the agent says' }),
  seen: z
    .strictObject({ isSecurity: z.boolean(), state: z.enum(['RECOVERING', 'ESCALATED', 'BLOCKED']).nullable() })
    .optional()
    .openapi({ description: 'what is held as far as the agent knows; can only add to what is known here' }),
});

const { args, scope, session, definition } = Call.shape;
const ConsumeBody = z.strictObject({
  ...{ args, scope, session, definition },
  callId: CallId,
  digest: Digest.optional(),
});

/** What an agent does about a call that is held: have a person asked, then run it under what was granted. */
export function askingRoutes(app: Api, { pool, gate }: Pick<ApiParts, 'pool' | 'gate'>): void {
  const ask = async ({ args, because, ...call }: z.infer<typeof AskBody>, token: Token): Promise<string> => {
    const claim = because === undefined ? {} : { because: redactText(because, 500) };
    const question = { ...present(call), args, ...claim, owner: token.owner, ...spokenFor(token, call.agent) };
    const asked = await gate.ask(question).catch((error: unknown) => {
      if (error instanceof CallDenied) throw new HttpProblem(409, 'Denied', error.message);
      if (error instanceof TooManyQuestions)
        throw new HttpProblem(429, 'Too many questions', `${error.message}.`, LATER);
      if (error instanceof NotShowable) throw new HttpProblem(400, 'Not understood', error.message);
      throw error;
    });
    if (asked === undefined) throw new HttpProblem(409, 'Nothing to ask', 'The call may be made as it is.');
    return asked.id;
  };
  // Also for what a person puts in place of arguments.
  app.use('/v1/approvals/*', exactNumbers);
  app.use('/v1/grants/*', exactNumbers);
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/approvals',
      summary: 'Ask a person about a call, or find the question that was asked before',
      description: 'Why the call is held, who is asked and for how long is decided here, whatever the agent says.',
      middleware: [allow('agent')] as const,
      request: { body: { content: { 'application/json': { schema: AskBody } }, required: true } },
      responses: {
        200: { description: 'the question', content: { 'application/json': { schema: Approval } } },
        409: problem('nobody needs to be asked, or nobody could allow it'),
        429: problem('too many requests, or the agent has as many open questions as it may'),
      },
    }),
    async (c) => {
      const id = c.get('askedBefore') ?? (await ask(c.req.valid('json'), c.get('token')));
      const shown = await readOne(pool, id);
      if (shown === undefined) throw new Error('the question is gone');
      return c.json(approvalShown(shown), 200);
    },
  );
  app.openapi(
    createRoute({
      method: 'post',
      path: '/v1/grants/{id}/consume',
      summary: 'Run a call under a grant; of many that race for one that is for one call, one may',
      middleware: [allow('agent')] as const,
      request: {
        params: z.object({ id: z.uuid() }),
        body: {
          content: {
            'application/json': {
              schema: ConsumeBody,
            },
          },
          required: true,
        },
      },
      responses: {
        200: {
          description: 'run it, with these arguments if there are any',
          content: { 'application/json': { schema: WireConsumed } },
        },
        409: problem('another call was faster, it was revoked, it is not yours, or it is not about what is held now'),
        503: problem('not now'),
      },
    }),
    async (c) => {
      const { callId, ...call } = c.req.valid('json');
      const { id } = c.req.valid('param');
      const token = c.get('token');
      const notYours = (because = '') =>
        new HttpProblem(409, 'Not yours', `The grant ${id} does not answer this call${because}.`);
      const found = await readGrant(pool, id);
      if (found === undefined) throw notYours();
      // An admin's call was asked about in whose name it was made.
      const { agent } = spokenFor(token, found.grant.agent ?? undefined);
      if (found.grant.agent !== (agent ?? null)) throw notYours();
      // Whoever has lost touch does not know what is held now.
      if (gate.situation !== 'fresh') throw new HttpProblem(503, 'Not now', 'What is held is not known.', SOON);
      const { grant, server, name } = found;
      const tool = gate.tool(server, name);
      const use = useOf(tool, grant, { ...call, agent }, Date.now());
      if ('refused' in use) throw notYours(`: ${use.refused}`);
      const using = { callId: outcomeId(callId, server, name, agent), digest: use.digest, ...present({ agent }) };
      const consumed = await consumeGrant(pool, id, using);
      if (consumed === undefined) throw notYours();
      // What a person put in may be for a scope that is blocked; the same call may come back when it no longer is.
      const scopes = consumed.edited === null ? undefined : scopesOf(name, consumed.edited.args, call.scope);
      const edit = scopes === undefined ? undefined : tool.withoutGrants(agent, scopes);
      if (edit?.decision === 'deny') throw new HttpProblem(403, 'Denied', edit.because);
      return c.json(consumed, 200);
    },
  );
}
