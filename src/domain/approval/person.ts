/** What Surety signs with itself. */
const RESERVED = /^surety(?: for .*)?$/s;

/** As it is kept: what only looks different is no other name. */
export function nameAsKept(name: string): string {
  return name.trim().normalize('NFC');
}

/** Two spellings of one name are one person. */
export function isSamePerson(one: string, other: string): boolean {
  return folded(one) === folded(other);
}

/** Why nobody can be called that; undefined where somebody can. */
export function refusalOfName(name: string): string | undefined {
  if (folded(name) === '') return 'A name has at least one letter.';
  if (RESERVED.test(folded(name))) return `${JSON.stringify(nameAsKept(name))} is what Surety signs with itself.`;
  return undefined;
}

/** A name that nobody vouches for, wherever it is written down or read. */
export function unverified(name: string): string {
  return `${name} (unverified)`;
}

/** Who ended a question, as it is shown. Nobody else takes one back in the name of Surety, so that needs no vouching for. */
export function enderOf({ status, endedBy, verified }: Ended): string {
  if (endedBy === null) return '';
  const isOurs = status === 'withdrawn' && RESERVED.test(endedBy);
  return verified === false && !isOurs ? unverified(endedBy) : endedBy;
}

interface Ended {
  readonly status: string;
  /** Null where nobody did: what has expired was denied by nobody. */
  readonly endedBy: string | null;
  readonly verified: boolean | null;
}

/** For comparing alone. Upper case first: some letters meet only there. */
export function folded(name: string): string {
  return nameAsKept(name).toUpperCase().toLowerCase().normalize('NFC');
}
