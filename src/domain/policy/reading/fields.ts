import type { Command, Redirection, Word } from 'unbash';
import {
  expand,
  expandWhole,
  HOLE,
  howExpanded,
  isExpansion,
  literal,
  type Field,
  type Variables,
} from '../../command/expand.ts';
import { isStream, mayBeStream } from './streams.ts';

/** Whether nobody can tell which program a command name will turn out to be. */
export function isUncertainName({ text, open, many, glob }: Field): boolean {
  // What a stream or a running program is, its name does not tell: `/proc/self/exe`, `/dev/fd/3`.
  if (glob || (text.startsWith('~') && !text.includes('/')) || isStream(text)) return true;
  if (text.includes('/') && mayBeStream(text)) return true;
  // A quoted part in front of a slash is a directory, whichever.
  return many || (open && /[\0\uffff]/.test(text.slice(text.lastIndexOf('/') + 1)));
}

const MOST_WAYS = 16;

/** Every way in which the words of a command may turn out; undefined if there are too many. */
export function waysOf(
  words: readonly (Word | Command['args'][number])[],
  variables: Variables,
): readonly (readonly Field[])[] | undefined {
  let ways: Field[][] = [[]];
  for (const word of words) {
    if (word.type === 'Word' && word.parts === undefined) {
      const plain = literal(word.value);
      for (const way of ways) way.push(plain);
      continue;
    }
    const next = word.type === 'Word' ? expand(word, variables) : assignmentFields(word.name, word.value, variables);
    const only = next.length === 1 ? next[0] : undefined;
    // In place: copying for each word would make a long line slow.
    if (only !== undefined) for (const way of ways) way.push(...only);
    else if (ways.length * next.length > MOST_WAYS) return undefined;
    else ways = ways.flatMap((way) => next.map((fields) => [...way, ...fields]));
  }
  return ways;
}

/** An assignment that stands among arguments: `export A=b`. */
function assignmentFields(
  name: string,
  value: Word | { readonly type: 'ArrayValue' },
  variables: Variables,
): readonly (readonly Field[])[] {
  if (value.type !== 'Word') return [[{ ...literal(`${name}=${HOLE}`), open: true, list: true }]];
  return expandWhole(value, variables).map((text) => [{ ...literal(`${name}=${text}`), open: text.includes(HOLE) }]);
}

/** Whether a redirection decides what is read from the standard input. */
export function isOfInput({ type, operator, descriptor }: Redirection): boolean {
  if (descriptor?.type === 'FileDescriptor') return descriptor.value === 0;
  return descriptor !== undefined || type !== 'Redirect' || operator.startsWith('<');
}

/** Every text that a here-document or a here-string may turn out to be; undefined if it is neither. */
export function inputTexts(last: Redirection | undefined, variables: Variables): readonly string[] | undefined {
  if (last?.type === 'HereString') return last.target && expandWhole(last.target, variables);
  if (last?.type !== 'HereDoc') return undefined;
  const { body, delimiter, pos, end } = last;
  if (delimiter?.quoted === true) return [body.text];
  if (body.parts === undefined) {
    return [body.text.replace(/\\([\\$`\n])/g, (_, next: string) => (next === '\n' ? '' : next))];
  }
  return expandWhole({ type: 'Word', text: body.text, value: body.text, parts: body.parts, pos, end }, variables);
}

/** Whether something in what is read is expanded first. */
export function isFilledIn(given: Redirection): boolean {
  if (given.type === 'HereDoc') return given.body.parts?.some(isExpansion) === true;
  return (
    given.type === 'HereString' && given.target !== undefined && howExpanded(given.target.parts ?? []) !== undefined
  );
}

/** The file that is read instead, by its name; undefined where that is a stream, or only known when it runs. */
export function inputFile(only: Redirection | undefined, variables: Variables): string | undefined {
  if (only?.type !== 'Redirect' || only.operator !== '<' || only.target === undefined) return undefined;
  const [path, ...others] = expandWhole(only.target, variables);
  if (path === undefined || others.length > 0 || path === '') return undefined;
  return /[\0\ufffe\uffff*?[]/.test(path) || isStream(path) ? undefined : path;
}

/** Whether the shell itself reads something else from here on: `exec < x`. */
export function replacesInput(node: Command): boolean {
  const words = [node.name, ...node.args].map((word) => (word?.type === 'Word' ? word.value : ''));
  // `exec {log}>x` opens a stream of its own.
  const isOwn = (redirect: Redirection) =>
    isOfInput(redirect) && redirect.descriptor?.type !== 'FileDescriptorVariable';
  return words.find((word) => !/^(?:command|builtin|-p|--)$/.test(word)) === 'exec' && node.redirects.some(isOwn);
}
