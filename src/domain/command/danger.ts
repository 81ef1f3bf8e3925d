import { commandsOf, type ShellCommand } from './parse.ts';
import { holdsHome, isAnybodys, isDisk, isMachine, isPillar, isSystem, placeOf } from './pillars.ts';

const ROOT: ReadonlySet<string> = new Set(['sudo', 'doas', 'su', 'runuser']);
/** The only programs that are looked at more closely. */
const DESTROYS: ReadonlySet<string> = new Set(
  (
    'rm srm wipe trash trash-put mv rsync find chmod chown chgrp chattr setfacl dd shred wipefs blkdiscard systemctl init ' +
    'shutdown reboot halt poweroff mke2fs mkdosfs mkntfs mkswap tar zip'
  ).split(' '),
);
const STOPS: ReadonlySet<string> = new Set(['shutdown', 'reboot', 'halt', 'poweroff']);

/**
 * Whether a command line, once run, is evidence of harm by itself: it wipes the system, a disk or a home, or does so to a
 * part of the system as root. Modest on purpose: what blocks a tool must be beyond doubt; what may run at all is the
 * business of the shell policy.
 */
export function isDangerous(command: unknown): boolean {
  const { commands, writes, forkBomb } = commandsOf(command);
  return forkBomb || writes.some(isMachine) || commands.some(isDestructive);
}

/** Whether one program, run like this, does such harm. */
export function isDestructive(run: Pick<ShellCommand, 'program' | 'args' | 'wrappers'>): boolean {
  if (!mayDestroy(run.program)) return false;
  const asRoot = run.wrappers.some((wrapper) => ROOT.has(wrapper));
  const { options, operands } = split(run.args);
  const places = operands.map(placeOf);
  switch (run.program) {
    case 'rm':
    case 'srm':
    case 'wipe': {
      const recursive = options.some(isRecursive);
      if (recursive && places.some(holdsHome)) return true;
      if (asRoot && recursive) return places.some((path) => isSystem(path) || isAnybodys(path));
      return asRoot && options.some(isForce) && places.some(isSystem);
    }
    case 'trash':
    case 'trash-put':
      return places.some(holdsHome);
    case 'mv': {
      const hasTarget = options.some((option) => /^(?:-\w*t|--t)/.test(option));
      return (hasTarget ? places : places.slice(0, -1)).some(isPillar);
    }
    case 'tar':
      return options.some((option) => option.startsWith('--remove-f')) && places.some(isPillar);
    case 'zip':
      return options.some((option) => /^(?:-\w*m|--move$)/.test(option)) && places.some(isPillar);
    case 'rsync':
      return options.some((option) => option.startsWith('--del')) && isPillar(places.at(-1) ?? '');
    case 'find': {
      const deletes = /^(?:-delete|(?:(?:\/usr)?\/bin\/)?(?:rm|unlink|shred|srm|wipe|truncate|mv))$/;
      return run.args.some((arg) => deletes.test(arg)) && places.some(holdsHome);
    }
    case 'chmod':
    case 'chown':
    case 'chgrp':
    case 'chattr':
    case 'setfacl':
      return options.some(isRecursive) && places.some(isPillar);
    case 'dd':
      return run.args.some((arg) => arg.startsWith('of=') && isMachine(arg.slice(3)));
    case 'shred':
    case 'wipefs':
    case 'blkdiscard':
      return operands.some(isDisk);
    case 'systemctl':
      return asRoot && run.args.some((arg) => STOPS.has(arg));
    case 'init':
      return asRoot && /^[06]$/.test(run.args[0] ?? '');
    default:
      if (STOPS.has(run.program)) return asRoot;
      return run.program.startsWith('mk') && places.some((path) => path.startsWith('/dev/'));
  }
}

export function mayDestroy(program: string): boolean {
  return DESTROYS.has(program) || program.startsWith('mkfs');
}

/** After `--` nothing is an option. */
function split(args: readonly string[]): { readonly options: readonly string[]; readonly operands: readonly string[] } {
  const end = args.indexOf('--');
  const before = end === -1 ? args : args.slice(0, end);
  const after = end === -1 ? [] : args.slice(end + 1);
  return {
    options: before.filter((arg) => /^-./.test(arg)),
    operands: [...before.filter((arg) => !arg.startsWith('-')), ...after],
  };
}

export function isRecursive(option: string): boolean {
  return isAbbreviated(option, '--recursive') || /^-[a-zA-Z]*[rR]/.test(option);
}

export function isForce(option: string): boolean {
  return isAbbreviated(option, '--force') || /^-[a-zA-Z]*f/.test(option);
}

/** GNU takes `--rec` for `--recursive`. */
export function isAbbreviated(option: string, name: string): boolean {
  return option.length > 2 && name.startsWith(option);
}
