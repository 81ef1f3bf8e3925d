import { HOLE, MATCH, type Field } from '../../command/expand.ts';

/** What follows from running a program with these arguments, beyond the program itself. */
export type Consequence =
  /** It runs a command. `maybe`: it may, nobody knows the program well enough to say. */
  | { readonly type: 'command'; readonly fields: readonly Field[]; readonly maybe?: true }
  /** It has a shell run a text. */
  | { readonly type: 'script'; readonly text: string }
  /** It runs what it reads from its input. */
  | { readonly type: 'input' }
  /** It runs a file. */
  | { readonly type: 'file'; readonly path: string }
  /** It changes a variable; undefined is a value nobody can tell. */
  | {
      readonly type: 'variable';
      readonly name: string;
      readonly value: string | undefined;
      /** From here on it is an array. */
      readonly isArray?: boolean;
    }
  /** It may change any variable. */
  | { readonly type: 'variables' }
  /** Its words stand wherever a program is asked for some. */
  | { readonly type: 'voices' }
  /** It evaluates a text as arithmetic: what variables hold, subscripts and substitutions in them included. */
  | { readonly type: 'arithmetic'; readonly text: string }
  /** It may run something that nobody can tell from outside. */
  | { readonly type: 'doubt'; readonly because: string };

export function doubt(because: string): readonly Consequence[] {
  return [{ type: 'doubt', because }];
}

/** Whether a field that nobody knows may turn out to be an option, or several; what a glob matches is there already. */
export function mayBeOption({ text, many, glob, found }: Field): boolean {
  if (found === true || glob || text.startsWith(MATCH)) return false;
  return many || text.startsWith(HOLE);
}

export function isUnsure(fields: readonly Field[]): boolean {
  return fields.some(({ open, many }) => open || many);
}
