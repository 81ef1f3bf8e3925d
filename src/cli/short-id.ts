import { Problem } from '../problem.ts';

/** The end of it: the beginning is the time, which what was made in one moment shares. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** The one whose id begins or ends so. `named` says what is looked for, and where it is listed. */
export function pickById<T extends { readonly id: string }>(
  items: readonly T[],
  typed: string,
  named: { readonly none: string; readonly several: string; readonly listed: string },
): T {
  const part = typed.toLowerCase();
  const matching = items.filter(({ id }) => id.startsWith(part) || id.endsWith(part));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  const what = only === undefined ? named.none : named.several;
  throw new Problem(`${JSON.stringify(typed)} is ${what}; nothing was changed.`, named.listed);
}
