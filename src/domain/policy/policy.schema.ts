import * as z from 'zod';
import { DEFAULT_CONFIRM_PATTERNS, GRANTED_LEVELS } from './policy.ts';

const pattern = z.string().trim().min(1).max(400);
const patterns = z.array(pattern).max(500);
/** Sets and choices of other globs: here they would be text, and a rule that was meant to deny would match nothing. */
const NO_GLOB = /\{[^{}]*,[^{}]*\}|(?<!^|\[)\[(?!\[)|^\[(?![[ ])/;
const globs = z
  .array(
    pattern.refine(
      (text) => !NO_GLOB.test(text),
      'only * and ? are patterns here: write [x] as ?, and {a,b} as two entries',
    ),
  )
  .max(500);

/** The `shell` section of surety.json. */
export const ShellRules = z.strictObject({
  blockedCommands: patterns
    .default([])
    .describe('Denied always, whoever approves: a program and words that follow it in this order.'),
  allowedCommands: patterns
    .default([])
    .describe('Programs taken off the built-in blocklist. What blockedCommands names stays blocked.'),
  confirmPatterns: patterns
    .default([...DEFAULT_CONFIRM_PATTERNS])
    .describe('Asked about unless trust is full: commands as above, or one of $( ` <( >( <<<.'),
  deny: globs.default([]).describe('Globs over a program and its arguments. Denied, whatever else matches.'),
  ask: globs.default([]).describe('Globs over a program and its arguments. Asked about at every trust level.'),
  allow: globs.default([]).describe('Globs over a program and its arguments. Allowed without asking.'),
  allowNetwork: z.boolean().default(true).describe('false: programs that talk to other machines are denied.'),
  trust: z
    .enum(GRANTED_LEVELS)
    .default('provisional')
    .describe('What a TRUSTED tool may do by itself. provisional: all but confirmPatterns. trusted: those, too.'),
});
export type ShellRules = z.infer<typeof ShellRules>;

export type ParsedShellRules =
  | { readonly valid: true; readonly rules: ShellRules }
  | { readonly valid: false; readonly complaints: readonly string[] };

/** One complaint per offending value, each with its path. */
export function parseShellRules(input: unknown): ParsedShellRules {
  const parsed = ShellRules.safeParse(input);
  if (parsed.success) return { valid: true, rules: parsed.data };
  const complaints = parsed.error.issues.map(
    ({ path, message }) => `shell${path.map((key) => `.${String(key)}`).join('')}: ${message}`,
  );
  return { valid: false, complaints };
}
