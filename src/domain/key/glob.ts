/**
 * Whether a name matches a pattern in which `*` stands for any run of characters and `?` for one; all else is literal.
 * Only the last `*` is ever retried, so the time is at most pattern times text, whatever either looks like.
 */
export function matchesGlob(pattern: string, text: string, options: { ignoreCase?: boolean } = {}): boolean {
  const wanted = options.ignoreCase === true ? pattern.toLowerCase() : pattern;
  const given = options.ignoreCase === true ? text.toLowerCase() : text;
  let at = 0;
  let next = 0;
  let star = -1;
  let retryFrom = 0;
  while (at < given.length) {
    const expected = wanted[next];
    if (expected === '*') {
      star = next;
      retryFrom = at;
      next += 1;
    } else if (expected === '?') {
      at += characterLength(given, at);
      next += 1;
    } else if (expected === given[at]) {
      at += 1;
      next += 1;
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

/** A character outside the basic plane is two code units, and one `?`. */
function characterLength(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
