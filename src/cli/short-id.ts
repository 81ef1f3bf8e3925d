import { Problem } from '../problem.ts';

/** The end of it: the beginning is the time, which what was made in one moment shares. */
export function shortId(id: string): string {
  return id.slice(-8);
}

/** Less than this may be anything, and nothing at all is what an empty variable leaves of a script's id. */
const FEWEST_CHARACTERS = 4;
const MOST_MISTYPED = 2;

/** Whether an id is meant: by itself, or by how it begins or ends. Nobody types thirty-six characters. */
export function isMeant(id: string, typed: string): boolean {
  const part = typed.toLowerCase();
  return part.length >= FEWEST_CHARACTERS && (id.startsWith(part) || id.endsWith(part));
}

/** Asks whether one was meant of which a letter or two are other. */
export function nearMiss(ids: readonly string[], typed: string): string | undefined {
  const part = typed.toLowerCase();
  const isNear = (id: string) => part.length === id.length && differing(id, part) <= MOST_MISTYPED;
  const near = ids.filter((id) => isNear(id) || isNear(shortId(id))).map(shortId);
  return near.length === 0 ? undefined : `Did you mean ${near.slice(0, 3).join(' or ')}?`;
}

function differing(one: string, other: string): number {
  return Array.from(one).filter((character, place) => character !== other[place]).length;
}

/** The one whose id begins or ends so. `named` says what is looked for, and where it is listed. */
export function pickById<T extends { readonly id: string }>(
  items: readonly T[],
  typed: string,
  named: { readonly none: string; readonly several: string; readonly listed: string },
): T {
  const matching = items.filter(({ id }) => isMeant(id, typed));
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  const what = only === undefined ? named.none : named.several;
  const near = nearMiss(
    items.map(({ id }) => id),
    typed,
  );
  throw new Problem(`${JSON.stringify(typed)} is ${what}; nothing was changed.`, near ?? named.listed);
}
