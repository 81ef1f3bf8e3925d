import { HOLE, type Field } from '../../command/expand.ts';
import { spokenPaths } from './guesses.ts';
import type { Named, PathIntent } from './paths.ts';

/** Of programs whose arguments have a grammar of their own: the files among them. */
export const OWN_GRAMMAR: ReadonlyMap<string, (args: readonly Field[]) => readonly Named[]> = new Map([
  ['find', foundBy],
  ['dd', copiedBy],
  ['history', rememberedBy],
]);

function certain(path: string, intent: PathIntent): Named {
  return { path, intent, certain: true };
}

/** `find [-H] [-L] [-P] [-D x] [-Olevel] [--] start… expression`. What the expression says is looked at as well. */
function foundBy(args: readonly Field[]): readonly Named[] {
  const found: Named[] = [];
  let at = 0;
  for (; /^-(?:[HLP]|O\d*|D|-)$/.test(args[at]?.text ?? ''); at += 1) if (args[at]?.text === '-D') at += 1;
  for (; at < args.length && !/^(?:-.|[(!,)]$)/s.test(args[at]?.text ?? ''); at += 1)
    found.push(certain(args[at]?.text ?? '', 'read'));
  for (; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    // What it runs names its files itself, and ends at the first of these at the earliest.
    if (/^-(?:exec|ok)(?:dir)?$/.test(text)) at = ends(args, at);
    const value = args[at + 1];
    if (!text.startsWith('-')) found.push(...spokenPaths(args[at], 'read'));
    if (value === undefined) continue;
    if (/^-(?:[acm]?newer|newer[aBcmt]{2}|samefile|files0-from)$/.test(text)) found.push(certain(value.text, 'read'));
    if (/^-(?:fprint0?|fprintf|fls)$/.test(text)) found.push(certain(value.text, 'write'));
  }
  return found;
}

function ends(args: readonly Field[], from: number): number {
  const end = args.findIndex(({ text }, at) => at > from && /^[;+]$/.test(text));
  return end === -1 ? args.length : end;
}

function copiedBy(args: readonly Field[]): readonly Named[] {
  return args.flatMap(({ text }): Named[] => {
    const [, name, path] = /^(if|of)=(.+)$/s.exec(text) ?? [];
    return path === undefined ? [] : [certain(path, name === 'of' ? 'write' : 'read')];
  });
}

/** `history -r x` reads a file into what the shell remembers, `-w x` writes all of that to one. */
function rememberedBy(args: readonly Field[]): readonly Named[] {
  const letters = args
    .filter(({ text }) => /^-./.test(text))
    .map(({ text }) => text)
    .join('');
  const isOpen = args.some(({ text, many }) => many || text.startsWith(HOLE));
  const intents: PathIntent[] = [];
  if (isOpen || /[rn]/.test(letters)) intents.push('read');
  if (isOpen || /[wa]/.test(letters)) intents.push('write');
  const files = args.map(({ text }) => text).filter((text) => text !== '' && !text.startsWith('-'));
  // Without a name it is the file that HISTFILE says.
  return intents.flatMap((intent) => (files.length === 0 ? [HOLE] : files).map((path) => certain(path, intent)));
}
