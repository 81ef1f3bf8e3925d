import { literal, type Field } from '../../command/expand.ts';
import { doubt, mayBeOption, type Consequence } from './consequence.ts';
import { abbreviates } from './options.ts';
import { codeFrom } from '../reading/streams.ts';

const ADDRESS =
  /^(?:\d+(?:~\d+)?|\$|\/(?:[^/\\\n]|\\.)*\/[IM]*)(?:,\s*(?:[+~]?\d+|\$|\/(?:[^/\\\n]|\\.)*\/[IM]*))?\s*!?\s*/;
const PLAIN = /^(?:[=dDgGhHlnNpPqQxz{}](?:\s*\d+)?|[:btT][ \t]*\w*)/;
/** Its text is what follows, on this line or, behind a backslash, on the next; a backslash before the end of a line goes on. */
const TEXT = /^[aic][ \t]*(?:\\\n)?(?:[^\\\n]|\\[^])*(?:\n|$)/;
const COMMENT = /^#[^\n]*/;
const FLAGS = /^[gpiImM\d]*/;
const MOST_COMMANDS = 200;

/**
 * Whether every command of a sed script is one of those that run no program. Reads the usual forms only; what it does not
 * know is not harmless. A hole is text like any other as long as it stands where text may stand.
 */
function isHarmlessSed(script: string): boolean {
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
  return (COMMENT.exec(rest) ?? PLAIN.exec(rest) ?? TEXT.exec(rest))?.[0].length ?? 0;
}

/** The length of `s/a/b/g`, whatever its delimiter; 0 if it is not closed. */
function substitutionLength(rest: string): number {
  const delimiter = rest[1];
  if (delimiter === undefined || /[\s\\]/.test(delimiter)) return 0;
  let at = 2;
  for (let closed = 0; closed < 2; at += 1) {
    const character = rest[at];
    // Nor does it go on over the end of a line, but behind a backslash.
    if (character === undefined || character === '\n') return 0;
    if (character === '\\') at += 1;
    else if (character === delimiter) closed += 1;
  }
  return at + (FLAGS.exec(rest.slice(at))?.[0].length ?? 0);
}

const CLUSTER = /^-([nErsuzb]*)(?:([efil])(.*))?$/s;
const PLAIN_OPTIONS =
  'quiet silent debug posix sandbox follow-symlinks null-data zero-terminated regexp-extended separate unbuffered binary in-place';

/** GNU sed runs commands by `e`, and by the flag of that name. */
export function sed(program: string, args: readonly Field[]): readonly Consequence[] {
  const because = `this ${program} script may run others`;
  const scripts: Field[] = [];
  let isSandboxed = false;
  const operands: Field[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const field = args[at] ?? literal('');
    if (field.text === '--') {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (!/^-./s.test(field.text)) {
      operands.push(field);
      continue;
    }
    // It says so and ends; behind `--`, or as the value of an option, it is a file like any other.
    if (field.text === '--version' || field.text === '--help') return [];
    // Then it refuses to run, read or write anything else; a script in front of it, or what may be an option, is read before.
    if (field.text === '--sandbox' && scripts.length === 0 && operands.length === 0) isSandboxed = true;
    const option = optionOf(field.text);
    if (option === undefined) return doubt(because);
    const value = option.value === undefined ? args[at + 1] : { ...field, text: option.value };
    if (option.takes === 'file') return [codeFrom(value?.text)];
    if (option.takes === 'script') scripts.push(value ?? field);
    if (option.takes !== undefined && option.value === undefined) at += 1;
  }
  if (operands.some((field) => field.many && mayBeOption(field))) return doubt(because);
  if (isSandboxed) return [];
  const [first] = operands;
  if (scripts.length === 0 && first !== undefined) scripts.push(first);
  // What one begins another may end: to sed they are lines of one script.
  const whole = scripts.map(({ text }) => text).join('\n');
  const isHarmless = scripts.length > 0 && !scripts.some(({ many }) => many) && isHarmlessSed(whole);
  return isHarmless ? [] : doubt(because);
}

/** What an option takes, and the value if it is attached; undefined for one that nobody knows. */
function optionOf(
  text: string,
): { readonly takes?: 'script' | 'file' | 'number'; readonly value?: string } | undefined {
  if (!text.startsWith('--')) {
    const [whole, , letter, attached = ''] = CLUSTER.exec(text) ?? [];
    if (whole === undefined) return undefined;
    if (letter === undefined || letter === 'i') return {};
    const takes = letter === 'e' ? 'script' : letter === 'f' ? 'file' : 'number';
    return attached === '' ? { takes } : { takes, value: attached };
  }
  const [name = '', value] = text.slice(2).split(/=(.*)/s);
  if (name !== '' && abbreviates(name, PLAIN_OPTIONS)) return {};
  const own = value === undefined ? {} : { value };
  // GNU takes as much of a name as tells it from the others.
  if (/^e/.test(name)) return { takes: 'script', ...own };
  if (/^fi/.test(name)) return { takes: 'file', ...own };
  return /^l/.test(name) ? { takes: 'number', ...own } : undefined;
}
