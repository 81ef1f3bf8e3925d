import { MATCH, type Field } from '../../command/expand.ts';
import type { Named, PathIntent } from './paths.ts';

const URL = /^(?!file:)[a-z][a-z0-9+.-]*:\/\//i;
const UNKNOWN = /[\0\uffff]/;
const AFTER_COLON = /^[^/]*[\w-]:(?!\/\/)((?:~|\.\.?)?\/.*|\.\.)$/s;
const PLAIN = /^[\w./][\w./-]*$/;

export function guess(path: string, intent: PathIntent): Named {
  return { path, intent, certain: false };
}

/** `x`, `--file=x`, `--file=k=x`, `--report=html:x`, `-fx`, `-cfx`, `of=x`, `@x`, `file:x`. */
export function guessesIn(text: string, intent: PathIntent): readonly Named[] {
  if (PLAIN.test(text)) return [guess(text, intent)];
  const found: string[] = [];
  const equals = text.indexOf('=');
  if (equals > 0) {
    found.push(text.slice(equals + 1));
    const last = text.lastIndexOf('=');
    if (last > equals) found.push(text.slice(last + 1));
  }
  const behind = text.includes(':') ? AFTER_COLON.exec(text)?.[1] : undefined;
  if (behind !== undefined) found.push(behind);
  if (!text.startsWith('-')) found.push(text);
  else if (!text.startsWith('--') && text.length > 3) {
    // Where the value begins only the program knows: after one letter, after some, or where a path begins.
    const rooted = text.search(/[./~]/);
    const begins = rooted === 2 ? [2] : new Set([2, 3, 4, Math.max(rooted, 2)]);
    for (const at of begins) if (text.length > at + 1) found.push(text.slice(at));
  }
  const named: Named[] = [];
  for (const each of found) {
    const path = each.startsWith('@') || each.startsWith('file:') ? each.replace(/^(?:@|file:(?:\/\/)?)/, '') : each;
    if (isWord(path) && isTelling(path)) named.push(guess(path, intent));
  }
  return named;
}

export function isWord(text: string): boolean {
  return text !== '' && text !== '-' && !(text.includes('://') && URL.test(text));
}

/** Of what is not known only that counts which looks like a path. */
function isTelling(text: string): boolean {
  return !hasUnknown(text) || text.includes('/') || text.startsWith('~');
}

/** What a glob matches is there already. */
function hasUnknown(text: string): boolean {
  return UNKNOWN.test(text) && UNKNOWN.test(text.replaceAll(MATCH, '*'));
}

/**
 * A pattern, or the value of an option that is no file. Should we know the program less well than we think, it is one: what has
 * the looks of a path is a guess. Regular expressions have them seldom, and a lone `/x` is the beginning of many.
 */
export function spokenPaths(field: Field | undefined, intent: PathIntent): readonly Named[] {
  if (field === undefined) return [];
  const { text, many, glob } = field;
  if (/^(?:[\d,:+-]*|\/[^/]*\/?|[.~]|\{\})$/.test(text) || !isWord(text)) return [];
  if (hasUnknown(text) || (!glob && !many && /[*?[]/.test(text))) return [];
  return [guess(text, intent)];
}
