import type * as z from 'zod';
import { SimulatedEvent } from '../domain/simulate/events.schema.ts';
import { Problem, reasonOf } from '../problem.ts';

/** Reads one line of an events file; what is wrong with it is told by line and field. */
export function eventIn(text: string, file: string, line: number): SimulatedEvent {
  const place = file === '-' ? `line ${line}` : `${file}, line ${line}`;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Problem(`${place} is not JSON: ${reasonOf(error)}`, 'One JSON object per line.');
  }
  const parsed = SimulatedEvent.safeParse(json);
  if (parsed.success) return parsed.data;
  const complaints = parsed.error.issues.flatMap((issue) => complaintsOf(issue, json));
  throw new Problem(
    `${place}: ${[...new Set(complaints)].join('; ')}`,
    'surety simulate --help shows what a line may be. Lines before this one were simulated.',
  );
}

/** A union complains for each of its shapes; what is worth reading is about the shape that was meant. */
function complaintsOf(issue: z.core.$ZodIssue, json: unknown): string[] {
  if (issue.code === 'invalid_union') {
    const shapes = issue.errors;
    const meant = issue.path.length === 0 ? shapes[shapeMeant(json, shapes.length)] : shapes.at(-1);
    if (meant !== undefined) {
      return meant.flatMap((inner) => complaintsOf({ ...inner, path: [...issue.path, ...inner.path] }, json));
    }
  }
  const value = issue.path.reduce<unknown>((held, key) => (isRecord(held) ? held[String(key)] : undefined), json);
  const got = value === undefined || isRecord(value) ? '' : `, got ${JSON.stringify(value).slice(0, 80)}`;
  return [`${issue.path.map(String).join('.') || 'event'}: ${issue.message}${got}`];
}

const ORDERS = ['reset', 'recover', 'block'];

/** The position of the shape in SimulatedEvent, or in the union of orders, that a line's keys speak of. */
function shapeMeant(json: unknown, shapes: number): number {
  if (!isRecord(json)) return shapes - 1;
  const order = ORDERS.findIndex((name) => name in json);
  if (shapes === ORDERS.length) return Math.max(0, order);
  if ('idle' in json) return 0;
  if ('restart' in json) return 1;
  return order === -1 ? 3 : 2;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
