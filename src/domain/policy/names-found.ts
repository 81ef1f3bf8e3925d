import type { Command, Pipeline, SyntaxNode } from 'unbash';
import { HOLE, MADE, type Field } from '../command/expand.ts';
import type { Consequence } from './consequence.ts';

/** A place that is written out, and no option: what is found there begins with it. */
const PLACE = /^[\w./][^*?[\]$`]*$/;
const SAYS_MORE = /^-(?:f?printf|f?ls|exec|ok|fprint)/;
/** They pass on lines as they are. */
const FILTERS: ReadonlySet<string> = new Set(['grep', 'sort', 'uniq', 'head', 'tail']);

/** Whether a part of a pipeline is `xargs`, and what it reads are names of files that lie below a directory, and nothing else. */
export function isFedNames({ commands }: Pipeline, part: SyntaxNode): boolean {
  if (part.type !== 'Command' || part.name?.value !== 'xargs') return false;
  for (let at = commands.findIndex((each) => each === part) - 1; at >= 0; at -= 1) {
    const before = commands[at];
    if (before?.type !== 'Command' || before.prefix.length > 0) return false;
    if (saysNames(before)) return true;
    if (!isFilter(before)) return false;
  }
  return false;
}

function saysNames(command: Command): boolean {
  const words = wordsOf(command);
  const [first = ''] = words;
  const last = words.at(-1) ?? '';
  switch (command.name?.value) {
    case 'find':
      return PLACE.test(first) && !words.some((word) => SAYS_MORE.test(word));
    case 'grep':
      return (
        words.some((word) => /^-[a-zA-Z]*[rR]/.test(word)) && words.some(lists) && words.length > 2 && PLACE.test(last)
      );
    default:
      return false;
  }
}

function lists(word: string): boolean {
  return /^-[a-zA-Z]*[lL][a-zA-Z]*$/.test(word);
}

function isFilter(command: Command): boolean {
  const words = wordsOf(command);
  const isPlain = FILTERS.has(command.name?.value ?? '');
  return isPlain && !words.some((word) => /^-[a-zA-Z]*[oc]|^--/.test(word));
}

function wordsOf({ args }: Command): readonly string[] {
  return args.map((arg) => (arg.type === 'Word' ? arg.value : ''));
}

/** The same consequences of `xargs`, with what it adds being names that were found. */
export function addingNames(consequences: readonly Consequence[]): readonly Consequence[] {
  return consequences.map((each) => (each.type === 'command' ? { ...each, fields: each.fields.map(asFound) } : each));
}

function asFound(field: Field): Field {
  const isAdded = field.text.startsWith(HOLE) && !field.text.startsWith(MADE);
  return isAdded ? { ...field, found: true } : field;
}
