import { createHash } from 'node:crypto';
import { redactTokens } from '../outcome/secrets.ts';
import { isSame } from './loose-mask.ts';
import { isSecret, redactPasswords } from './secret-value.ts';

type Mask = (secret: string) => string;

/**
 * What stands in the place of a credential. Whoever decides tells two of them apart by it, within one question: its digest goes
 * into the fingerprint, so that nobody can look one up in a table.
 */
function maskOf(digest: string): Mask {
  return (secret) => {
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([digest, secret]))
      .digest('hex')
      .slice(0, 4);
    return `[redacted ${fingerprint}]`;
  };
}

/**
 * Arguments for whoever decides about them: nothing is cut, since what is not seen would be approved with the rest. Of
 * credentials only what can be nothing else is masked: what has the shape of a token, the password of a URL, and a secret under a
 * secret's name. `digest` is that of the question.
 */
export function shownArguments(value: unknown, digest: string): unknown {
  return shownBy(maskOf(digest), value);
}

function shownBy(mask: Mask, value: unknown): unknown {
  if (typeof value === 'string') return shownText(mask, value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((held) => shownBy(mask, held));
  const names = new Set<string>();
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [nameShown(mask, name, names), shownUnder(mask, name, held)]),
  );
}

function shownText(mask: Mask, text: string): string {
  return redactTokens(redactPasswords(text, mask), mask);
}

function shownUnder(mask: Mask, name: string, held: unknown): unknown {
  return isWord(held) && isSecret(name, held) ? mask(String(held)) : shownBy(mask, held);
}

function isWord(held: unknown): held is string | number {
  return typeof held === 'string' || typeof held === 'number';
}

/** Two names that are masked are two: one would hide what stands under the other. */
function nameShown(mask: Mask, name: string, taken: Set<string>): string {
  const masked = redactTokens(name, mask);
  let shown = masked;
  for (let nth = 2; taken.has(shown); nth += 1) shown = `${masked} ${nth}`;
  taken.add(shown);
  return shown;
}

/**
 * What was masked is put back where whoever edited the arguments has left the mask alone. In a list only into an element
 * that is otherwise as it was shown, in a list of as many: elsewhere nobody knows whose it is.
 */
export function unmasked(edited: unknown, original: unknown, digest: string): unknown {
  return unmaskedBy(maskOf(digest), edited, original);
}

function unmaskedBy(mask: Mask, edited: unknown, original: unknown): unknown {
  if (typeof edited === 'string')
    return typeof original === 'string' && edited === shownText(mask, original) ? original : edited;
  if (typeof edited !== 'object' || edited === null || typeof original !== 'object' || original === null) return edited;
  if (Array.isArray(edited)) {
    const before: readonly unknown[] = Array.isArray(original) && original.length === edited.length ? original : [];
    return edited.map((held, place): unknown =>
      isSame(held, shownBy(mask, before[place])) ? before[place] : (held as unknown),
    );
  }
  const known = new Map(Object.entries(original));
  return Object.fromEntries(
    Object.entries(edited).map(([name, held]) => {
      const before: unknown = known.get(name);
      const isLeftAlone = isWord(before) && held === shownUnder(mask, name, before);
      return [name, isLeftAlone ? before : unmaskedBy(mask, held, before)];
    }),
  );
}
