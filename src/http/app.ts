import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { secureHeaders } from 'hono/secure-headers';
import type pg from 'pg';
import { redactText } from '../domain/outcome/redact.ts';
import type { Gate } from '../gate/gate.ts';
import type { Ledger } from '../postgres/append.ts';
import { DecisionRefused } from '../postgres/approval-decide.ts';
import { codeOf, Problem } from '../problem.ts';
import { version } from '../version.ts';
import type { Announcements } from './announcements.ts';
import { approvalRoutes } from './approvals.ts';
import { askingRoutes } from './asking.ts';
import { complaintsOf } from './complaints.ts';
import { CONSOLE_POLICY, consoleFiles, isOfConsole } from './console.ts';
import { described } from './describe.ts';
import { eventRoutes } from './events.ts';
import type { FailedAttempts } from './failed-attempts.ts';
import { gateRoutes } from './gate.ts';
import { grantRoutes } from './grants.ts';
import { healthRoutes } from './health.ts';
import type { Health } from './health.ts';
import { idempotent } from './idempotency.ts';
import { authenticate } from './identity.ts';
import type { Identified } from './identity.ts';
import type { Limits } from './limits.ts';
import { onlyJson } from './only-json.ts';
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
  readonly failedAttempts: FailedAttempts;
  readonly health: Health;
  readonly announcements: Announcements;
  /** Where Temporal UI is, for links to it. */
  readonly temporalUi?: TemporalUi | undefined;
  /** Told of our own mistakes. */
  readonly log?: ((message: string) => void) | undefined;
}

export interface TemporalUi {
  readonly url: string;
  readonly namespace: string;
}

export type Api = OpenAPIHono<Identified>;

/** What a browser may do with what is no page: nothing. */
const NOTHING = { defaultSrc: ["'none'"], frameAncestors: ["'none'"], baseUri: ["'none'"] };

const LARGEST_BODY = 2_000_000;
const TOO_LARGE =
  `A body has at most ${LARGEST_BODY} bytes. Send outcomes in several requests; of arguments that a person could not read ` +
  'anyway, say where they are: a path, or a URL.';

const DOCUMENT = {
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
      const errors = complaintsOf(result.error.issues);
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
        throw new HttpProblem(413, 'Too large', TOO_LARGE);
      },
    }),
  );
  app.onError((error, c) => {
    const problem = problemOf(error);
    if (problem.status === 500) parts.log?.(redactText(`${c.req.method} ${c.req.path}: ${String(error.stack)}`, 2000));
    return respond(c, problem);
  });
  app.notFound((c) => respond(c, notThere(c.req.method, c.req.path, methodsAt(app, c.req.path))));
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' });
  healthRoutes(app, parts);
  app.get('/openapi.json', (c) => c.json(documentOf(app)));
  consoleFiles(app);
  app.use('/v1/session', onlyJson);
  sessionRoutes(app, parts);
  // Where a request comes from is looked at before what it holds: each is a defence of its own.
  app.use('/v1/*', authenticate(parts), onlyJson, idempotent(parts.pool));
  gateRoutes(app, parts);
  remoteGateRoutes(app, parts);
  askingRoutes(app, parts);
  approvalRoutes(app, parts);
  grantRoutes(app, parts);
  eventRoutes(app, parts);
  toolsRoute(app, parts);
  toolRoute(app, parts);
  orderRoutes(app, parts);
  rulesRoutes(app, parts);
  return app;
}

export function documentOf(app: Api) {
  return described(app.getOpenAPI31Document(DOCUMENT));
}

function problemOf(error: Error): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof HTTPException && error.status < 500) {
    return new HttpProblem(error.status, 'Not understood', `${error.message}.`);
  }
  if (error instanceof DecisionRefused)
    return new HttpProblem(400, 'Not understood', `${error.message} ${error.wayOut}`);
  if (error instanceof Problem) return new HttpProblem(409, 'Not possible', `${error.message} ${error.wayOut}`);
  // What happened inside is nobody's business outside.
  return isOurFault(error)
    ? new HttpProblem(500, 'Our fault', 'The request could not be served, and trying again will not help.')
    : new HttpProblem(503, 'Not available', 'The request could not be served; it may be tried again.', {
        retryAfter: 1,
      });
}

/** What a program without mistakes does not throw, and what Postgres says to statements that have some. */
function isOurFault(error: Error): boolean {
  return (
    [TypeError, RangeError, ReferenceError].some((kind) => error instanceof kind) ||
    /^(?:22|23|42)/.test(String(codeOf(error)))
  );
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function methodsAt(app: Api, path: string): readonly string[] {
  return METHODS.filter((method) => {
    const [found] = app.router.match(method, path);
    return found.some(([[, route]]) => route.method === method);
  });
}

function notThere(method: string, path: string, others: readonly string[]): HttpProblem {
  if (others.length === 0) return new HttpProblem(404, 'Not found', `There is no ${path}.`);
  const detail = `There is no ${method} ${path}; there is ${others.join(', ')}.`;
  return new HttpProblem(405, 'Method not allowed', detail, { allow: others });
}
