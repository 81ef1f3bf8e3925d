import { createRoute, z } from '@hono/zod-openapi';
import { CallDenied } from '../gate/errors.ts';
import { WireConsumed } from '../gate/wire.schema.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { consumeGrant } from '../postgres/grants.ts';
import { outcomeId } from '../postgres/outcome-id.ts';
import { readOne } from '../postgres/read-approvals.ts';
import type { Api, ApiParts } from './app.ts';
import { Call, present, spokenFor } from './gate.ts';
import { allow } from './identity.ts';
import { HttpProblem, problem, refusals } from './problem.ts';
import { Approval, approvalShown } from './shapes.ts';

const CallId = z.string().min(1).max(1024);
const AskBody = Call.extend({
  callId: CallId.optional().openapi({ description: 'asking again with the same one finds the same question' }),
  because: z.string().max(1000).optional().openapi({ description: 'why, where nothing is held against the call' }),
  definition: z.string().max(200).optional(),
});

/** What an agent does about a call that is held: have a person asked, then run it under what was granted. */
export function askingRoutes(app: Api, { pool, gate }: Pick<ApiParts, 'pool' | 'gate'>): void {
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
        ...refusals,
        409: problem('nobody needs to be asked, or nobody could allow it'),
      },
    }),
    async (c) => {
      const { args, because, ...call } = c.req.valid('json');
      const claim = because === undefined ? {} : { because: redactText(because, 500) };
      const token = c.get('token');
      const question = { ...present(call), args, ...claim, owner: token.owner, ...spokenFor(token, call.agent) };
      const asked = await gate.ask(question).catch((error: unknown) => {
        if (error instanceof CallDenied) throw new HttpProblem(409, 'Denied', error.message);
        throw error;
      });
      if (asked === undefined) throw new HttpProblem(409, 'Nothing to ask', 'The call may be made as it is.');
      const shown = await readOne(pool, asked.id);
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
              schema: z.object({ callId: CallId, tool: Call.shape.tool.optional(), server: Call.shape.server }),
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
        ...refusals,
        409: problem('another call was faster, it was revoked, or it is not yours'),
      },
    }),
    async (c) => {
      const { callId, tool = '', server = 'local' } = c.req.valid('json');
      const { id } = c.req.valid('param');
      const consumed = await consumeGrant(pool, id, outcomeId(callId, server, tool), c.get('token').name);
      if (consumed === undefined) throw new HttpProblem(409, 'Not yours', `The grant ${id} does not answer this call.`);
      return c.json(consumed, 200);
    },
  );
}
