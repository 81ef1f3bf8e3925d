import type { Command, Pipeline, SyntaxNode, Word, WordPart } from 'unbash';
import { braceWords } from '../../command/braces.ts';

const MOST_PRINTED = 10_000;
const CONVERSION = /%(?:%|[-+ #0]*(\d+|\*)?(?:\.(\d+|\*)?)?[hjlLtz]*([a-zA-Z]))/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '', b: '', f: '', v: '', '\\': '\\' };

/** The same by the file that it is written to: what stands between two texts for one file says nothing of them. */
export function printedInto(commands: readonly Command[]): readonly string[] {
  const into = new Map<string, Command[]>();
  for (const command of commands)
    for (const each of command.redirects)
      if (each.type === 'Redirect' && each.operator.includes('>') && each.target !== undefined)
        into.set(each.target.text, [...(into.get(each.target.text) ?? []), command]);
  return Array.from(into.values(), printedBy);
}

/**
 * What the `printf` and `echo` among commands say, one after the other, as far as it is written there: a name may be put together of
 * several of them (`printf s%sdo u`). What is not written there counts as nothing.
 */
export function printedBy(commands: readonly Command[]): string {
  let printed = '';
  for (const command of commands) {
    if (printed.length >= MOST_PRINTED) break;
    printed += outputOf(command);
  }
  return printed;
}

/** What the command before a part of a pipeline says to it, as far as that is written there. */
export function saidTo(pipeline: Pipeline, part: SyntaxNode): string | undefined {
  const before = pipeline.commands[pipeline.commands.findIndex((each) => each === part) - 1];
  if (before?.type !== 'Command') return undefined;
  const [only, ...others] = before.redirects;
  if (before.name?.value === 'cat' && before.args.length === 0 && only?.type === 'HereDoc' && others.length === 0)
    return only.body.text;
  return printedBy([before]) || undefined;
}

function outputOf({ name, args }: Command): string {
  const words = args.flatMap((arg) => (arg.type === 'Word' ? textsOf(arg) : [arg.text]));
  if (name?.value === 'echo') {
    const options = words.findIndex((word) => !/^-[neE]+$/.test(word));
    const isOpen = options !== 0 && words[0]?.includes('n') === true;
    return `${unescaped(words.slice(options === -1 ? words.length : options).join(' '))}${isOpen ? '' : '\n'}`;
  }
  if (name?.value !== 'printf') return '';
  const [format = '', ...values] = words[0] === '--' ? words.slice(1) : words;
  return formatted(unescaped(format), values);
}

/** Once for all of its values, and again for those that are left. */
function formatted(format: string, values: readonly string[]): string {
  const left = [...values];
  let printed = '';
  do {
    const before = left.length;
    printed += format.replace(CONVERSION, (conversion, width?: string, precision?: string, letter?: string) => {
      if (letter === undefined) return '%';
      if (width === '*') left.shift();
      const most = precision === '*' ? Number(left.shift()) : precision === undefined ? undefined : Number(precision);
      const value = unescaped(left.shift() ?? '');
      if (letter === 'c') return value.slice(0, 1);
      return conversion.includes('.') && /[sqb]/i.test(letter) ? value.slice(0, Math.max(0, most ?? 0)) : value;
    });
    if (left.length === before) break;
  } while (left.length > 0 && printed.length < MOST_PRINTED);
  return printed;
}

function textsOf(word: Word): readonly string[] {
  if (word.parts === undefined) return [word.value];
  return (braceWords(word.parts) ?? [word.parts]).map(textOf);
}

function textOf(parts: readonly WordPart[]): string {
  return parts
    .map((part) => ('value' in part ? part.value : part.type === 'DoubleQuoted' ? quoted(part.parts) : ''))
    .join('');
}

function quoted(parts: readonly { readonly type: string; readonly value?: string }[]): string {
  return parts.map(({ value = '' }) => value).join('');
}

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|(.))/gs,
    (_, hex?: string, octal?: string, letter?: string) => {
      if (hex !== undefined) return String.fromCharCode(parseInt(hex, 16));
      return octal === undefined
        ? (ESCAPES[letter ?? ''] ?? letter ?? '')
        : String.fromCharCode(parseInt(octal, 8) & 0xff);
    },
  );
}
