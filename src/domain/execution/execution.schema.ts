import * as z from 'zod';
import { compilePathGlob, InvalidGlob } from '../files/path-glob.ts';

const name = z.string().min(1).max(1024);
const pathPattern = name.superRefine((pattern, context) => {
  try {
    compilePathGlob(pattern);
  } catch (error) {
    if (!(error instanceof InvalidGlob)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
});
/** There only `*` and `?` are patterns: a rule with others would match nothing, and one that denies would deny nothing. */
const nameGlob = name.refine((text) => !/[[{]/.test(text), 'only * and ? are patterns here');
const milliseconds = z.int().min(0).max(600_000);

const AuthorisationRule = z.strictObject({
  action: z.enum(['allow', 'deny']),
  tools: z.array(nameGlob).min(1).max(256).describe('Names or server/name; globs.'),
  callers: z
    .array(z.string().max(1024))
    .min(1)
    .max(256)
    .optional()
    .describe('Sub-agents; globs. "" is the agent itself.'),
  paths: z
    .array(pathPattern)
    .min(1)
    .max(256)
    .optional()
    .describe('deny: any of these is touched. allow: nothing else is.'),
  sandbox: z.literal('required').optional().describe('Denied where the operating system cannot confine it.'),
});

/** `authorization` in surety.json. */
export const AuthorisationSection = z.strictObject({
  enabled: z.boolean().default(false),
  default: z.enum(['allow', 'deny']).default('allow').describe('For calls that no rule names.'),
  rules: z.array(AuthorisationRule).max(256).default([]).describe('The first that matches decides.'),
});
export type AuthorisationSection = z.infer<typeof AuthorisationSection>;

/** `retry` in surety.json. */
export const RetrySection = z.strictObject({
  maxAttempts: z.int().min(0).max(100).default(2).describe('How often a call is run at most. 0 and 1 are the same.'),
  baseMs: milliseconds.default(500).describe('What waiting between attempts grows from.'),
  maxMs: milliseconds.default(5000).describe('What it grows to.'),
  budgetSecs: z
    .int()
    .min(0)
    .max(3600)
    .default(30)
    .describe(
      'No attempt begins that would end later than this after the first began, taking as long as the one before.',
    ),
});
export type RetrySection = z.infer<typeof RetrySection>;

/** `runner` in surety.json: how a command is run that may be run. */
export const RunnerSection = z.strictObject({
  timeoutSecs: z.int().min(1).max(86_400).default(30).describe('After this the command and all it started are ended.'),
  maxOutputBytes: z.int().min(256).max(16_777_216).default(65_536).describe('Kept of each stream, beginning and end.'),
  sandbox: z
    .enum(['off', 'auto', 'required'])
    .default('auto')
    .describe('auto: where the system has one. required: denied where it has none.'),
  network: z.boolean().default(true).describe('false: no network within the sandbox, and none of it without one.'),
  writable: z
    .array(name)
    .max(100)
    .default([])
    .describe('Directories besides the roots that a sandbox lets be written.'),
  passEnvironment: z.array(name).max(100).default([]).describe('Variables that pass although they look like secrets.'),
});
export type RunnerSection = z.infer<typeof RunnerSection>;

/** `quota`: how long a session's count lasts. */
export const MaxToolCallsPerSession = z.int().min(0).max(1_000_000_000).nullable().default(null);
export const QuotaWindowSecs = z.int().min(1).max(31_536_000).default(86_400);
