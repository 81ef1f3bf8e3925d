/** Programs that run another program named in their own arguments, and how to find it there. */
interface Wrapper {
  /** Short options without a value, as one string of letters. */
  readonly flags?: string;
  readonly flagsLong?: readonly string[];
  /** Short options that take a value, as one string of letters. */
  readonly valued?: string;
  readonly valuedLong?: readonly string[];
  /** Short options whose value, if any, is attached to them. */
  readonly attached?: string;
  /** Arguments of the wrapper's own before the command: the duration of `timeout`. */
  readonly positional?: number;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    flags: 'ABbEeHiKklnPSsVv',
    valued: 'ugpChDRTUrt',
    valuedLong: ['user', 'group', 'prompt', 'close-from', 'host', 'chdir', 'chroot', 'command-timeout', 'other-user'],
  },
  doas: { flags: 'Lns', valued: 'uC' },
  env: {
    flags: 'iv0',
    flagsLong: [
      'ignore-environment',
      'null',
      'debug',
      'list-signal-handling',
      'block-signal',
      'default-signal',
      'ignore-signal',
    ],
    valued: 'uC',
    valuedLong: ['unset', 'chdir'],
  },
  nice: { flags: '0123456789', valued: 'n', valuedLong: ['adjustment'] },
  ionice: { flags: 't0123', flagsLong: ['ignore'], valued: 'cn', valuedLong: ['class', 'classdata'] },
  timeout: {
    flags: 'fpv',
    flagsLong: ['foreground', 'preserve-status', 'verbose'],
    valued: 'ks',
    valuedLong: ['kill-after', 'signal'],
    positional: 1,
  },
  time: {
    flags: 'apvqV',
    flagsLong: ['append', 'portability', 'verbose', 'quiet'],
    valued: 'fo',
    valuedLong: ['format', 'output'],
  },
  exec: { flags: 'cl', valued: 'a' },
  stdbuf: { valued: 'ioe', valuedLong: ['input', 'output', 'error'] },
  xargs: {
    flags: '0rtpxo',
    attached: 'ile',
    flagsLong: ['null', 'no-run-if-empty', 'verbose', 'interactive', 'exit', 'open-tty', 'replace', 'max-lines', 'eof'],
    valued: 'ILnPsdEa',
    valuedLong: ['max-args', 'max-procs', 'max-chars', 'delimiter', 'arg-file', 'process-slot-var'],
  },
  chroot: { flagsLong: ['skip-chdir'], valuedLong: ['userspec', 'groups'], positional: 1 },
  flock: {
    flags: 'nsuxeoFv',
    flagsLong: ['nonblock', 'nb', 'shared', 'exclusive', 'unlock', 'close', 'no-fork', 'verbose'],
    valued: 'wE',
    valuedLong: ['wait', 'timeout', 'conflict-exit-code'],
    positional: 1,
  },
  taskset: { flags: 'ac', flagsLong: ['all-tasks', 'cpu-list'], positional: 1 },
  chrt: { flags: 'bfiorRv', valued: 'TPD', positional: 1 },
  watch: { flags: 'bcdegptxw', valued: 'n', valuedLong: ['interval'] },
  strace: { flags: 'cCdfFhiknqrtTvVwxyzZ', valued: 'aeIoOpPsSuUbX' },
  ltrace: { flags: 'bcCfhiLrStTV', valued: 'aAeFlnopsuwx' },
  sshpass: { flags: 'ehvV', valued: 'pfdP' },
  nohup: {},
  setsid: { flags: 'cfw', flagsLong: ['ctty', 'fork', 'wait'] },
  command: { flags: 'p' },
  builtin: {},
  busybox: {},
  toybox: {},
  unbuffer: { flags: 'p' },
  caffeinate: { flags: 'dimsu', valued: 'tw' },
  pkexec: { valuedLong: ['user'] },
  fakeroot: { flags: 'uhv', valued: 'lsifb' },
  eatmydata: {},
  chronic: { flags: 've' },
  choom: { valued: 'np', valuedLong: ['adjust', 'pid'] },
  'ssh-agent': { flags: 'cdDks', valued: 'aEOPt' },
  logsave: { flags: 'asv', positional: 1 },
  numactl: { flags: 'alsHV', valued: 'iIpPNcCm' },
  'systemd-cat': {
    valued: 'tpl',
    valuedLong: ['identifier', 'priority', 'stderr-priority', 'level-prefix', 'namespace'],
  },
  'systemd-inhibit': {
    flagsLong: ['list', 'no-pager', 'no-legend', 'no-ask-password'],
    valuedLong: ['what', 'who', 'why', 'mode'],
  },
  faketime: { flags: 'mf', positional: 1 },
  ifne: { flags: 'n' },
  tini: { flags: 'sgvwh', valued: 'pe' },
  'dumb-init': { flags: 'cvh', flagsLong: ['single-child', 'verbose'], valued: 'r', valuedLong: ['rewrite'] },
};

/** `/usr/bin/git` and `git.exe` are git. */
export function programName(text: string): string {
  // Most programs are named by their name.
  if (!text.includes('/') && !text.includes('\\') && !(text.includes('.') && /\.exe$/i.test(text))) return text;
  const base = text.split(/[/\\]/).findLast((part) => part !== '') ?? text;
  // From the first of a row on: from each of them it would take as long as there are more.
  return base.replace(/(?<!\.exe)(?:\.exe)+$/i, '') || base;
}

/** Index in `args` of the command that `program` runs; undefined if it runs none or is no wrapper. */
export function wrappedAt(program: string, args: readonly string[]): number | undefined {
  return wrappedBy(program, args)?.at;
}

/** The same, and whether every option before the command is known; undefined if it is no wrapper. */
export function wrappedBy(
  program: string,
  args: readonly string[],
): { readonly at: number | undefined; readonly sure: boolean } | undefined {
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  if (wrapper === undefined) return undefined;
  // `command -v git` asks where git is.
  if (program === 'command' && /^-p?[vV]/.test(args[0] ?? '')) return { at: undefined, sure: true };
  let own = wrapper.positional ?? 0;
  let index = 0;
  let sure = true;
  while (index < args.length) {
    const arg = args[index] ?? '';
    if (arg === '--') index += 1;
    else if (arg === '-' && program === 'env') index += 1;
    else if (arg.startsWith('-') && arg !== '-') {
      const length = optionLength(arg, wrapper);
      // What looks like an option may be one to whoever reads them in another way.
      if (!isKnown(arg, wrapper) || (length > 1 && /^-\D/.test(args[index + 1] ?? ''))) sure = false;
      index += length;
    } else if (/^[^=]+=/s.test(arg) && (program === 'env' || program === 'sudo')) index += 1;
    else if (own > 0) {
      own -= 1;
      index += 1;
    } else return { at: index, sure };
  }
  return { at: undefined, sure };
}

function isKnown(arg: string, wrapper: Wrapper): boolean {
  if (arg.startsWith('--')) {
    const name = arg.slice(2).split('=', 1)[0] ?? '';
    return wrapper.flagsLong?.includes(name) === true || wrapper.valuedLong?.includes(name) === true;
  }
  // What follows a valued letter in a cluster is its value.
  for (const letter of arg.slice(1)) {
    if (wrapper.valued?.includes(letter) === true || wrapper.attached?.includes(letter) === true) return true;
    if (wrapper.flags?.includes(letter) !== true) return false;
  }
  return true;
}

/** How many arguments an option takes up, its value included. */
function optionLength(arg: string, wrapper: Wrapper): number {
  if (arg.startsWith('--')) return wrapper.valuedLong?.includes(arg.slice(2)) === true ? 2 : 1;
  // In a cluster such as `-nu root` only the last letter can take the next argument as its value.
  const letters = Array.from(arg.slice(1));
  const attached = letters.findIndex((letter) => wrapper.attached?.includes(letter) === true);
  const valued = letters.findIndex((letter) => wrapper.valued?.includes(letter) === true);
  if (attached !== -1 && (valued === -1 || attached < valued)) return 1;
  return valued !== -1 && valued === letters.length - 1 ? 2 : 1;
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'ash', 'fish']);

export function isShell(program: string): boolean {
  return SHELLS.has(program);
}

/** The script given as text: `bash -lc '…'`, `su -c '…'`, `env -S '…'`, `eval …`. */
export function scriptText(program: string, args: readonly string[]): string | undefined {
  if (program === 'eval') return args.join(' ');
  if (program === 'env') return after(args, /^-[a-z]*S$/);
  if (program === 'su' || program === 'runuser') return after(args, /^(?:-[a-z]*c|--command)$/);
  if (!isShell(program)) return undefined;
  const options = args.findIndex((arg, index) => !/^[-+]/.test(arg) && !/^[-+][oO]$/.test(args[index - 1] ?? ''));
  return after(args.slice(0, options === -1 ? args.length : options + 1), /^-[a-zA-Z]*c$/);
}

function after(args: readonly string[], option: RegExp): string | undefined {
  const at = args.findIndex((arg) => option.test(arg));
  return at === -1 ? undefined : args[at + 1];
}

/** The commands that `find` runs: `-exec`, `-execdir`, `-ok` and `-okdir`, each up to `;`, or `+` after `{}`. */
export function findCommands(args: readonly string[]): readonly (readonly string[])[] {
  return args.flatMap((arg, index) => {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(arg)) return [];
    const rest = args.slice(index + 1);
    const end = rest.findIndex((each, at) => each === ';' || (each === '+' && rest[at - 1] === '{}'));
    return [end === -1 ? rest : rest.slice(0, end)];
  });
}
