import * as z from 'zod';

const text = z.string().max(100_000);
const category = z.string().min(1).max(100);
const Json = z.json();

/** What every line says, whatever became of the call. The names are those of the file. */
const call = {
  ts: z.iso.datetime({ precision: 3 }).describe('When the call ended.'),
  tool: text.min(1),
  server: text.optional(),
  call_id: text.optional(),
  agent: text.optional(),
  session: text.optional(),
  caller_id: text.optional().describe('The sub-agent that called; absent for the agent itself.'),
  command: text.optional(),
  arguments: Json.optional().describe('What ran, or would have.'),
  edited_from: Json.optional().describe('What was asked for, where a person has changed the arguments.'),
  output: text.optional().describe('Beginning and end of what the tool answered.'),
  duration_ms: z.number().min(0),
  trust: text.optional(),
  approved_by: text
    .nullable()
    .optional()
    .describe(
      'Who said yes; of what ran unasked `auto`, or `probe` where a recovering tool was tried. Null where it was refused and nobody had said yes.',
    ),
  phase: text.optional().describe('Where in its work the agent was: planner, executor, verifier, autonomous.'),
  adversarial_policy_decision: text.optional(),
  claim_source: text.optional(),
  rollback: z.strictObject({ restored: z.int().min(0), ok: z.boolean(), because: text.optional() }).optional(),
  truncated: z.boolean().describe('Whether output was cut before the agent saw it.'),
};

const failure = {
  error_category: category,
  error_phase: category.describe('The stage that ended the call.'),
  because: text,
};

/** Null where there was no process. */
const exitCode = z.int().nullable();

/**
 * What became of one call. Only exit code 0 is a success, what was refused has none, and whatever failed says in which
 * category and stage.
 */
export const AuditEntry = z.discriminatedUnion('result', [
  z.strictObject({ ...call, result: z.literal('success'), exit_code: z.literal(0).nullable() }),
  z.strictObject({ ...call, ...failure, result: z.literal('error'), exit_code: exitCode }),
  z.strictObject({ ...call, ...failure, result: z.literal('timeout'), exit_code: exitCode }),
  z.strictObject({ ...call, ...failure, result: z.literal('cancelled'), exit_code: exitCode }),
  z.strictObject({ ...call, ...failure, result: z.literal('rollback'), exit_code: exitCode }),
  z.strictObject({ ...call, ...failure, result: z.literal('blocked'), exit_code: z.null() }),
]);
export type AuditEntry = z.infer<typeof AuditEntry>;

/** Says that bytes before it are no lines: a writer was interrupted. They stay where they are. */
const TornNote = z.strictObject({
  ts: z.iso.datetime({ precision: 3 }),
  result: z.literal('note'),
  torn: z.strictObject({ offset: z.int().min(0), bytes: z.int().min(1), sha256: z.string().length(64) }),
});

/** Says that lines before it are gone: whoever wrote them had left behind a higher number, or another hash, than the files end with. */
const LossNote = z.strictObject({
  ts: z.iso.datetime({ precision: 3 }),
  result: z.literal('note'),
  because: text,
  lost: z.strictObject({ seq: z.int().min(0), hash: z.string().length(64) }),
});

const chain = {
  lane: z.int().min(0),
  seq: z.int().min(0),
  prev: z.string().regex(/^[0-9a-f]{64}$/),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
};

/** The place of a line in its chain; the rest of a line may come from a newer Surety and is not judged here. */
export const AuditLink = z.looseObject(chain);
export type AuditLink = z.infer<typeof AuditLink>;

/** Chain and content. */
export const AuditLine = z.looseObject({ ...chain, ts: z.string(), result: z.string() });
export type AuditLine = z.infer<typeof AuditLine>;

export const TornLine = z.looseObject({ torn: TornNote.shape.torn });
export const LossLine = z.looseObject({ because: LossNote.shape.because, lost: LossNote.shape.lost });
