import type { z } from '@hono/zod-openapi';
import { HttpProblem } from './problem.ts';

/** Where a page ended, as text that only we read. */
export function writeCursor(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

export function readCursor<T>(cursor: string, shape: z.ZodType<T>): T {
  const parsed = shape.safeParse(jsonOrNot(Buffer.from(cursor, 'base64url').toString()));
  if (parsed.success) return parsed.data;
  throw notOurs();
}

export function notOurs(): HttpProblem {
  return new HttpProblem(400, 'Not understood', 'That cursor is none that a page has given, or leads to what is gone.');
}

function jsonOrNot(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
