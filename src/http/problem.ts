import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from '@hono/zod-openapi';

/** RFC 9457. What went wrong, and the way out; never a stack. */
const ProblemBody = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().optional(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .openapi('Problem');

/** How a route describes that it may answer so. */
export const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: ProblemBody } },
});

export class HttpProblem extends Error {
  readonly status: ContentfulStatusCode;
  readonly title: string;
  readonly more: {
    readonly errors?: readonly { path: string; message: string }[];
    readonly retryAfter?: number;
    /** A URI by which a program tells it from others of its status. */
    readonly type?: string;
    /** The methods that there are. */
    readonly allow?: readonly string[];
  };

  constructor(status: ContentfulStatusCode, title: string, detail: string, more: HttpProblem['more'] = {}) {
    super(detail);
    this.status = status;
    this.title = title;
    this.more = more;
  }
}

export function respond(c: Context, problem: HttpProblem): Response {
  const { status, title, message: detail, more } = problem;
  const body = {
    type: more.type ?? 'about:blank',
    title,
    status,
    detail,
    ...(more.errors === undefined ? {} : { errors: more.errors }),
  };
  const headers = {
    // The rest of what is too large is not read, so nothing else can follow on this connection.
    ...(status === 413 ? { connection: 'close' } : {}),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    'content-type': 'application/problem+json',
    ...(more.retryAfter === undefined ? {} : { 'retry-after': String(more.retryAfter) }),
    ...(more.allow === undefined ? {} : { allow: more.allow.join(', ') }),
  };
  return c.body(JSON.stringify(body), status, headers);
}
