import * as z from 'zod';

/** Text that a pattern matches, too. JSON Schema has no flags: what it shows is the pattern itself, read as Unicode. */
export function matching(text: z.ZodString, pattern: RegExp, message?: string): z.ZodString {
  return text.regex(pattern, message).meta({ pattern: pattern.source });
}

export const LONGEST_ID = 1024;

/** An id as somebody gives it. */
export const Id = matching(
  z.string().max(LONGEST_ID),
  /^[^\p{Cc}\p{Surrogate}]+$/u,
  'must be text without control characters',
);
