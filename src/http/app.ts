import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { secureHeaders } from 'hono/secure-headers';
import type pg from 'pg';
import type { Gate } from '../gate/gate.ts';
import type { Ledger } from '../postgres/append.ts';
import { Problem } from '../problem.ts';
import { version } from '../version.ts';
import type { Announcements } from './announcements.ts';
import { approvalRoutes } from './approvals.ts';
import { askingRoutes } from './asking.ts';
import { CONSOLE_POLICY, consoleFiles, isOfConsole } from './console.ts';
import { eventRoutes } from './events.ts';
import { gateRoutes } from './gate.ts';
import { healthRoutes } from './health.ts';
import type { Health } from './health.ts';
import { idempotent } from './idempotency.ts';
import { authenticate } from './identity.ts';
import type { Identified } from './identity.ts';
import type { Limits } from './limits.ts';
import { orderRoutes } from './orders.ts';
import { HttpProblem, respond } from './problem.ts';
import { remoteGateRoutes } from './remote-gate.ts';
import { rulesRoutes } from './rules.ts';
import { sessionRoutes } from './session.ts';
import { toolRoute } from './tool.ts';
import { toolsRoute } from './tools.ts';

export interface ApiParts {
  readonly pool: pg.Pool;
  readonly ledger: Ledger;
  readonly gate: Gate;
  readonly limits: Limits;
  readonly health: Health;
  readonly announcements: Announcements;
  /** Where Temporal UI is, for links to it. */
  readonly temporalUi?: TemporalUi | undefined;
}

export interface TemporalUi {
  readonly url: string;
  readonly namespace: string;
}

export type Api = OpenAPIHono<Identified>;

/** What a browser may do with what is no page: nothing. */
const NOTHING = { defaultSrc: ["'none'"], frameAncestors: ["'none'"], baseUri: ["'none'"] };

const LARGEST_BODY = 2_000_000;

export const DOCUMENT = {
  openapi: '3.1.0',
  info: {
    title: 'Surety',
    version: version(),
    description: 'May this tool be trusted right now? Ask before a call, report after it, decide about what is held.',
  },
  security: [{ token: [] }],
};

/** The whole API. A GET changes nothing; whoever writes is known by a token and recorded. */
export function createApi(parts: ApiParts): Api {
  const app: Api = new OpenAPIHono<Identified>({
    defaultHook: (result) => {
      if (result.success) return;
      const errors = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
      throw new HttpProblem(400, 'Not understood', 'The request is not what the API expects; see errors.', { errors });
    },
  });
  const [forData, forPage] = [NOTHING, CONSOLE_POLICY].map((contentSecurityPolicy) =>
    secureHeaders({ contentSecurityPolicy, xFrameOptions: 'DENY', referrerPolicy: 'no-referrer' }),
  ) as [MiddlewareHandler, MiddlewareHandler];
  app.use((c, next) => (isOfConsole(c.req.path) ? forPage : forData)(c, next));
  app.use(
    bodyLimit({
      maxSize: LARGEST_BODY,
      onError: () => {
        throw new HttpProblem(413, 'Too large', `A body has at most ${LARGEST_BODY} bytes.`);
      },
    }),
  );
  app.onError((error, c) => respond(c, problemOf(error)));
  app.notFound((c) => respond(c, new HttpProblem(404, 'Not found', `There is no ${c.req.method} ${c.req.path}.`)));
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' });
  healthRoutes(app, parts);
  app.doc31('/openapi.json', DOCUMENT);
  consoleFiles(app);
  sessionRoutes(app, parts);
  app.use('/v1/*', authenticate(parts.pool, parts.limits), idempotent(parts.pool));
  gateRoutes(app, parts);
  remoteGateRoutes(app, parts);
  askingRoutes(app, parts);
  approvalRoutes(app, parts);
  eventRoutes(app, parts);
  toolsRoute(app, parts);
  toolRoute(app, parts);
  orderRoutes(app, parts);
  rulesRoutes(app, parts);
  return app;
}

function problemOf(error: Error): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof Problem) return new HttpProblem(409, 'Not possible', `${error.message} ${error.wayOut}`);
  if (error instanceof SyntaxError || error.message.includes('Malformed JSON')) {
    return new HttpProblem(400, 'Not understood', 'The body is not JSON.');
  }
  // What happened inside is nobody's business outside.
  return new HttpProblem(503, 'Not available', 'The request could not be served; it may be tried again.', {
    retryAfter: 1,
  });
}
