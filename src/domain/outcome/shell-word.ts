/**
 * Sources of expressions for a word as a shell reads it, of pieces that touch each other: `'it'\''s'`, `"a"b`, `$'a'`. A quote
 * behind letters may also end what the whole assignment stands in (`"NAME=a" "b"`): it begins a piece only if a word without
 * blanks follows and is closed.
 */

const DOUBLE = String.raw`"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)`;
const SINGLE = String.raw`'(?:[^'\\]|\\[\s\S])*(?:'|\\?$)`;
const BARE = String.raw`[^\s,;&"'<>)}\]\\]`;

/** Also with what some languages put before a quote: `b'…'`, `$'…'`. An unclosed quote runs to the end. */
export const QUOTED = String.raw`(?:[bruf]{1,2}|[$@])?(?:${DOUBLE}|${SINGLE})`;

/** How a quote is put within quotes, and whatever they then hold; or quotes around a part of a word. */
const QUOTES_WITHIN = String.raw`\\''[^'\n]{0,512}'|"'"'[^'\n]{0,512}'|"(?=\w)[^"\s]{1,512}"|'(?=\w)[^'\s]{1,512}'`;
const BEHIND_QUOTES = String.raw`(?<=["'])[\w$@!#%+~^*-]`;
/** Not the comma or the bracket of a list or a call that the assignment stands in: `f(password=a,user=b)`. */
const WITHIN_WORD = String.raw`(?<!["'])(?:${BARE}|,(?![\s"'\\,]|[\w.-]{0,64}["']?\s?[=:]|$)|[}\]](?=\w))`;
/** `\n` in a text of JSON is the end of a line, and `\"` of a string, unless a word goes on. */
const ESCAPED = String.raw`\\(?:[^\w\s"']| (?=\S)|"(?=\w)|'(?=\w)|(?![nrtbfu])\w)`;

export const SHELL_WORD =
  `(?:\\$?(?:${DOUBLE}|${SINGLE})|${BARE}|${ESCAPED})` +
  `(?:${QUOTES_WITHIN}|${BEHIND_QUOTES}|${WITHIN_WORD}|${ESCAPED})*`;

/** The rest of a word behind one of its pieces, where the shell's operators end it. */
export const QUOTES_BEHIND = String.raw`(?:${QUOTES_WITHIN}|(?<=["'])[^\s"'|;&)}\],]{1,512}){0,16}`;

/** What a shell makes of a word. */
export function unquoted(word: string): string {
  return word.replace(
    /\$?"((?:[^"\\]|\\[\s\S])*)"|\$?'([^']*)'|\\([\s\S])/g,
    (_, double?: string, single?: string, escaped?: string) =>
      double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? escaped ?? '',
  );
}
