import * as z from 'zod';
import { Recent } from '../recent.ts';
import { Id, matching } from './id.schema.ts';
import { SEVERITIES } from './outcome.ts';

const Name = z.string().min(1).max(10_240);
const Time = z.union([z.number().min(0).max(8.64e15), z.date()]);

/** `503`, `503 Service Unavailable`, `HTTP/1.1 503`. */
const HTTP_STATUS = /^\s*(?:[Hh][Tt][Tt][Pp]\/[\d.]{1,4}\s+)?\d{3}(?:\s.{0,100})?$/u;

/** The fields of a report. Unknown keys are refused: a misspelt `sucess` must not become a success. */
export const ReportFields = z.strictObject({
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
  httpStatus: z.union([z.int().min(0).max(999), matching(z.string(), HTTP_STATUS)]).optional(),
  retryCount: z.int().min(0).optional(),
  wasTransient: z.boolean().optional(),
  /** The version of trust under which the call was admitted. */
  trustVersion: z.int().min(0).optional(),
  /** The token of the probe lease the call ran under. */
  probe: Id.optional(),
  /** The grant the call ran under. */
  grant: Id.optional(),
});

/** What the tool itself gave, where null is an answer. */
const GIVEN_BY_TOOL: ReadonlySet<string> = new Set(['args', 'result', 'error', 'context']);

/** Null is how many languages leave a field out, and an empty server is none. */
export function withoutAbsent(report: unknown): unknown {
  if (typeof report !== 'object' || report === null || Array.isArray(report)) return report;
  for (const name in report) if (isAbsent(name, (report as Record<string, unknown>)[name])) return presentOf(report);
  return report;
}

function presentOf(report: object): object {
  return Object.fromEntries(Object.entries(report).filter(([name, value]) => !isAbsent(name, value)));
}

function isAbsent(name: string, value: unknown): boolean {
  return (value === null && !GIVEN_BY_TOOL.has(name)) || (value === '' && name === 'server');
}

/**
 * What a caller says about one call that ended. What the tool itself gave (`args`, `result`, `error`, `context`) is taken
 * as it comes.
 */
export const Report = z.preprocess(withoutAbsent, ReportFields);
export type Report = z.infer<typeof ReportFields>;

const FIELDS: ReadonlyMap<string, z.ZodType> = new Map(Object.entries(ReportFields.shape));

/**
 * What `Report` makes of it. A usual report has three of all these fields, and looking at those alone takes a fraction of the
 * time; whatever is not plainly right is left to the schema, which says what is wrong with it.
 */
export function readReport(report: unknown): z.ZodSafeParseResult<Report> {
  const data = readPresent(report);
  return data === undefined ? Report.safeParse(report) : { success: true, data };
}

function readPresent(report: unknown): Report | undefined {
  if (typeof report !== 'object' || report === null || Object.getPrototypeOf(report) !== Object.prototype)
    return undefined;
  const read: Record<string, unknown> = {};
  for (const name of Object.getOwnPropertyNames(report)) {
    const field = FIELDS.get(name);
    const value = (report as Record<string, unknown>)[name];
    if (field === undefined || isAbsent(name, value)) return undefined;
    if (!GIVEN_BY_TOOL.has(name) && !isRight(name, field, value)) return undefined;
    read[name] = value;
  }
  return 'tool' in read ? (read as Report) : undefined;
}

/** The same few names come with every report, and stay as right as they were. */
const RIGHT: Readonly<Record<string, Recent<unknown, true>>> = {
  tool: new Recent(1000),
  server: new Recent(1000),
  agent: new Recent(1000),
  session: new Recent(1000),
};

function isRight(name: string, field: z.ZodType, value: unknown): boolean {
  const known = RIGHT[name];
  if (known?.get(value) === true) return true;
  const { success } = field.safeParse(value);
  if (success) known?.set(value, true);
  return success;
}
