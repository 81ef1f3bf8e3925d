import { HOLE, literal, type Field } from '../command/expand.ts';
import { cargo } from './cargo.ts';
import { client, CLIENTS } from './clients.ts';
import { doubt, isUnsure, mayBeOption, type Consequence } from './consequence.ts';
import { git } from './git.ts';
import { gh, npm } from './packages.ts';
import { ssh } from './ssh.ts';
import { isStream } from './streams.ts';

export type Program = (args: readonly Field[], program: string) => readonly Consequence[];

const REST: Field = { text: HOLE, open: true, many: true, glob: false };

/** The commands that `find` runs. `{}` will be the name of a file. */
export function find(args: readonly Field[]): readonly Consequence[] {
  const commands: Consequence[] = [];
  for (let at = 0; at < args.length; at += 1) {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(args[at]?.text ?? '')) continue;
    const start = at + 1;
    at = endOfExec(args, at);
    const command = args.slice(start, at);
    commands.push({ type: 'command', fields: filled(command, '{}').map(found) });
    if (mayEndEarlier(command)) commands.push(...doubt('what find is to run is only known when it runs'));
  }
  const starts = args.slice(
    0,
    args.findIndex(({ text }) => /^[-(!]/.test(text) && !/^-(?:[HLP]|O\d)$/.test(text)),
  );
  if (args.some(({ text }) => text === '-delete'))
    commands.push({ type: 'command', fields: [literal('rm'), ...starts] });
  const unsure = args.some(({ many, glob }, at) => many && (!glob || at > 0)) || unknownCount(args) > 1;
  return unsure ? [...commands, ...doubt('what find is to run is only known when it runs')] : commands;
}

/** `fd … -x cmd {}`: everything up to a `;` is the command, and what is found is put where it says, or at its end. */
const fd: Program = (args, program) => {
  const at = args.findIndex(({ text }) => /^(?:-[a-zA-Z0-9]*[xX]$|--exec(?:-batch)?$)/.test(text));
  const own = at === -1 ? args : args.slice(0, at);
  const isAttached = own.some(({ text }) => /^(?:-[a-zA-Z0-9]*[xX].|--exec)/.test(text));
  const because = `${program} runs what an option of it names`;
  if (isAttached || own.some(mayBeOption)) return doubt(because);
  if (at === -1) return [];
  const end = args.findIndex(({ text }, index) => index > at && text === ';');
  if (end !== -1 && end < args.length - 1) return doubt(because);
  const command = args.slice(at + 1, end === -1 ? undefined : end);
  const fields = command.map((field) =>
    FOUND.test(field.text) ? found({ ...field, text: field.text.replace(FOUND, HOLE), open: true }) : field,
  );
  const isPlaced = fields.some((field, index) => field !== command[index]);
  return [{ type: 'command', fields: isPlaced ? fields : [...fields, { ...REST, found: true }] }];
};

const FOUND = /\{(?:\/?\.?|\/\/)\}/g;

/** `;` ends a command, `+` only right after `{}`: before it is an argument like any other. */
function endOfExec(args: readonly Field[], from: number): number {
  const endsAtPlus = /^-exec/.test(args[from]?.text ?? '');
  for (let at = from + 1; at < args.length; at += 1) {
    const { text } = args[at] ?? literal('');
    if (text === ';' || (endsAtPlus && text === '+' && args[at - 1]?.text === '{}')) return at;
  }
  return args.length;
}

/** What is not known may be the end, and then a command may follow that looks like an argument. */
function mayEndEarlier(command: readonly Field[]): boolean {
  const unknown = command.findIndex(({ text }) => text.startsWith(HOLE));
  return unknown !== -1 && command.slice(unknown).some(({ text }) => /^-(?:exec|ok)/.test(text));
}

/** One unknown argument cannot spell `-exec x ;`. */
function unknownCount(args: readonly Field[]): number {
  return args.filter(({ text }) => text.startsWith(HOLE)).length;
}

/** `xargs` adds to a command what it reads, or puts it in the place of a mark. */
export function xargs(args: readonly Field[], at: number | undefined): readonly Consequence[] {
  if (at === undefined) return [];
  const mark = markOf(args.slice(0, at));
  const command = args.slice(at);
  return [{ type: 'command', fields: mark === undefined ? [...command, REST] : filled(command, mark) }];
}

function markOf(options: readonly Field[]): string | undefined {
  for (const [at, { text }] of options.entries()) {
    const own = /^(?:-[0rtpxo]*[Ii](.+)|--replace=(.+))$/s.exec(text);
    if (own !== null) return own[1] ?? own[2];
    if (/^(?:-[0rtpxo]*i|--replace)$/.test(text)) return '{}';
    if (/^-[0rtpxo]*I$/.test(text)) return options[at + 1]?.text ?? '{}';
  }
  return undefined;
}

function filled(fields: readonly Field[], mark: string): readonly Field[] {
  return fields.map((field) =>
    field.text.includes(mark) ? { ...field, text: field.text.replaceAll(mark, HOLE), open: true } : field,
  );
}

function found(field: Field): Field {
  return field.text.startsWith(HOLE) ? { ...field, found: true } : field;
}

/** `env -S 'A=1 x y'` splits a text in its own way. */
export function splitString(args: readonly Field[]): readonly Consequence[] | undefined {
  for (const [at, { text }] of args.entries()) {
    const split = /^(?:-[iv0]*S(.*)|--split-string(?:=(.*))?)$/s.exec(text);
    if (split === null) {
      if (!/^-|=/.test(text)) return undefined;
      continue;
    }
    const attached = split[1] ?? split[2] ?? '';
    const [whole, after] = attached === '' ? [args[at + 1]?.text ?? '', at + 2] : [attached, at + 1];
    const words = whole.split(/\s+/).filter((word) => word !== '');
    const fields = [literal('env'), ...words.map(literal), ...args.slice(after)];
    const plain: Consequence[] = [{ type: 'command', fields }];
    return /["'\\$#\0]/.test(whole) ? [...plain, ...doubt('env -S reads quotes in its own way')] : plain;
  }
  return undefined;
}

/** The value of an option, attached or not, as a script. */
export function scriptAfter(option: RegExp): Program {
  return (args) =>
    args.flatMap(({ text }, at): Consequence[] => {
      const found = option.exec(text);
      if (found === null) return [];
      const attached = found[1] ?? '';
      return [{ type: 'script', text: attached === '' ? (args[at + 1]?.text ?? '') : attached }];
    });
}

/** An option, and everything after it, is a script. */
function joinedAfter(option: RegExp): Program {
  return (args) => {
    const at = args.findIndex(({ text }) => option.test(text));
    if (at === -1) return [];
    const first = option.exec(args[at]?.text ?? '')?.[1] ?? '';
    return [{ type: 'script', text: [first, ...args.slice(at + 1).map(({ text }) => text)].join(' ') }];
  };
}

/** Everything after the options, joined, is a script. */
function joined(valued: RegExp): Program {
  return (args) => {
    let at = 0;
    while (at < args.length && /^-/.test(args[at]?.text ?? '')) at += valued.test(args[at]?.text ?? '') ? 2 : 1;
    const text = args.slice(at).map((arg) => arg.text);
    return text.length === 0 ? [] : [{ type: 'script', text: text.join(' ') }];
  };
}

const SETS_OF_SCRIPTS = /^(?:npm|yarn|pnpm|bun|node|deno):/;

/** Everything that is no option is a script of its own, and so may be what an option is given. */
const eachScript: Program = (args) =>
  args.flatMap(({ text }): Consequence[] => {
    const given = text.startsWith('-') ? /^(?:--[\w-]+=|-\w=?)(.+)$/s.exec(text)?.[1] : text;
    return given === undefined || SETS_OF_SCRIPTS.test(given) ? [] : [{ type: 'script', text: given }];
  });

/** `{x}` in a command stands for what an option gives. */
const hyperfine: Program = (args, program) =>
  args.some(({ text }) => /[{\0]/.test(text)) ? always(args, program) : eachScript(args, program);

/** `entr cmd /_`: the command once more whenever a file changes, whose name takes the place of `/_`. */
const entr: Program = (args, program) => {
  const at = args.findIndex(({ text }) => !text.startsWith('-'));
  const options = at === -1 ? args : args.slice(0, at);
  const command = at === -1 ? [] : args.slice(at);
  if (isUnsure(options) || options.some(({ text }) => !/^-[acdnprxz]+$/.test(text)))
    return [{ type: 'command', fields: command }, ...always(args, program)];
  return [{ type: 'command', fields: filled(command, '/_').map(found) }];
};

/** Its command ends where `:::` begins what it is run for. */
const parallel: Program = (args, program) => {
  const end = args.findIndex(({ text }) => /^::::?\+?$/.test(text));
  const at = args.findIndex(({ text }) => !text.startsWith('-'));
  const fields = at === -1 ? [] : args.slice(at, end === -1 ? undefined : end);
  return [{ type: 'script', text: fields.map(({ text }) => text).join(' ') }, ...always(args, program)];
};

/** Unless what it is told is one of these, and no more than that, it may run anything. */
function unless(harmless: RegExp): Program {
  return (args, program) =>
    !isUnsure(args) && harmless.test(args.map(({ text }) => text).join(' ')) ? [] : always(args, program);
}

const always: Program = (_, program) => doubt(`${program} runs what it is given, in its own way`);

/** It runs code, or asks for some, if this is what its first operand says. */
function evaluatesAfter(subcommand: RegExp): Program {
  return (args, program) =>
    subcommand.test(args.find(({ text }) => !text.startsWith('-'))?.text ?? '') ? always(args, program) : [];
}

/** The same where options with values may stand before the subcommand. */
function evaluatesWith(subcommand: RegExp): Program {
  return (args, program) => (args.some(({ text }) => subcommand.test(text)) ? always(args, program) : []);
}

/** It runs the command among its operands, after so many of its own; by its options it may do more. */
function atOperand(own: number): Program {
  return (args, program) => {
    // A number is the value of an option: `nsenter -t 1 x`.
    const starts = args.flatMap(({ text }, at) => (/^-|=|^\d+$/.test(text) ? [] : [at]));
    const commands = starts.slice(0, own + 1).map((at): Consequence => ({ type: 'command', fields: args.slice(at) }));
    return [...commands, ...always(args, program)];
  };
}

function commandAfter(args: readonly Field[], mark: string): readonly Consequence[] {
  const at = args.findIndex(({ text }) => text === mark);
  return at === -1 ? [] : [{ type: 'command', fields: args.slice(at + 1) }];
}

/** All of its options have their values attached. */
const valgrind: Program = (args, program) => {
  const at = args.findIndex(({ text }) => !text.startsWith('-'));
  const own = at === -1 ? args : args.slice(0, at);
  const isPlain = !isUnsure(own) && own.every(({ text }) => /^(?:-[qvhd]|--(?!tool=\W)[\w-]+(?:=.*)?)$/.test(text));
  const command: readonly Consequence[] = at === -1 ? [] : [{ type: 'command', fields: args.slice(at) }];
  return isPlain ? command : [...command, ...always(args, program)];
};

const LOADER_VALUED = /^--(?:library-path|preload|argv0|inhibit-rpath|audit|glibc-hwcaps-\w+)$/;

/** The dynamic loader runs the program it is given. */
export const loader: Program = (args) => {
  const at = args.findIndex(({ text }, index) => !/^-/.test(text) && !LOADER_VALUED.test(args[index - 1]?.text ?? ''));
  return at === -1 ? [] : [{ type: 'command', fields: args.slice(at) }];
};

/** What only looks; `#(x)` in a format runs x, and `;` begins another command. */
const TMUX_LOOKS =
  /^(?:-V|(?:ls|lsw|lsp|lsc|has|list-\w+|has-session|info|show|show-\w+|capture-pane|kill-session|attach)(?: [^#;]*)?)$/;

export const PROGRAMS: Readonly<Record<string, Program>> = {
  ...table(CLIENTS.join(' '), client),
  find,
  git,
  ssh,
  autossh: ssh,
  scp: ssh,
  sftp: (args, program) => [...ssh(args, program), ...client(args, program)],
  npm,
  pnpm: npm,
  yarn: npm,
  gh,
  glab: gh,
  hub: gh,
  concurrently: eachScript,
  hyperfine,
  entr,
  cargo,
  parallel,
  fd,
  fdfind: fd,
  at: unless(/^-[lV]$/),
  ansible: scriptAfter(/^(?:-a|--args=?)(.*)$/s),
  crontab: unless(/^(?:-u \w+ )?-l$/),
  tmux: unless(TMUX_LOOKS),
  screen: unless(/^-(?:ls|list|v)$/),
  lftp: unless(/^(?:-[vh]|--(?:version|help))$/),
  watch: joined(/^-n$|^--interval$/),
  su: scriptAfter(/^(?:-[a-z]*c|--command)(?:=(.*))?$/s),
  runuser: scriptAfter(/^(?:-[a-z]*c|--command)(?:=(.*))?$/s),
  script: (args, program) => [
    ...scriptAfter(/^(?:-[a-z]*c|--command)(?:=?(.*))$/s)(args, program),
    ...always(args, program),
  ],
  flock: scriptAfter(/^(?:-c|--command)(?:=(.*))?$/s),
  sg: (args, program) => [
    ...scriptAfter(/^-c$/)(args, program),
    // ast-grep goes by the same name.
    ...(/^(?:run|scan|test|new|lsp|completions|help|-.*)$/.test(args[0]?.text ?? '') ? [] : always(args, program)),
  ],
  valgrind,
  rails: evaluatesAfter(/^(?:runner|r|console|c)$/),
  ...table('manage.py django-admin flask', evaluatesWith(/^(?:shell|shell_plus|dbshell)$/)),
  artisan: evaluatesAfter(/^(?:tinker|db)$/),
  mix: evaluatesAfter(/^eval$/),
  crystal: evaluatesAfter(/^eval$/),
  ln: (args, program) =>
    args.some(({ text }) => text !== '-' && isStream(text))
      ? doubt(`${program} makes a stream go by another name`)
      : [],
  'dpkg-architecture': joinedAfter(/^(?:-c|--command)=?(.*)$/s),
  'gpg-agent': (args) => {
    const at = args.findIndex(({ text }) => text === '--daemon');
    const command = args.slice(at + 1).findIndex(({ text }) => !text.startsWith('-'));
    return at === -1 || command === -1 ? [] : [{ type: 'command', fields: args.slice(at + 1 + command) }];
  },
  dc: (args, program) =>
    args.some(({ text }) => /^(?:-[eV]|--(?:expr|version|help))/.test(text))
      ? args.flatMap(({ text }) => (/[!\0]/.test(text) ? always(args, program) : []))
      : [{ type: 'input' }],
  gdb: (args, program) => [...commandAfter(args, '--args'), ...always(args, program)],
  lldb: (args, program) => [...commandAfter(args, '--'), ...always(args, program)],
  ...table(
    'batch expect ex ed start-stop-daemon run-parts watchexec xterm perf newgrp daemonize socat ' +
      'nodemon m4 facter dbus-send gdbus busctl machinectl capsh',
    always,
  ),
  ...table(
    'nsenter unshare linux32 linux64 systemd-run proot firejail bwrap dbus-run-session xvfb-run cpulimit prlimit setpriv rlwrap',
    atOperand(0),
  ),
  ...table('setarch runcon chpst softlimit gosu su-exec setuidgid s6-setuidgid', atOperand(1)),
};

function table(names: string, program: Program): Readonly<Record<string, Program>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, program]));
}
