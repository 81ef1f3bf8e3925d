import { isSecretName, REDACTED, redactTokens } from '../outcome/secrets.ts';

/**
 * Arguments for whoever decides about them: nothing is cut, since what is not seen would be approved with the rest. Of
 * credentials only what can be nothing else is masked: what has the shape of a token, and one word, or a scheme and one, under a
 * secret's name.
 */
export function shownArguments(value: unknown): unknown {
  if (typeof value === 'string') return redactTokens(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(shownArguments);
  const names = new Set<string>();
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [
      nameShown(name, names),
      isSecret(name, held) ? REDACTED : shownArguments(held),
    ]),
  );
}

/** Two names that are masked are two: one would hide what stands under the other. */
function nameShown(name: string, taken: Set<string>): string {
  const masked = redactTokens(name);
  let shown = masked;
  for (let nth = 2; taken.has(shown); nth += 1) shown = `${masked} ${nth}`;
  taken.add(shown);
  return shown;
}

/**
 * What was masked is put back where whoever edited the arguments has left the mask alone. In a list only into an element
 * that is otherwise as it was shown, in a list of as many: elsewhere nobody knows whose it is.
 */
export function unmasked(edited: unknown, original: unknown): unknown {
  if (typeof edited === 'string')
    return typeof original === 'string' && edited === redactTokens(original) ? original : edited;
  if (typeof edited !== 'object' || edited === null || typeof original !== 'object' || original === null) return edited;
  if (Array.isArray(edited)) {
    const before: readonly unknown[] = Array.isArray(original) && original.length === edited.length ? original : [];
    return edited.map((held, place): unknown => (isSame(held, shownArguments(before[place])) ? before[place] : held));
  }
  const known = new Map(Object.entries(original));
  return Object.fromEntries(
    Object.entries(edited).map(([name, held]) => {
      const before: unknown = known.get(name);
      return [name, held === REDACTED && isSecret(name, before) ? before : unmasked(held, before)];
    }),
  );
}

/** Whether a mask stands where nothing can be put back for it, so that it would run as it is written. */
export function hasLooseMask(edited: unknown, shown: unknown): boolean {
  if (typeof edited === 'string') return edited.includes(REDACTED) && edited !== shown;
  if (typeof edited !== 'object' || edited === null) return false;
  if (Array.isArray(edited)) {
    const before: readonly unknown[] = Array.isArray(shown) && shown.length === edited.length ? shown : [];
    return edited.some((held, place) => hasMask(held) && !isSame(held, before[place]));
  }
  const known = new Map<string, unknown>(typeof shown === 'object' && shown !== null ? Object.entries(shown) : []);
  return Object.entries(edited).some(([name, held]) => name.includes(REDACTED) || hasLooseMask(held, known.get(name)));
}

function hasMask(value: unknown): boolean {
  return (JSON.stringify(value) as string | undefined)?.includes(REDACTED) === true;
}

/** Arguments that travelled as JSON; the order of their names is no difference. */
function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return one === other;
  const [names, others] = [Object.keys(one), new Map(Object.entries(other))];
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === others.size &&
    Object.entries(one).every(([name, held]) => others.has(name) && isSame(held, others.get(name)))
  );
}

const ONE_WORD = /^(?:(?:bearer|basic|token|digest) +)?[\w.~+/=:@%-]{1,512}$/i;
/** A name that ends so says where a secret is, or what kind of one, and not what it is. */
const OF_SOMETHING_ELSE =
  /[-_ a-z](?:url|uri|urn|endpoint|host|file|path|dir|directory|folder|jar|store|name|type|kind|mode|method|provider|enabled|required|count|length|ttl|expiry)s?$/i;
/** A link by itself, unless it has a password in it. */
const LINK = /^[a-z][a-z0-9+.-]*:\/\/(?![^/]*:[^/]*@)/i;

/** What a link or a file is called decides what is done: it is shown, or a person would approve blindly. */
function isSecret(name: string, value: unknown): boolean {
  if (typeof value !== 'string' || !isSecretName(name)) return false;
  return ONE_WORD.test(value) && !OF_SOMETHING_ELSE.test(name) && !LINK.test(value);
}
