import { MATCH, type Field } from '../command/expand.ts';
import { isElsewhere, localFiles } from './elsewhere.ts';
import { formOf, GIT_LOOKS, LOOKS, SPEAKS, type Form } from './path-forms.ts';
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
}

export interface Named {
  readonly path: string;
  readonly intent: PathIntent;
  /** Whether the program is known to take this for a file; else it is a guess. */
  readonly certain: boolean;
  /** It begins in this directory, named by an option: `-C x`. */
  readonly below?: string;
}

const URL = /^(?!file:)[a-z][a-z0-9+.-]*:\/\//i;
const REMOTE = /^(?:[\w.-]+@)?[\w.-]+:/;
const PLAIN = /^[\w./][\w./-]*$/;
const IN_PLACE = /^(?:-[a-zA-Z]*i|--in-place)/;
const ENTERED = /^(?:-C|--directory|--chdir|--cwd|--work-tree|--prefix|--dir)$/;
const OUTPUT = /^(?:-o|-O|-out|--out|--output(?:-[a-z]+)?|--out-?(?:file|dir))$/;
/** Options of everybody's whose values are words. */
const SAID =
  /^--(?:grep|author|committer|since|until|after|before|format|pretty|message|date|title|body|label|filter|base|delimiter|regexp|expression|pattern|name|user|host|url|uri|path-prefix|template)$/;

/** The files among a program's arguments: those that it is known to take, and every other word that may be one. */
export function pathsOf(program: string, args: readonly Field[]): readonly Named[] {
  if (args.length === 0 || SPEAKS.has(program)) return [];
  const texts = args.map(({ text }) => text);
  if (program === 'find') return foundBy(texts);
  if (program === 'dd') return copiedBy(texts);
  if (isElsewhere(program, texts)) return localFiles(texts).map((path) => guess(path, 'write'));
  const form = formOf(program);
  return form === undefined ? guesses(program, texts) : known(program, form, texts);
}

function guess(path: string, intent: PathIntent): Named {
  return { path, intent, certain: false };
}

function known(program: string, form: Form, args: readonly string[]): readonly Named[] {
  const { plain = '', reads = '', writes = '', plainLong, pattern } = form;
  const found: Named[] = [];
  const operands: string[] = [];
  const all = operandsOf(program, form, args);
  const guessed = all === 'read' ? 'read' : 'write';
  const note = (text: string, intent: PathIntent) => isWord(text) && found.push({ path: text, intent, certain: true });
  let isOver = false;
  for (let at = 0; at < args.length; at += 1) {
    const text = args[at] ?? '';
    if (isOver || !/^-./s.test(text)) {
      operands.push(text);
    } else if (text === '--') isOver = true;
    else if (text.startsWith('--')) {
      const [name = '', ...rest] = text.split('=');
      const isPlain = plainLong?.test(name) === true;
      if (rest.length === 0) at += isPlain ? 1 : 0;
      else if (/^--(?:output|target-directory)$/.test(name)) note(rest.join('='), 'write');
      else if (!isPlain) found.push(...guessesIn(rest.join('='), guessed));
    } else {
      // The first letter that takes a value ends the cluster.
      const valued = plain + reads + writes;
      let letter = 1;
      while (letter < text.length && !valued.includes(text.charAt(letter))) letter += 1;
      const option = text.charAt(letter);
      const attached = text.slice(letter + 1);
      if (option === '') found.push(...guessesIn(text, guessed));
      else {
        // Somewhere these take a number only if it is attached.
        const isCount = /^[ABCml]$/.test(option) && plain.includes(option) && !/^\d/.test(args[at + 1] ?? '');
        const value = attached !== '' ? attached : isCount ? undefined : args[++at];
        if (value !== undefined && writes.includes(option)) note(value, 'write');
        else if (value !== undefined && reads.includes(option)) note(value, 'read');
      }
    }
  }
  const isTold = pattern === undefined || args.some((text) => pattern.test(text));
  const files = (isTold ? operands : operands.slice(1)).filter(
    (text) => !(/^(?:scp|rsync)$/.test(program) && REMOTE.test(text)),
  );
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

function operandsOf(program: string, { operands }: Form, args: readonly string[]): Form['operands'] {
  if (/^(?:g?sed|gawk)$/.test(program) && args.some((text) => IN_PLACE.test(text))) return 'both';
  if (
    /^(?:g(?:un)?zip|b(?:un)?zip2|(?:un)?xz|zstd)$/.test(program) &&
    args.some((text) => /^-[a-zA-Z]*[cltk]|^--(?:stdout|list|test|keep)/.test(text))
  )
    return 'read';
  return operands;
}

/** Every word of a program that nobody here knows, in every spelling. */
function guesses(program: string, args: readonly string[]): readonly Named[] {
  const intent = isLooking(program, args) ? 'read' : 'write';
  const found: Named[] = [];
  const entered: string[] = [];
  for (const [at, text] of args.entries()) {
    const before = args[at - 1] ?? '';
    // Most words are plain.
    if (!text.startsWith('-') && !before.startsWith('-')) {
      found.push(...guessesIn(text, intent));
      continue;
    }
    if (SAID.test(before) || (program === 'git' && /^-[a-zA-Z]*[mSG]$/.test(before))) continue;
    if (program === 'git' && /^-[a-zA-Z]*[mSG]./.test(text)) continue;
    const [name = '', value] = /^(-[^=]+)=(.*)$/s.exec(text)?.slice(1) ?? [];
    if (SAID.test(name)) continue;
    if (ENTERED.test(before)) entered.push(text);
    if (value !== undefined && ENTERED.test(name)) entered.push(value);
    if (/^-C./.test(text)) entered.push(text.slice(2));
    const isOutput = OUTPUT.test(before) || OUTPUT.test(name);
    found.push(...guessesIn(text, isOutput ? 'write' : intent));
  }
  if (entered.length === 0) return found;
  const belows = entered.filter((each) => isWord(each) && !each.includes('\0'));
  return [...found, ...belows.slice(0, 4).flatMap((below) => found.map((each) => ({ ...each, below })))];
}

function isLooking(program: string, args: readonly string[]): boolean {
  if (program === 'git')
    return (
      GIT_LOOKS.has(args.find((text) => !text.startsWith('-')) ?? '') &&
      !args.some((text) => OUTPUT.test(text.replace(/=.*$/s, '')))
    );
  return LOOKS.has(program) && !args.some((text) => text.startsWith('-'));
}

/** `x`, `--file=x`, `-fx`, `-cfx`, `of=x`, `@x`, `file:x`. */
function guessesIn(text: string, intent: PathIntent): readonly Named[] {
  if (PLAIN.test(text)) return [guess(text, intent)];
  const found: string[] = [];
  const equals = text.indexOf('=');
  if (equals > 0) found.push(text.slice(equals + 1));
  if (!text.startsWith('-')) found.push(text);
  else if (!text.startsWith('--') && text.length > 3) {
    // Where the value begins only the program knows: after one letter, after some, or where a path begins.
    const rooted = text.search(/[./~]/);
    const begins = rooted === 2 ? [2] : new Set([2, 3, 4, Math.max(rooted, 2)]);
    for (const at of begins) if (text.length > at + 1) found.push(text.slice(at));
  }
  return found
    .map((each) => each.replace(/^(?:@|file:(?:\/\/)?)/, ''))
    .filter((each) => isWord(each) && isTelling(each))
    .map((each) => guess(each, intent));
}

function isWord(text: string): boolean {
  return text !== '' && text !== '-' && !(text.includes('://') && URL.test(text));
}

/** Of what is not known only that counts which looks like a path. */
function isTelling(text: string): boolean {
  return !/[\0\uffff]/.test(text.replaceAll(MATCH, '*')) || text.includes('/') || text.startsWith('~');
}

function foundBy(args: readonly string[]): readonly Named[] {
  const end = args.findIndex((text) => /^[-(!]/.test(text) && !/^-(?:[HLP]|O\d)$/.test(text));
  const starts = (end === -1 ? args : args.slice(0, end)).filter((text) => !text.startsWith('-'));
  const found = starts.map((path): Named => ({ path, intent: 'read', certain: true }));
  for (const [at, text] of args.entries()) {
    const path = args[at + 1];
    if (path === undefined) continue;
    if (/^-(?:[acm]?newer|newer[aBcmt]{2}|samefile|files0-from)$/.test(text))
      found.push({ path, intent: 'read', certain: true });
    if (/^-(?:fprint0?|fprintf|fls)$/.test(text)) found.push({ path, intent: 'write', certain: true });
  }
  return found;
}

function copiedBy(args: readonly string[]): readonly Named[] {
  return args.flatMap((text): Named[] => {
    const [, name, path] = /^(if|of)=(.+)$/s.exec(text) ?? [];
    return path === undefined ? [] : [{ path, intent: name === 'of' ? 'write' : 'read', certain: true }];
  });
}

/** As a person would write it: what nobody knows is shown as `…`, and what a glob matches as `*`. */
export function namedPath(text: string): Pick<CommandPath, 'path' | 'known'> {
  // Most paths are plain.
  if (!/[\0\uffff~]/.test(text)) return { path: text, known: true };
  const path = text.replaceAll(MATCH, '*');
  // Whose home `~name` is, and where `~+` and `~-` are, only the running shell knows.
  return { path: path.replace(/[\0\uffff]/g, '…'), known: !/[\0\uffff]/.test(path) && !/^~[^/]/.test(path) };
}
