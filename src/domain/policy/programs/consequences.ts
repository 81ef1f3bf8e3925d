import { HOLE, type Field } from '../../command/expand.ts';
import { wrappedBy } from '../../command/wrappers.ts';
import { awk } from './awk.ts';
import { doubt, isUnsure, type Consequence } from './consequence.ts';
import { xargs } from './found-files.ts';
import { loader, splitString } from './given-commands.ts';
import { interpreter } from './interpreters.ts';
import { knownProgram, type KnownProgram } from './known-program.ts';
import { runByOptions } from './options.ts';
import { commandOfRunner, scriptsOfRunner, startsShell } from './runners.ts';
import { sed } from './sed.ts';
import { shell } from './shells.ts';

const MOST_GUESSES = 6;

/** What a program does beyond itself, as far as its arguments tell. */
export function consequencesOf(program: string, args: readonly Field[]): readonly Consequence[] {
  const known = knownProgram(program);
  if (known.builtin !== undefined) return known.builtin(args, program);
  if (known.isShell) return shell(program, args);
  if (known.language !== undefined) {
    const code = interpreter(program, known.language, args);
    return known.isRunner ? joined(code, runner(program, args)) : code;
  }
  if (known.isAwk) return awk(program, args);
  if (known.isSed) return sed(program, args);
  const special = joined(
    known.special?.(args, program) ?? NOTHING,
    known.options === undefined ? NOTHING : runByOptions(known.options, args, program),
  );
  // What `watch` runs it hands to a shell.
  if (known.isLoader) return joined(special, loader(args, program));
  if (known.isWrapper && program !== 'watch') return joined(special, wrapping(program, args));
  if (known.isRunner) return joined(special, runner(program, args));
  const fed: readonly Consequence[] = known.isEditor ? [{ type: 'input' }] : NOTHING;
  return special.length > 0 || known.takesWords ? joined(special, fed) : joined(fed, guesses(program, args));
}

const NOTHING: readonly Consequence[] = [];

function joined(some: readonly Consequence[], others: readonly Consequence[]): readonly Consequence[] {
  if (some.length === 0) return others;
  return others.length === 0 ? some : [...some, ...others];
}

function wrapping(program: string, args: readonly Field[]): readonly Consequence[] {
  const found = wrappedBy(
    program,
    args.map(({ text }) => text),
  );
  if (found === undefined) return NOTHING;
  const { at, sure } = found;
  const before = args.slice(0, at ?? args.length);
  const split = program === 'env' && before.every(isPlainOption) ? splitString(args) : undefined;
  if (split !== undefined) return split;
  const consequences: Consequence[] = [];
  const isSplit = before.some(({ expanded }) => expanded === 'split');
  if (!sure || isSplit || isUnsure(before))
    consequences.push(...doubt(`what ${program} is to run is only known when it runs`));
  if (program === 'chroot' && at === undefined) consequences.push({ type: 'input' });
  if (program === 'exec' && before.length > 0)
    consequences.push(...doubt('by another name, or as a login shell, a program may do something else'));
  if (program === 'env') consequences.push(...environment(before));
  if (program === 'xargs') consequences.push(...xargs(args, at));
  else if (at !== undefined) consequences.push({ type: 'command', fields: args.slice(at) });
  return sure ? consequences : [...consequences, ...guesses(program, before)];
}

/** `-u -Sx` names a variable that is called `-Sx`. */
function isPlainOption({ text }: Field): boolean {
  return !/^-[i0v]*[uC]$|^--(?:unset|chdir)$/.test(text);
}

function environment(before: readonly Field[]): readonly Consequence[] {
  return before.flatMap(({ text }, at): Consequence[] => {
    const [, name, value] = /^([^-=][^=]*)=(.*)$/s.exec(text) ?? [];
    const unset =
      /^(?:-u|--unset=)(.+)$/s.exec(text)?.[1] ??
      (/^-[i0v]*u$|^--unset$/.test(before[at - 1]?.text ?? '') ? text : undefined);
    if (unset !== undefined) return [{ type: 'variable', name: unset, value: '' }];
    return name === undefined || value === undefined ? [] : [{ type: 'variable', name, value }];
  });
}

function runner(program: string, args: readonly Field[]): readonly Consequence[] {
  if (startsShell(program, args)) return [{ type: 'input' }];
  const command = commandOfRunner(program, args);
  const scripts = scriptsOfRunner(program, args, command);
  if (command === undefined && scripts.length === 0) return [];
  const run: Consequence[] =
    command === undefined
      ? []
      : [{ type: 'command', fields: command.fields, ...(command.sure ? {} : { maybe: true as const }) }];
  return [
    ...run,
    ...scripts.map((text): Consequence => ({ type: 'script', text })),
    ...(command?.sure === true ? [] : guesses(program, args)),
  ];
}

/** Wherever an argument looks like the beginning of a command, it may be one. */
function guesses(program: string, args: readonly Field[]): readonly Consequence[] {
  const starts = args
    .flatMap(({ text }, at) => (at < 64 && startsCommand(text, at + 1 === args.length) ? [at] : []))
    .slice(0, MOST_GUESSES);
  const maybe = knownProgram(program).isRunner ? {} : { maybe: true as const };
  return starts.map((at): Consequence => ({ type: 'command', fields: args.slice(at), ...maybe }));
}

/** Programs whose names are words that many others use for something of their own. */
const WORDS: ReadonlySet<string> = new Set(
  'at batch ed ex script screen perf parallel entr mail ftp sftp telnet'.split(' '),
);

function startsCommand(text: string, isLast: boolean): boolean {
  const name = text.slice(text.lastIndexOf('/') + 1).toLowerCase();
  if (name === '' || name.includes(HOLE) || name.startsWith('-')) return false;
  const known = knownProgram(name);
  if (known.isShell || known.language !== undefined || known.isWrapper || name === 'eval') return true;
  return !isLast && isFollowed(name, known);
}

/** Whether we know by which of its arguments a program runs others. */
function isFollowed(name: string, { special, isAwk, isSed, isRunner, options }: KnownProgram): boolean {
  if (special !== undefined) return !WORDS.has(name);
  return isAwk || isSed || isRunner || options !== undefined;
}
