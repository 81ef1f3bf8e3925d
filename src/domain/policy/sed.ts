const ADDRESS = /^(?:\d+|\$|\/(?:[^/\\\n]|\\.)*\/[IM]*)(?:,\s*(?:[+~]?\d+|\$|\/(?:[^/\\\n]|\\.)*\/[IM]*))?\s*!?\s*/;
const PLAIN = /^(?:[=dDgGhHlnNpPqQxz{}](?:\s*\d+)?|[:btT]\s*\w*)/;
const TEXT = /^[aic](?:\\?[^\n]*)(?:\n|$)/;
const FLAGS = /^[gpiImM\d]*/;
const MOST_COMMANDS = 200;

/**
 * Whether every command of a sed script is one of those that run no program. Reads the usual forms only; what it does not
 * know is not harmless. A hole is text like any other as long as it stands where text may stand.
 */
export function isHarmlessSed(script: string): boolean {
  // A hole might hold anything, a delimiter included.
  if (/\0/.test(script)) return false;
  let rest = script;
  for (let count = 0; count < MOST_COMMANDS; count += 1) {
    rest = rest.replace(/^[\s;]+/, '');
    if (rest === '') return true;
    rest = rest.slice(ADDRESS.exec(rest)?.[0].length ?? 0);
    const length = rest.startsWith('s') || rest.startsWith('y') ? substitutionLength(rest) : commandLength(rest);
    if (length === 0) return false;
    rest = rest.slice(length);
    if (rest !== '' && !/^[\s;{}]/.test(rest) && !/[{}\n]$/.test(script.slice(0, script.length - rest.length)))
      return false;
  }
  return false;
}

function commandLength(rest: string): number {
  return (PLAIN.exec(rest) ?? TEXT.exec(rest))?.[0].length ?? 0;
}

/** The length of `s/a/b/g`, whatever its delimiter; 0 if it is not closed. */
function substitutionLength(rest: string): number {
  const delimiter = rest[1];
  if (delimiter === undefined || /[\s\\]/.test(delimiter)) return 0;
  let at = 2;
  for (let closed = 0; closed < 2; at += 1) {
    const character = rest[at];
    if (character === undefined) return 0;
    if (character === '\\') at += 1;
    else if (character === delimiter) closed += 1;
  }
  return at + (FLAGS.exec(rest.slice(at))?.[0].length ?? 0);
}
