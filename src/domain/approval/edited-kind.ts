/** What to do about it. */
export const KEEP_ITS_FORM = 'Edit what the question shows and keep its form, or deny it.';

/** Why arguments cannot run in the place of others: a tool that is called with names would be given something else. */
export function otherKind(edited: unknown, asked: unknown): string | undefined {
  // What could not be kept to be shown may have been anything.
  if (asked === null || asked === undefined || kindOf(edited) === kindOf(asked)) return undefined;
  return `The arguments are ${kindOf(asked)}, and ${kindOf(edited)} was to run instead.`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
