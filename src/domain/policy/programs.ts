import { HOLE, literal, type Field } from '../command/expand.ts';
import { doubt, isUnsure, type Consequence } from './consequence.ts';

type Program = (args: readonly Field[], program: string) => readonly Consequence[];

const REST: Field = { text: HOLE, open: true, many: true, glob: false };

/** The commands that `find` runs. `{}` will be the name of a file. */
export function find(args: readonly Field[]): readonly Consequence[] {
  const commands: Consequence[] = [];
  for (let at = 0; at < args.length; at += 1) {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(args[at]?.text ?? '')) continue;
    const start = at + 1;
    while (at < args.length && !/^[;+]$/.test(args[at]?.text ?? '')) at += 1;
    commands.push({ type: 'command', fields: filled(args.slice(start, at), '{}') });
  }
  const unsure = args.some(({ many, glob }, at) => many && (!glob || at > 0)) || unknownCount(args) > 1;
  return unsure ? [...commands, ...doubt('what find is to run is only known when it runs')] : commands;
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
function scriptAfter(option: RegExp): Program {
  return (args) =>
    args.flatMap(({ text }, at): Consequence[] => {
      const found = option.exec(text);
      if (found === null) return [];
      const attached = found[1] ?? '';
      return [{ type: 'script', text: attached === '' ? (args[at + 1]?.text ?? '') : attached }];
    });
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

const SSH_VALUED = /^-[a-zA-Z]*[BbcDEeFIiJLlmOopQRSWw]$/;

const ssh: Program = (args, program) => {
  const commands = args.flatMap(({ text }, at): Consequence[] => {
    const option = /^-o(.*)$/s.exec(text);
    const setting = option === null ? '' : option[1] === '' ? (args[at + 1]?.text ?? '') : (option[1] ?? '');
    const command = /^(?:Proxy|Local|KnownHosts)Command[= ](.*)$/is.exec(setting)?.[1];
    return command === undefined ? [] : [{ type: 'script', text: command }, ...doubt(`${program} -o runs a command`)];
  });
  if (program !== 'ssh' && program !== 'autossh') return commands;
  let at = 0;
  while (at < args.length && /^-/.test(args[at]?.text ?? '')) at += SSH_VALUED.test(args[at]?.text ?? '') ? 2 : 1;
  const remote = args.slice(at + 1).map((arg) => arg.text);
  return remote.length === 0 ? commands : [...commands, { type: 'script', text: remote.join(' ') }];
};

const GIT_RUNS =
  /^(?:(?:core\.(?:pager|editor|sshCommand|fsmonitor|hooksPath|askpass|gitProxy)|alias\.|sequence\.|credential|.*\.(?:textconv|cmd|command|driver|clean|smudge|process|helper|tool)|diff\.external|pager\.|include|uploadpack|gpg|ssh))/i;

/** git runs commands named in its settings, and a few given as arguments. */
const git: Program = (args, program) => {
  const found: Consequence[] = [];
  let at = 0;
  for (; /^-/.test(args[at]?.text ?? ''); at += 1) {
    const { text = '' } = args[at] ?? {};
    if (/^-[cC]$|^--(?:git-dir|work-tree|namespace|exec-path|config-env)$/.test(text)) {
      const value = args[at + 1]?.text ?? '';
      if (text === '-c' && (GIT_RUNS.test(value) || value.startsWith(HOLE))) found.push(...doubt(`git -c ${value}`));
      at += 1;
    }
    if (/^--(?:config-env|exec-path=)/.test(text)) found.push(...doubt(`git ${text}`));
  }
  const [subcommand, ...rest] = args.slice(at);
  if (subcommand === undefined) return found;
  if (isUnsure([subcommand]) || isUnsure(args.slice(0, at)))
    return doubt(`what ${program} is to do is only known when it runs`);
  const words = rest.map((arg) => arg.text);
  switch (subcommand.text) {
    case 'bisect':
      return words[0] === 'run' ? [...found, { type: 'command', fields: rest.slice(1) }] : found;
    case 'submodule': {
      const each = words.indexOf('foreach');
      const script = words.slice(each + 1).filter((word, index) => index > 0 || !/^--/.test(word));
      return each === -1 ? found : [...found, { type: 'script', text: script.join(' ') }];
    }
    case 'rebase':
      return [...found, ...scriptAfter(/^(?:-x|--exec)(?:=?(.*))$/s)(rest, program)];
    case 'config':
      return words.some((word) => GIT_RUNS.test(word)) && words.length > 1 ? [...found, ...doubt('git config')] : found;
    case 'difftool':
    case 'mergetool':
    case 'filter-branch':
      return [...found, ...doubt(`git ${subcommand.text} runs commands`)];
    default: {
      const runs = /^(?:--(?:upload-pack|receive-pack|exec|extcmd|open-files-in-pager)\b|-O\S|ext::)/;
      return words.some((word) => runs.test(word))
        ? [...found, ...doubt(`git ${subcommand.text} runs a command`)]
        : found;
    }
  }
};

/** Options by which a program runs another one. */
function optionsThatRun(option: RegExp): Program {
  return (args, program) =>
    args.some(({ text }) => option.test(text)) ? doubt(`${program} runs what an option of it names`) : [];
}

const always: Program = (_, program) => doubt(`${program} runs what it is given, in its own way`);
const editor = optionsThatRun(/^(?:-[cSesEu]|\+|--cmd|--eval|--execute|-es|-f$)/);

export const PROGRAMS: Readonly<Record<string, Program>> = {
  find,
  git,
  ssh,
  autossh: ssh,
  scp: ssh,
  sftp: ssh,
  watch: joined(/^-n$|^--interval$/),
  su: scriptAfter(/^(?:-[a-z]*c|--command)(?:=(.*))?$/s),
  runuser: scriptAfter(/^(?:-[a-z]*c|--command)(?:=(.*))?$/s),
  script: (args, program) => [
    ...scriptAfter(/^(?:-[a-z]*c|--command)(?:=?(.*))$/s)(args, program),
    ...always(args, program),
  ],
  flock: scriptAfter(/^(?:-c|--command)(?:=(.*))?$/s),
  sg: joined(/^$/),
  tar: optionsThatRun(/^--(?:to-c|ch.*-a|use-c|rsh|info-s|new-v)|^-[a-zA-Z]*[IF]/),
  bsdtar: optionsThatRun(/^--use-compress/),
  zip: optionsThatRun(/^-[a-zA-Z]*TT|^--unzip/),
  rsync: optionsThatRun(/^-[a-zA-Z]*e|^--(?:rsh|rsync-path)/),
  sort: optionsThatRun(/^--comp/),
  split: optionsThatRun(/^--filter/),
  make: optionsThatRun(/^--eval|^-f-?$|^-E|SHELL=|^-[a-zA-Z]*f\/dev/),
  gmake: optionsThatRun(/^--eval|^-f-?$|^-E|SHELL=/),
  man: optionsThatRun(/^-[PH]|^--(?:pager|html)/),
  rg: optionsThatRun(/^--(?:pre|hostname-bin)/),
  fd: optionsThatRun(/^-[a-zA-Z]*[xX]|^--exec/),
  fdfind: optionsThatRun(/^-[a-zA-Z]*[xX]|^--exec/),
  vi: editor,
  vim: editor,
  nvim: editor,
  view: editor,
  emacs: editor,
  ...Object.fromEntries(
    (
      'parallel at batch crontab expect gdb lldb screen tmux nsenter unshare setarch linux32 linux64 systemd-run ex ed ' +
      'start-stop-daemon run-parts entr watchexec hyperfine xterm valgrind perf proot firejail bwrap runcon newgrp ' +
      'dbus-run-session xvfb-run cpulimit chpst softlimit prlimit setpriv capsh daemonize rlwrap socat nodemon m4 facter'
    )
      .split(' ')
      .map((name) => [name, always]),
  ),
};
