import * as z from 'zod';
import { ReportFields, withoutAbsent } from '../outcome/report.schema.ts';

const Seconds = z.number().min(0).max(8.64e12);

const named = {
  tool: z.string().min(1).optional(),
  server: z.string().min(1).optional(),
  args: z.unknown().optional(),
  scope: z.string().optional(),
};

/** What an order is about: a tool by name or pattern, a server, the scope that arguments name; all where nothing is said. */
const Named = z.strictObject(named);
export type Named = z.infer<typeof Named>;
const Target = z.union([z.literal(true), z.string().min(1), Named]);
export type OrderTarget = z.infer<typeof Target>;

const given = { reason: z.string().optional(), by: z.string().optional() };

export const OrderEvent = z.union([
  z.strictObject({ at: Seconds, reset: Target, ...given, ...named }),
  z.strictObject({ at: Seconds, recover: Target, ...given, ...named }),
  z.strictObject({ at: Seconds, block: Target, ...given, ...named }),
]);
export type OrderEvent = z.infer<typeof OrderEvent>;

/** One line of an events file. Times are seconds, on whatever clock the file uses. */
export const SimulatedEvent = z.union([
  z.strictObject({ at: Seconds, idle: z.literal(true) }),
  z.strictObject({ at: Seconds, restart: z.literal(true) }),
  OrderEvent,
  z.preprocess(
    withoutAbsent,
    ReportFields.omit({ at: true, startedAt: true }).extend({
      at: Seconds,
      startedAt: Seconds.optional(),
      receivedAt: Seconds.optional(),
    }),
  ),
]);
export type SimulatedEvent = z.infer<typeof SimulatedEvent>;
