import { z } from '@hono/zod-openapi';
import { storable } from '../domain/outcome/field.ts';

/** Text that somebody sends. What no database can hold (NUL, halves of a surrogate pair) is shown as U+FFFD. */
export function text(most: number): z.ZodString {
  return z.string().max(most).overwrite(storable);
}
