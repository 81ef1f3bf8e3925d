import type { Command, Pipeline, Redirection, SyntaxNode } from 'unbash';
import { HOLE, MADE, type Field } from '../../command/expand.ts';
import type { Consequence } from '../programs/consequence.ts';

/** A place that is written out, without anything that `xargs` would take apart or undo: what is found there begins with it. */
const PLACE = /^[\w./][\w./-]*$/;
const SAYS_MORE = /^-(?:f?printf|f?ls|exec|ok|fprint)/;
const SAYERS = /^(?:echo|printf|base64|xxd)$/;
/** They pass on lines as they are; `grep` by a pattern. */
const FILTERS: ReadonlyMap<string, number> = new Map([
  ['grep', 1],
  ['sort', 0],
  ['uniq', 0],
  ['head', 0],
  ['tail', 0],
]);

/** What `xargs` reads: names of files that lie below a directory and nothing else, or words that the line itself says. */
export type Fed = 'names' | 'words';

/** What a part of a pipeline is fed, if it is `xargs` and if that is known. */
export function fedTo(pipeline: Pipeline, part: SyntaxNode): Fed | undefined {
  if (part.type !== 'Command' || part.name?.value !== 'xargs') return undefined;
  const before = pipeline.commands.slice(0, pipeline.commands.indexOf(part));
  if ([...before, part].some(says)) return 'words';
  return areNames(pipeline, part) ? 'names' : undefined;
}

/** Whether a command has a text of its own that it may hand on. */
function says(node: SyntaxNode): boolean {
  if (node.type !== 'Command') return true;
  return SAYERS.test(node.name?.value ?? '') || node.redirects.some(({ type }) => type !== 'Redirect');
}

function areNames({ commands }: Pipeline, part: SyntaxNode): boolean {
  for (let at = commands.findIndex((each) => each === part) - 1; at >= 0; at -= 1) {
    const before = commands[at];
    if (before?.type !== 'Command' || before.prefix.length > 0 || before.redirects.some(isTelling)) return false;
    const words = wordsOf(before);
    if (words === undefined) return false;
    if (saysNames(before.name?.value, words)) return true;
    if (!isFilter(before.name?.value ?? '', words)) return false;
  }
  return false;
}

/** All but what is said of errors. */
function isTelling({ descriptor }: Redirection): boolean {
  return descriptor?.type !== 'FileDescriptor' || descriptor.value !== 2;
}

function saysNames(program: string | undefined, words: readonly string[]): boolean {
  const [first = ''] = words;
  if (program === 'find') return PLACE.test(first) && !words.some((word) => SAYS_MORE.test(word));
  // `grep -rl pattern place`
  const options = words.slice(0, -2);
  return (
    program === 'grep' &&
    options.length > 0 &&
    options.every((word) => /^-[rRlLiwFEnsI]+$|^--(?:include|exclude|exclude-dir)=/.test(word)) &&
    options.some((word) => /^-\w*[rR]/.test(word)) &&
    options.some((word) => /^-\w*[lL]/.test(word)) &&
    PLACE.test(words.at(-1) ?? '') &&
    !/^-/.test(words.at(-2) ?? '')
  );
}

function isFilter(program: string, words: readonly string[]): boolean {
  const operands = FILTERS.get(program);
  if (operands === undefined || words.some((word) => /^--|^-[a-zA-Z]*[oceftTSk]/.test(word))) return false;
  return words.filter((word) => !word.startsWith('-')).length === operands;
}

/** The words of a command; undefined where one of them is only known when it runs. */
function wordsOf({ args }: Command): readonly string[] | undefined {
  const words = args.map((arg) => (arg.type === 'Word' && !/[$`]/.test(arg.text) ? arg.value : undefined));
  return words.every((word) => word !== undefined) ? words : undefined;
}

/** The same consequences of `xargs`, with what is known of what it adds. */
export function adding(fed: Fed, consequences: readonly Consequence[]): readonly Consequence[] {
  const known = fed === 'names' ? asFound : asMade;
  return consequences.map((each) => (each.type === 'command' ? { ...each, fields: each.fields.map(known) } : each));
}

function asFound(field: Field): Field {
  return isAdded(field) ? { ...field, found: true } : field;
}

function asMade(field: Field): Field {
  return isAdded(field) ? { ...field, text: field.text.replace(HOLE, MADE) } : field;
}

function isAdded({ text }: Field): boolean {
  return text.startsWith(HOLE) && !text.startsWith(MADE);
}
