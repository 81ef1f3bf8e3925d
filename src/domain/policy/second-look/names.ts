const SAID =
  /^(?:-m|--(?:message|title|body|description|comment|name|label|tag|grep|format|query|template|filter|selector|jq)|jsonpath|go-template|custom-columns)$/;

/** Whether an argument is the value of an option that is said, not run; by itself it must be a phrase. */
export function isSaidByOption(text: string, before = ''): boolean {
  const equals = text.indexOf('=');
  return SAID.test(equals === -1 && /\s/.test(text) ? before : text.slice(0, equals === -1 ? undefined : equals));
}

/** Names that an argument may hold for a program that runs what it is told: after `=`, and where a command may begin. */
export function namesIn(text: string, before = ''): readonly string[] {
  const first = text.indexOf('=');
  const isPhrase = /\s/.test(text);
  if (first === -1 && !isPhrase) return [];
  if (isSaidByOption(text, before)) return [];
  const values = first === -1 ? [text] : [text, text.slice(first + 1), text.slice(text.lastIndexOf('=') + 1)];
  return [...new Set(values.flatMap((value) => value.split(/[;|&(){}`\n]+/).map(firstName)))];
}

/** `!sudo x`, `|sudo x`, `"sudo x"` all begin with sudo. */
function firstName(text: string): string {
  const [word = ''] = text.replace(/^[\s!|@'"`(-]+/, '').split(/[\s;|&'"`)]/, 1);
  return word.slice(word.lastIndexOf('/') + 1).toLowerCase();
}

/** Every word of an argument, for a program of which nobody knows what it does with it. `-x` may have one attached. */
export function wordsIn(text: string, before = ''): readonly string[] {
  if (isSaidByOption(text, before)) return [];
  const words = (text.toLowerCase().match(/[\w.+/-]+/g) ?? []).map((word) => word.slice(word.lastIndexOf('/') + 1));
  const attached = /^-\w(.+)$/s.exec(words[0] ?? '')?.[1];
  return [...new Set(attached === undefined ? words : [...words, attached])];
}
