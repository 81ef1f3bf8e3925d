import { z } from 'zod';
import { Report } from '../outcome/report.schema.ts';

const Seconds = z.number().min(0).max(8.64e12);

/** A tool by name or pattern, `true` for all, or the tool and arguments of a call, which name a scope. */
const Target = z.union([
  z.literal(true),
  z.string().min(1),
  z.strictObject({
    tool: z.string().min(1),
    server: z.string().optional(),
    args: z.unknown().optional(),
    scope: z.string().optional(),
  }),
]);
export type Target = z.infer<typeof Target>;

const given = { reason: z.string().optional(), by: z.string().optional() };
const beside = { tool: z.string().optional(), server: z.string().optional(), args: z.unknown().optional() };

export const OrderEvent = z.union([
  z.strictObject({ at: Seconds, reset: Target, ...given, ...beside }),
  z.strictObject({ at: Seconds, recover: Target, ...given, ...beside }),
  z.strictObject({ at: Seconds, block: Target, ...given, ...beside }),
]);
export type OrderEvent = z.infer<typeof OrderEvent>;

/** One line of an events file. Times are seconds, on whatever clock the file uses. */
export const SimulatedEvent = z.union([
  z.strictObject({ at: Seconds, idle: z.literal(true) }),
  z.strictObject({ at: Seconds, restart: z.literal(true) }),
  OrderEvent,
  Report.omit({ at: true, startedAt: true }).extend({
    at: Seconds,
    startedAt: Seconds.optional(),
    receivedAt: Seconds.optional(),
  }),
]);
export type SimulatedEvent = z.infer<typeof SimulatedEvent>;
