import type { MiddlewareHandler } from 'hono';
import { inexactNumber } from '../domain/outcome/exact-number.ts';
import { HttpProblem } from './problem.ts';

/** A person decides about what is sent: a number that would be read as another one is refused. */
export const exactNumbers: MiddlewareHandler = async (c, next) => {
  const found = c.req.method === 'GET' ? undefined : inexactNumber(await c.req.text());
  if (found !== undefined) {
    const shown = found.length > 60 ? `${found.slice(0, 60)}…` : found;
    const detail = `${shown} cannot be kept exactly as a number: send it as a string.`;
    throw new HttpProblem(400, 'Not understood', detail);
  }
  await next();
};
