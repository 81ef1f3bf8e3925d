import { HOLE, type Field } from '../command/expand.ts';
import { wrappedBy } from '../command/wrappers.ts';
import { awk } from './awk.ts';
import { builtin } from './builtins.ts';
import { doubt, isUnsure, type Consequence } from './consequence.ts';
import { interpreter, interpreterOf } from './interpreters.ts';
import { runByOptions, runningOptionsOf } from './options.ts';
import { loader, PROGRAMS, splitString, xargs } from './programs.ts';
import { commandOfRunner, isRunner, scriptOfRunner } from './runners.ts';
import { sed } from './sed.ts';
import { isShell, shell } from './shells.ts';

/** They take words as words: `grep sudo`, `man curl`, `apt install wget`. What surety runs is judged by `own-commands.ts`. */
const TAKES_WORDS: ReadonlySet<string> = new Set(
  (
    'echo printf cat tac grep egrep fgrep zgrep rg ag ack ls ll cd pushd git gh glab hub man info which whereis type ' +
    'whatis apropos apt apt-get apt-cache aptitude dpkg brew dnf yum rpm apk pacman snap pip pip3 pipx gem cargo go ' +
    'rustup npm yarn pnpm composer test [ export declare local readonly typeset unset set head tail wc sort uniq diff ' +
    'comm cut tr paste column mkdir rmdir rm touch basename dirname realpath readlink stat file tree du df kill pkill ' +
    'pgrep killall ps top jq yq sed awk gawk mawk nawk find ln cp mv install command hash id groups getent date expr seq ' +
    'true false : read exit return test tee sha256sum md5sum cksum tldr code open xdg-open systemctl journalctl service ' +
    'surety'
  ).split(' '),
);
const MOST_GUESSES = 6;

/** What a program does beyond itself, as far as its arguments tell. */
export function consequencesOf(program: string, args: readonly Field[]): readonly Consequence[] {
  const own = builtin(program);
  if (own !== undefined) return own(args, program);
  if (isShell(program)) return shell(program, args);
  const language = interpreterOf(program);
  if (language !== undefined) return interpreter(program, language, args);
  if (isAwk(program)) return awk(program, args);
  if (isSed(program)) return sed(program, args);
  const options = runningOptionsOf(program);
  const special = [
    ...(Object.hasOwn(PROGRAMS, program) ? (PROGRAMS[program]?.(args, program) ?? []) : []),
    ...(options === undefined ? [] : runByOptions(options, args, program)),
  ];
  const wrapped = wrapping(program, args);
  if (wrapped !== undefined) return special.length === 0 ? wrapped : [...special, ...wrapped];
  return special.length > 0 || TAKES_WORDS.has(program) || isRunner(program)
    ? [...special, ...runner(program, args)]
    : guesses(program, args);
}

function wrapping(program: string, args: readonly Field[]): readonly Consequence[] | undefined {
  if (program === 'watch') return undefined;
  if (/^ld[-.].*so/.test(program)) return loader(args, program);
  const found = wrappedBy(
    program,
    args.map(({ text }) => text),
  );
  if (found === undefined) return undefined;
  const split = program === 'env' ? splitString(args) : undefined;
  if (split !== undefined) return split;
  const { at, sure } = found;
  const before = args.slice(0, at ?? args.length);
  const consequences: Consequence[] = [];
  if (!sure || isUnsure(before)) consequences.push(...doubt(`what ${program} is to run is only known when it runs`));
  if (program === 'env') consequences.push(...environment(before));
  if (program === 'xargs') consequences.push(...xargs(args, at));
  else if (at !== undefined) consequences.push({ type: 'command', fields: args.slice(at) });
  return sure ? consequences : [...consequences, ...guesses(program, before)];
}

function environment(before: readonly Field[]): readonly Consequence[] {
  return before.flatMap(({ text }): Consequence[] => {
    const [, name, value] = /^([^-=][^=]*)=(.*)$/s.exec(text) ?? [];
    return name === undefined || value === undefined ? [] : [{ type: 'variable', name, value }];
  });
}

function runner(program: string, args: readonly Field[]): readonly Consequence[] {
  const command = commandOfRunner(program, args);
  const script = scriptOfRunner(program, args);
  if (command === undefined && script === undefined) return [];
  const run: Consequence[] =
    command === undefined
      ? []
      : [{ type: 'command', fields: command.fields, ...(command.sure ? {} : { maybe: true as const }) }];
  return [
    ...run,
    ...(script === undefined ? [] : [{ type: 'script', text: script } as const]),
    ...(command?.sure === true ? [] : guesses(program, args)),
  ];
}

function isAwk(program: string): boolean {
  return /^(?:[gmn]|original-|go)?awk$/.test(program);
}

function isSed(program: string): boolean {
  return /^[gs]?sed$/.test(program);
}

/** Wherever an argument looks like the beginning of a command, it may be one. */
function guesses(program: string, args: readonly Field[]): readonly Consequence[] {
  const starts = args
    .flatMap(({ text }, at) => (at < 64 && startsCommand(text, at + 1 === args.length) ? [at] : []))
    .slice(0, MOST_GUESSES);
  return starts.map((at): Consequence => ({
    type: 'command',
    fields: args.slice(at),
    ...(isRunner(program) ? {} : { maybe: true as const }),
  }));
}

/** Programs whose names are words that many others use for something of their own. */
const WORDS: ReadonlySet<string> = new Set('at batch ed ex script screen perf parallel entr'.split(' '));

function startsCommand(text: string, isLast: boolean): boolean {
  const name = text.slice(text.lastIndexOf('/') + 1).toLowerCase();
  if (name === '' || name.includes(HOLE) || name.startsWith('-')) return false;
  return (
    isShell(name) ||
    interpreterOf(name) !== undefined ||
    wrappedBy(name, []) !== undefined ||
    name === 'eval' ||
    (!isLast && isFollowed(name))
  );
}

/** Whether we know by which of its arguments a program runs others. */
function isFollowed(name: string): boolean {
  if (Object.hasOwn(PROGRAMS, name)) return !WORDS.has(name);
  return isAwk(name) || isSed(name) || isRunner(name) || runningOptionsOf(name) !== undefined;
}

/** Whether a program's arguments are but words to it, so that the name of another program among them means nothing. */
export function takesWords(program: string): boolean {
  return TAKES_WORDS.has(program) || isShell(program) || interpreterOf(program) !== undefined;
}

/** They say or look for what they are given, or hand it on as a command that is read by itself. */
const SPEAKS: ReadonlySet<string> = new Set(
  (
    'pytest jest vitest mocha rspec playwright cypress ava ctest phpunit dotnet bats cucumber behave logger notify-send say wall ' +
    'figlet cowsay zenity whiptail espeak redis-cli codespell ssh autossh scp sftp watch flock parallel'
  ).split(' '),
);

/** Whether a program may run what stands inside of its arguments: all but those of which we know better. */
export function mayRunArguments(program: string): boolean {
  return (
    !takesWords(program) &&
    !SPEAKS.has(program) &&
    builtin(program) === undefined &&
    wrappedBy(program, []) === undefined
  );
}

/** Whether nobody here knows what a program does with its arguments. */
export function isStranger(program: string): boolean {
  return (
    !takesWords(program) &&
    builtin(program) === undefined &&
    !Object.hasOwn(PROGRAMS, program) &&
    runningOptionsOf(program) === undefined &&
    wrappedBy(program, []) === undefined
  );
}
