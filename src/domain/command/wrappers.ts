/** Programs that run another program named in their own arguments, and how to find it there. */
interface Wrapper {
  /** Short options that take a value, as one string of letters. */
  readonly valued?: string;
  readonly valuedLong?: readonly string[];
  /** Arguments of the wrapper's own before the command: the duration of `timeout`. */
  readonly positional?: number;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    valued: 'ugpChDRTUrt',
    valuedLong: ['user', 'group', 'prompt', 'close-from', 'host', 'chdir', 'chroot', 'command-timeout', 'other-user'],
  },
  doas: { valued: 'uC' },
  env: { valued: 'uC', valuedLong: ['unset', 'chdir'] },
  nice: { valued: 'n', valuedLong: ['adjustment'] },
  ionice: { valued: 'cn', valuedLong: ['class', 'classdata'] },
  timeout: { valued: 'ks', valuedLong: ['kill-after', 'signal'], positional: 1 },
  time: { valued: 'fo', valuedLong: ['format', 'output'] },
  exec: { valued: 'a' },
  stdbuf: { valued: 'ioe', valuedLong: ['input', 'output', 'error'] },
  xargs: { valued: 'ILnPsdEa', valuedLong: ['max-args', 'max-procs', 'replace', 'delimiter', 'arg-file', 'max-lines'] },
  chroot: { valuedLong: ['userspec', 'groups'], positional: 1 },
  flock: { valued: 'wE', valuedLong: ['wait', 'timeout', 'conflict-exit-code'], positional: 1 },
  taskset: { positional: 1 },
  chrt: { positional: 1 },
  watch: { valued: 'n', valuedLong: ['interval'] },
  strace: { valued: 'eopsuEPO' },
  nohup: {},
  setsid: {},
  command: {},
  builtin: {},
  busybox: {},
  unbuffer: {},
  caffeinate: { valued: 'tw' },
};

/** `/usr/bin/git` and `git.exe` are git. */
export function programName(text: string): string {
  const base = text.split(/[/\\]/).findLast((part) => part !== '') ?? text;
  return base.replace(/(?:\.exe)+$/i, '') || base;
}

/** Index in `args` of the command that `program` runs; undefined if it runs none or is no wrapper. */
export function wrappedAt(program: string, args: readonly string[]): number | undefined {
  const wrapper = Object.hasOwn(WRAPPERS, program) ? WRAPPERS[program] : undefined;
  if (wrapper === undefined) return undefined;
  // `command -v git` asks where git is.
  if (program === 'command' && /^-[vV]/.test(args[0] ?? '')) return undefined;
  let own = wrapper.positional ?? 0;
  let index = 0;
  while (index < args.length) {
    const arg = args[index] ?? '';
    if (arg === '--') index += 1;
    else if (arg.startsWith('-') && arg !== '-') index += optionLength(arg, wrapper);
    else if (/^[A-Za-z_]\w*=/.test(arg) && (program === 'env' || program === 'sudo')) index += 1;
    else if (own > 0) {
      own -= 1;
      index += 1;
    } else return index;
  }
  return undefined;
}

/** How many arguments an option takes up, its value included. */
function optionLength(arg: string, wrapper: Wrapper): number {
  if (arg.startsWith('--')) return wrapper.valuedLong?.includes(arg.slice(2)) === true ? 2 : 1;
  // In a cluster such as `-nu root` only the last letter can take the next argument as its value.
  const letters = Array.from(arg.slice(1));
  const valued = letters.findIndex((letter) => wrapper.valued?.includes(letter) === true);
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

/** The commands that `find` runs: `-exec`, `-execdir`, `-ok` and `-okdir`, each up to `;` or `+`. */
export function findCommands(args: readonly string[]): readonly (readonly string[])[] {
  return args.flatMap((arg, index) => {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(arg)) return [];
    const rest = args.slice(index + 1);
    const end = rest.findIndex((each) => each === ';' || each === '+');
    return [end === -1 ? rest : rest.slice(0, end)];
  });
}
