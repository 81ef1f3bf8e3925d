import { z } from 'zod';
import { SEVERITIES } from './outcome.ts';

const Name = z.string().min(1).max(10_240);
const Id = z
  .string()
  .max(1024)
  .regex(/^[^\p{Cc}\p{Surrogate}]+$/u, 'must be text without control characters');
const Time = z.union([z.number().min(0).max(8.64e15), z.date()]);

/**
 * What a caller says about one call that ended. Unknown keys are refused: a misspelt `sucess` must not become a success.
 * What the tool itself gave (`args`, `result`, `error`, `context`) is taken as it comes.
 */
export const Report = z.strictObject({
  tool: Name,
  server: Name.optional(),
  callId: Id.optional(),
  args: z.unknown().optional(),
  scope: z.string().max(10_240).optional(),
  agent: Id.optional(),
  session: Id.optional(),
  turn: z.int().min(0).optional(),
  /** When the call ended, in epoch milliseconds. */
  at: Time.optional(),
  startedAt: Time.optional(),
  success: z.boolean().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
  /** Sent, and never answered. */
  outcome: z.literal('unknown').optional(),
  /** Overrides the classification. */
  severity: z.enum(SEVERITIES).optional(),
  errorType: z.string().max(10_240).optional(),
  traceback: z.string().optional(),
  context: z.unknown().optional(),
  /** False for a failure that no waiting cures. */
  recoverable: z.boolean().optional(),
  httpStatus: z.int().min(0).max(999).optional(),
  retryCount: z.int().min(0).optional(),
  wasTransient: z.boolean().optional(),
  /** The version of trust under which the call was admitted. */
  trustVersion: z.int().min(0).optional(),
  /** The token of the probe lease the call ran under. */
  probe: Id.optional(),
});
export type Report = z.infer<typeof Report>;
