import { MATCH, type Field } from '../../command/expand.ts';
import { isContainerProgram, isElsewhere, localFiles } from '../programs/elsewhere.ts';
import { formOf, GIT_LOOKS, LOOKS, SPEAKS, type Form } from './forms.ts';
import { listedElsewhere } from './lists.ts';
import { guess, guessesIn, isWord, spokenPaths } from './guesses.ts';
import { OWN_GRAMMAR } from './own-grammar.ts';
import type { Starts } from './whereabouts.ts';

export type PathIntent = 'read' | 'write';

/** A file that a command names, as far as its text tells. `known` is false where a part of it is not. */
export interface CommandPath {
  readonly path: string;
  /** Of a guess, `write` is: read or written. */
  readonly intent: PathIntent;
  readonly known: boolean;
  readonly start: number;
  readonly end: number;
  /** Where it begins, if it is relative: any of these. */
  readonly starts: Starts;
  /** What lies below it is touched as well. */
  readonly takes?: readonly Takes[];
}

/**
 * `links`: what links below it lead to. `copied`, `moved`: all that lies below it comes to have another name. `shown`: what files below it
 * hold is said, or packed.
 */
export type Takes = 'links' | 'copied' | 'moved' | 'shown';

export interface Named {
  readonly path: string;
  readonly intent: PathIntent;
  /** Whether the program is known to take this for a file; else it is a guess. */
  readonly certain: boolean;
  /** It begins in this directory, named by an option: `-C x`. */
  readonly below?: string;
  /** What lies below it is touched as well. */
  readonly takes?: readonly Takes[];
}

const REMOTE = /^(?:[\w.-]+@)?[\w.-]+:/;
const IN_PLACE = /^(?:-[a-zA-Z]*i|--i)/;
/** Of programs that compress; a letter with a value ends what is a cluster. */
const KEEPS_ITS_FILE = /^(?:-(?![^cltk]*[SFTDMbo])[a-zA-Z0-9]*[cltk]|--(?:stdout|list|test|keep))/;
/** Long options of known programs whose values are written. */
const OUTPUTS = 'output target-directory log-file backup-dir partial-dir temp-dir temporary-directory'.split(' ');
const ENTERED = /^(?:-C|--directory|--chdir|--cwd|--work-tree|--prefix|--dir)$/;
const OUTPUT = /^(?:-o|-O|-out|--out|--output(?:-[a-z]+)?|--out-?(?:file|dir))$/;
/** Options of everybody's whose values are words. */
const SAID =
  /^--(?:grep|author|committer|since|until|after|before|format|pretty|message|date|title|body|label|filter|base|delimiter|regexp|expression|pattern|name|user|host|url|uri|path-prefix|template)$/;

/** A word that looks like a file elsewhere, whatever its option is called: to some programs `--body` is one. */
const OUTSIDE = /^(?:(?:~|\.\.)\/\S+|\/[^\s/]+\/\S+)$/;

/** The files among a program's arguments: those that it is known to take, and every other word that may be one. */
export function pathsOf(program: string, args: readonly Field[]): readonly Named[] {
  if (args.length === 0 || SPEAKS.has(program)) return [];
  const listed = listedElsewhere(program, args);
  return listed.length === 0 ? namedPaths(program, args) : [...listed, ...namedPaths(program, args)];
}

function namedPaths(program: string, args: readonly Field[]): readonly Named[] {
  const form = formOf(program);
  if (form !== undefined) return known(program, form, args);
  const own = OWN_GRAMMAR.get(program);
  if (own !== undefined) return own(args);
  const texts = args.map(({ text }) => text);
  if (isElsewhere(program, texts)) return localFiles(texts).map((path) => guess(path, 'write'));
  if (!isContainerProgram(program)) return guesses(program, texts);
  return [...guesses(program, texts), ...localFiles(texts).map((path) => guess(path, 'write'))];
}

function known(program: string, form: Form, args: readonly Field[]): readonly Named[] {
  const { plain = '', reads = '', writes = '', plainLong, pattern } = form;
  const found: Named[] = [];
  const operands: Field[] = [];
  const all = operandsOf(program, form, args);
  const guessed = all === 'read' && !isWriting(form) ? 'read' : 'write';
  const note = (text: string, intent: PathIntent) => isWord(text) && found.push({ path: text, intent, certain: true });
  let isOver = false;
  let isTold = pattern === undefined;
  for (let at = 0; at < args.length; at += 1) {
    const field = args[at];
    const text = field?.text ?? '';
    if (isOver || !/^-./s.test(text)) {
      if (field !== undefined) operands.push(field);
    } else if (text === '--') isOver = true;
    else if (form.handsOn?.test(text) === true)
      found.push(...handedOn(text).flatMap((part) => guessesIn(part, 'write')));
    else if (text.startsWith('--')) {
      const [name = '', ...rest] = text.split('=');
      const isPlain = plainLong?.test(name) === true;
      isTold ||= pattern !== undefined && isBeginning(name, pattern.names);
      const value = rest.length === 0 ? args[at + 1]?.text : rest.join('=');
      if (guessed === 'write' && isBeginning(name, OUTPUTS)) note(value ?? '', 'write');
      else if (form.readsLong?.test(name) === true) note(value ?? '', 'read');
      else if (rest.length > 0) found.push(...(isPlain ? [] : guessesIn(value ?? '', guessed)));
      else if (isPlain) found.push(...spokenPaths(args[++at], guessed));
    } else if (form.words?.test(text) === true) found.push(...guessesIn(text, guessed));
    else if (form.flags?.test(text) !== true) {
      // The first letter that takes a value ends the cluster.
      const valued = plain + reads + writes;
      let letter = 1;
      while (letter < text.length && !valued.includes(text.charAt(letter))) {
        isTold ||= pattern?.letters.includes(text.charAt(letter)) === true;
        letter += 1;
      }
      const option = text.charAt(letter);
      const attached = text.slice(letter + 1);
      if (option === '') found.push(...guessesIn(text, guessed));
      else {
        isTold ||= pattern?.letters.includes(option) === true;
        // Somewhere these take a number only if it is attached.
        const isCount = /^[ABCml]$/.test(option) && plain.includes(option) && !/^\d/.test(args[at + 1]?.text ?? '');
        const value = attached !== '' || isCount ? attached : (args[++at]?.text ?? '');
        if (writes.includes(option)) note(value, 'write');
        else if (reads.includes(option)) note(value, 'read');
        else if (attached === '' && !isCount) found.push(...spokenPaths(args[at], guessed));
      }
    }
  }
  if (!isTold) found.push(...spokenPaths(operands.shift(), guessed));
  const files = operands
    .map(({ text }) => text)
    .filter((text) => !(/^(?:scp|rsync)$/.test(program) && REMOTE.test(text)));
  if (all === 'none') return [...found, ...files.flatMap((text) => guessesIn(text, guessed))];
  files.forEach((text, at) => {
    const isLast = at === files.length - 1;
    const isTarget =
      (form.writesLast === true && isLast && files.length > 1) || (form.writesSecond === true && at === 1);
    if (!isTarget && all !== 'write') note(text, 'read');
    if (isTarget || all !== 'read') note(text, 'write');
  });
  return found;
}

/** Where libraries are looked for once it runs, and what a library is called, is written down and no more. */
const WRITTEN_DOWN = /^--?(?:rpath(?:-link)?|soname|z)$/;

function handedOn(option: string): readonly string[] {
  const parts = option.split(',');
  return parts.filter((part, nth) => nth > 0 && !WRITTEN_DOWN.test(parts[nth - 1] ?? '') && !/^--?rpath/.test(part));
}

/** Long options may be cut short. */
function isBeginning(option: string, names: readonly string[]): boolean {
  return option.length > 2 && names.some((name) => name.startsWith(option.slice(2)));
}

function isWriting({ writes, writesLast, writesSecond }: Form): boolean {
  return writes !== undefined || writesLast === true || writesSecond === true;
}

function operandsOf(program: string, { operands }: Form, args: readonly Field[]): Form['operands'] {
  if (/^(?:g?sed|g?awk)$/.test(program) && args.some(({ text }) => IN_PLACE.test(text))) return 'both';
  if (
    /^(?:g(?:un)?zip|b(?:un)?zip2|(?:un)?xz|zstd)$/.test(program) &&
    args.some(({ text }) => KEEPS_ITS_FILE.test(text))
  )
    return 'read';
  return operands;
}

/** Every word of a program that nobody here knows, in every spelling. */
function guesses(program: string, args: readonly string[]): readonly Named[] {
  const intent = isLooking(program, args) ? 'read' : 'write';
  const found: Named[] = [];
  const entered: string[] = [];
  let text = '';
  for (const next of args) {
    const before = text;
    text = next;
    // Most words are plain.
    if (!text.startsWith('-') && !before.startsWith('-')) {
      found.push(...guessesIn(text, intent));
      continue;
    }
    if (program === 'git' && (/^-[a-zA-Z]*[mSG]$/.test(before) || /^-[a-zA-Z]*[mSG]./.test(text))) continue;
    const said = before.startsWith('-') ? optionOf(before) : undefined;
    const equals = text.startsWith('-') ? text.indexOf('=', 2) : -1;
    const own = equals === -1 ? undefined : optionOf(text.slice(0, equals));
    if (said === 'said' && !OUTSIDE.test(text)) continue;
    if (own === 'said' && !OUTSIDE.test(text.slice(equals + 1))) continue;
    if (said === 'entered') entered.push(text);
    if (own === 'entered') entered.push(text.slice(equals + 1));
    if (text.startsWith('-C') && text.length > 2) entered.push(text.slice(2));
    found.push(...guessesIn(text, said === 'output' || own === 'output' ? 'write' : intent));
  }
  if (entered.length === 0) return found;
  const belows = entered.filter((each) => isWord(each) && !each.includes('\0'));
  return [...found, ...belows.slice(0, 4).flatMap((below) => found.map((each) => ({ ...each, below })))];
}

function optionOf(name: string): 'said' | 'entered' | 'output' | undefined {
  if (ENTERED.test(name)) return 'entered';
  if (OUTPUT.test(name)) return 'output';
  return SAID.test(name) ? 'said' : undefined;
}

function isLooking(program: string, args: readonly string[]): boolean {
  if (program === 'git')
    return (
      GIT_LOOKS.has(args.find((text) => !text.startsWith('-')) ?? '') &&
      !args.some((text) => OUTPUT.test(text.replace(/=.*$/s, '')))
    );
  return LOOKS.has(program) && !args.some((text) => text.startsWith('-'));
}

/** As a person would write it: what nobody knows is shown as `…`, and what a glob matches as `*`. */
export function namedPath(text: string): Pick<CommandPath, 'path' | 'known'> {
  // Most paths are plain.
  if (!/[\0\uffff~]/.test(text)) return { path: text, known: true };
  const path = text.replaceAll(MATCH, '*');
  // Whose home `~name` is, and where `~+` and `~-` are, only the running shell knows.
  return { path: path.replace(/[\0\uffff]\ufdd1?/g, '…'), known: !/[\0\uffff]/.test(path) && !/^~[^/]/.test(path) };
}
