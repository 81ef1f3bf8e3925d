import * as z from 'zod';
import { Id } from './id.schema.ts';
import { CATEGORIES, SEVERITIES } from './outcome.ts';
import type { LedgerOutcome } from './ledger-outcome.ts';

const Name = z.string().min(1).max(10_240);
const Moment = z.number().min(0).max(8.64e15);
const Text = z.string().max(20_000);

/** An outcome as a gate elsewhere has judged it: no arguments, no result, nothing that was not redacted there. */
export const JudgedOutcome: z.ZodType<LedgerOutcome> = z.strictObject({
  kind: z.enum(['success', 'failure', 'unknown']),
  server: Name,
  name: Name,
  callId: Id,
  at: Moment,
  startedAt: Moment.exactOptional(),
  scope: z.string().max(10_240).exactOptional(),
  agent: Id.exactOptional(),
  session: Id.exactOptional(),
  turn: z.int().min(0).exactOptional(),
  trustVersion: z.int().min(0).exactOptional(),
  probe: Id.exactOptional(),
  severity: z.enum(SEVERITIES).exactOptional(),
  category: z.enum(CATEGORIES).exactOptional(),
  evidence: z.enum(['structured', 'text']).exactOptional(),
  recoverable: z.boolean().exactOptional(),
  errorType: Text.exactOptional(),
  message: Text.exactOptional(),
  httpStatus: z.number().exactOptional(),
  exitCode: z.number().exactOptional(),
  retryCount: z.int().min(0).exactOptional(),
  wasTransient: z.boolean().exactOptional(),
  argumentSummary: z.record(z.string().max(1024), Text).exactOptional(),
  argumentsDigest: z.string().max(200).exactOptional(),
  traceback: Text.exactOptional(),
  context: Text.exactOptional(),
  grant: Id.exactOptional(),
});
