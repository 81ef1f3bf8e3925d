/** How every mask begins, whatever fingerprint it has; also one that somebody has written into. */
const MASK = '[redacted';
/** Any of them, in words. */
export const ANY_MASK = `${MASK} …]`;

/** Whether a mask stands where nothing can be put back for it, so that it would run as it is written. */
export function hasLooseMask(edited: unknown, shown: unknown): boolean {
  if (typeof edited === 'string') return edited.includes(MASK) && edited !== shown;
  if (typeof edited !== 'object' || edited === null) return false;
  if (Array.isArray(edited)) {
    const before: readonly unknown[] = Array.isArray(shown) && shown.length === edited.length ? shown : [];
    return edited.some((held, place) => hasMask(held) && !isSame(held, before[place]));
  }
  const known = new Map<string, unknown>(typeof shown === 'object' && shown !== null ? Object.entries(shown) : []);
  return Object.entries(edited).some(([name, held]) => name.includes(MASK) || hasLooseMask(held, known.get(name)));
}

export function hasMask(value: unknown): boolean {
  return (JSON.stringify(value) as string | undefined)?.includes(MASK) === true;
}

/** Arguments that travelled as JSON; the order of their names is no difference. */
export function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return one === other;
  const [names, others] = [Object.keys(one), new Map(Object.entries(other))];
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === others.size &&
    Object.entries(one).every(([name, held]) => others.has(name) && isSame(held, others.get(name)))
  );
}
