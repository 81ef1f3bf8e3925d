import type { Field } from '../command/expand.ts';
import { withoutDots } from '../files/path-text.ts';
import { matchesGlob } from '../key/glob.ts';
import { gitSubcommand, isGitSubcommand } from './programs/git-subcommands.ts';
import type { Run } from './reading/reading.ts';

/** Whether a pattern matches; `maybe` where it depends on what is only known when the command runs. */
export type Match = 'yes' | 'maybe' | 'no';

/** A program and words that follow it in this order: `git push --force` is also `git push origin main --force`. */
export interface CommandPattern {
  readonly text: string;
  readonly program: string;
  readonly isGlob: boolean;
  readonly words: readonly string[];
}

export function commandPattern(text: string): CommandPattern {
  const [program = '', ...words] = text.trim().toLowerCase().split(/\s+/);
  return { text, program, isGlob: /[*?]/.test(program), words };
}

/** `-rf`: letters, whichever words they stand in. */
const BUNDLE = /^-[a-z]{2,4}$/;
/** They take one subcommand; words behind that are about other things: `npm install publish` publishes nothing. */
const SUBCOMMANDED = new Set('systemctl loginctl kubectl npm helm terraform cargo pip pip3 apt apt-get'.split(' '));

export function matchesCommand({ program, isGlob, words }: CommandPattern, run: Pick<Run, 'program' | 'args'>): Match {
  if (program !== run.program && !(isGlob && matchesGlob(program, run.program))) return 'no';
  const wanted = words.filter((word) => !(BUNDLE.test(word) && hasLetters(run.args, word)));
  if (wanted.length === 0) return 'yes';
  if (program === 'git' && isOtherSubcommand(wanted, run.args)) return 'no';
  const args = SUBCOMMANDED.has(run.program) && isBehindSubcommand(wanted, run.args) ? [] : run.args;
  let next = 0;
  let sure = true;
  for (const arg of args) {
    const word = wanted[next];
    if (word === undefined) break;
    if (matchesWord(word, arg.text)) next += 1;
    else if (arg.many && arg.open) return 'maybe';
    else if (arg.open && matchesGlob(loose(arg.text), word, { ignoreCase: true })) {
      next += 1;
      sure = false;
    }
  }
  if (next < wanted.length) return 'no';
  return sure ? 'yes' : 'maybe';
}

function hasLetters(args: readonly Field[], bundle: string): boolean {
  const given = args.map(({ text }) => /^-([a-z]{1,5})$/i.exec(text)?.[1]?.toLowerCase() ?? '').join('');
  return Array.from(bundle.slice(1)).every((letter) => given.includes(letter));
}

/** Whether a plain word stands where the subcommand does, and it is another one than what is wanted. */
function isBehindSubcommand([first = '']: readonly string[], args: readonly Field[]): boolean {
  if (!/^[a-z][\w-]*$/.test(first)) return false;
  const at = args.findIndex(({ text, open }, index) => {
    // Behind an option it may be the option's value.
    return open || (!/^[-+]|=/.test(text) && !/^-[^=]*$/.test(args[index - 1]?.text ?? ''));
  });
  return at !== -1 && args[at]?.open !== true && !args.slice(0, at + 1).some(({ text }) => matchesWord(first, text));
}

/** What comes after `git log`, known or not, makes no `git push` of it. */
function isOtherSubcommand([first = '']: readonly string[], args: readonly Field[]): boolean {
  if (!isGitSubcommand(first)) return false;
  const subcommand = gitSubcommand(args);
  return subcommand !== undefined && subcommand !== first;
}

function matchesWord(word: string, arg: string): boolean {
  // `-f` is also the f of `-uf`.
  if (/^-[a-z]$/.test(word) && /^-[a-z]+$/i.test(arg)) return arg.toLowerCase().includes(word.slice(1), 1);
  return word === arg || matchesGlob(word, arg, { ignoreCase: true });
}

/** A glob over a program and its arguments, set apart by one blank. */
export interface GlobPattern {
  readonly text: string;
  readonly program: string;
}

export function globPattern(text: string): GlobPattern {
  return { text, program: text.trim().split(/\s+/)[0] ?? '' };
}

/** `lines` are the program with its arguments as they are known, in one or more ways to write them. */
export function matchesLine({ text, program }: GlobPattern, lines: readonly string[], run: Run): Match {
  if (lines.some((line) => matchesGlob(text, line, { ignoreCase: true }))) return 'yes';
  const isOpen = run.args.some(({ open, many }) => open || many);
  return isOpen && matchesGlob(program, run.program, { ignoreCase: true }) ? 'maybe' : 'no';
}

function lineOf({ program, args }: Pick<Run, 'program' | 'args'>): string {
  return [program, ...args.map(({ text }) => text)].join(' ');
}

/** Where systems keep programs a path is as good as the name. */
const INSTALLED = /^(?:\/usr(?:\/local)?)?\/s?bin\/[^/]+$/;

/** A program with its arguments, by the name or the path that it was called by. */
export function linesWritten(run: Run): readonly string[] {
  const { text } = run.name;
  if (!text.includes('/') || INSTALLED.test(text)) return [lineOf(run)];
  // `./ls` is no `ls`.
  const paths = [text, withoutDots(text)].filter((each) => each.includes('/'));
  return paths.map((called) => lineOf({ ...run, program: called }));
}

const MOST_WAYS = 8;

/** The same without options in front, whose values only the program knows: `git -C x push` is `git push`. */
export function waysOf(run: Run): readonly string[] {
  const { program, args } = run;
  const ways = [lineOf(run)];
  for (let at = 0; at < args.length && ways.length < MOST_WAYS; at += 1) {
    const text = args[at]?.text ?? '';
    if (text.startsWith('-')) continue;
    if (at > 0) ways.push([program, ...args.slice(at).map((arg) => arg.text)].join(' '));
    // Behind an option it may be the option's value.
    if (!/^-[^=]*$/.test(args[at - 1]?.text ?? '')) break;
  }
  // As it was called, for rules that say where it lies.
  if (run.name.text.includes('/')) ways.push(lineOf({ program: withoutDots(run.name.text), args }));
  return ways;
}

/** Whether a name of which only a part is known may turn out to be this program. Nothing known is no ground to say so. */
export function mayBe(name: Field, program: string): boolean {
  const shape = loose(name.text.slice(name.text.lastIndexOf('/') + 1));
  return shape.replace(/[*?]/g, '').length > 1 && matchesGlob(shape, program, { ignoreCase: true });
}

function loose(text: string): string {
  return text.replace(/\[[^\]]*\]?|[\0\uffff][\ufdd0\ufdd1]?/g, '*');
}
