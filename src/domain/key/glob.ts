interface GlobOptions {
  readonly ignoreCase?: boolean;
  /** A backslash before `*`, `?` or `\` makes it literal. Elsewhere, as in patterns of commands, it is a character like others. */
  readonly escapes?: boolean;
}

/**
 * Whether a name matches a pattern in which `*` stands for any run of characters and `?` for one; all else is literal.
 * Only the last `*` is ever retried, so the time is at most pattern times text, whatever either looks like.
 */
export function matchesGlob(pattern: string, text: string, options: GlobOptions = {}): boolean {
  const wanted = options.ignoreCase === true ? pattern.toLowerCase() : pattern;
  const given = options.ignoreCase === true ? text.toLowerCase() : text;
  let at = 0;
  let next = 0;
  let star = -1;
  let retryFrom = 0;
  while (at < given.length) {
    const isEscaped = options.escapes === true && ESCAPED.test(wanted.slice(next, next + 2));
    const expected = isEscaped ? wanted[next + 1] : wanted[next];
    if (expected === '*' && !isEscaped) {
      star = next;
      retryFrom = at;
      next += 1;
    } else if (expected === '?' && !isEscaped) {
      at += characterLength(given, at);
      next += 1;
    } else if (expected === given[at]) {
      at += 1;
      next += isEscaped ? 2 : 1;
    } else if (star >= 0) {
      retryFrom += characterLength(given, retryFrom);
      at = retryFrom;
      next = star + 1;
    } else {
      return false;
    }
  }
  while (wanted[next] === '*') next += 1;
  return next === wanted.length;
}

const ESCAPED = /^\\[*?\\]/;

/** The pattern, with `escapes`, that matches this text and no other. */
export function escapeGlob(text: string): string {
  return text.replace(/[*?\\]/g, '\\$&');
}

/** A character outside the basic plane is two code units, and one `?`. */
function characterLength(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
