import type { Context, MiddlewareHandler } from 'hono';
import { HttpProblem } from './problem.ts';

// No more than what the router parses: a body that it does not read would be a request that says nothing.
const JSON_TYPE = /^application\/json(?:;\s*[a-z0-9-]+=[^;]+)*$/i;

export function isJson(c: Context): boolean {
  return JSON_TYPE.test(c.req.header('content-type') ?? '');
}

export function notJson(): HttpProblem {
  return new HttpProblem(415, 'Not understood', 'Send application/json.');
}

/** What is no JSON, or does not say that it is, is not read. */
export const onlyJson: MiddlewareHandler = async (c, next) => {
  if (c.req.method !== 'GET' && saysSomething(c) && !isJson(c)) throw notJson();
  await next();
};

function saysSomething(c: Context): boolean {
  const has = (name: string) => c.req.header(name) !== undefined;
  return has('content-type') || has('transfer-encoding') || (c.req.header('content-length') ?? '0') !== '0';
}
