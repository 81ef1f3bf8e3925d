import type { Redirection, Word } from 'unbash';
import { expandWhole, HOLE, literal, type Field, type Variables } from '../command/expand.ts';

/** Whether nobody can tell which program a command name will turn out to be. */
export function isUncertainName({ text, open, many, glob }: Field): boolean {
  if (glob || /^~[^/]*$/.test(text)) return true;
  // A quoted part in front of a slash is a directory, whichever.
  return many || (open && /[\0\uffff]/.test(text.slice(text.lastIndexOf('/') + 1)));
}

/** An assignment that stands among arguments: `export A=b`. */
export function assignmentFields(
  name: string,
  value: Word | { readonly type: 'ArrayValue' },
  variables: Variables,
): readonly (readonly Field[])[] {
  if (value.type !== 'Word') return [[{ ...literal(`${name}=${HOLE}`), open: true }]];
  return expandWhole(value, variables).map((text) => [{ ...literal(`${name}=${text}`), open: text.includes(HOLE) }]);
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
