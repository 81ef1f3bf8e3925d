import { normalisePath } from '../key/directory.ts';
import { commandsOf, type ShellCommand } from './parse.ts';

/** Taking away one of these takes away the machine or everything a person has on it. */
const PILLARS: ReadonlySet<string> = new Set(
  (
    '/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /var /usr/bin /usr/lib ' +
    '/usr/sbin /Applications /Library /System /Users ~ $HOME ${HOME}'
  ).split(' '),
);
/** Beneath these lies what the system itself needs; installers write to /usr/local, /opt and deep into /var. */
const SYSTEM = /^\/(?:(?:bin|boot|dev|etc|lib|lib32|lib64|proc|sbin|sys|usr(?!\/local))(?:\/|$)|var\/[^/]*$)/;
const DISPOSABLE = /^\/(?:tmp|var\/(?:tmp|cache|log)|root\/\.cache)(?:\/|$)/;
const DISK = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|md\d|dm-)/;
const ROOT: ReadonlySet<string> = new Set(['sudo', 'doas', 'su', 'runuser']);
const STOPS: ReadonlySet<string> = new Set(['shutdown', 'reboot', 'halt', 'poweroff']);

/**
 * Whether a command line, once run, is evidence of harm by itself: it wipes the system, a disk or a home, or does so to a
 * part of the system as root. Modest on purpose: what blocks a tool must be beyond doubt; what may run at all is the
 * business of the shell policy.
 */
export function isDangerous(command: unknown): boolean {
  const { commands, writes, forkBomb } = commandsOf(command);
  return forkBomb || writes.some((file) => DISK.test(file)) || commands.some(isDestructive);
}

/** Whether one program, run like this, does such harm. */
export function isDestructive(run: Pick<ShellCommand, 'program' | 'args' | 'wrappers'>): boolean {
  const asRoot = run.wrappers.some((wrapper) => ROOT.has(wrapper));
  const options = run.args.filter((arg) => /^-./.test(arg));
  const targets = run.args.filter((arg) => !arg.startsWith('-')).map(target);
  switch (run.program) {
    case 'rm': {
      const recursive = options.some(isRecursive);
      if (recursive && targets.some((path) => PILLARS.has(path))) return true;
      if (asRoot && recursive) return targets.some((path) => isSystem(path) || isAnybodys(path));
      return asRoot && options.some((option) => /^-\w*f/.test(option)) && targets.some(isSystem);
    }
    case 'find': {
      const deletes = /^(?:-delete|rm|\/bin\/rm|\/usr\/bin\/rm)$/;
      return run.args.some((arg) => deletes.test(arg)) && targets.some((path) => PILLARS.has(path));
    }
    case 'chmod':
    case 'chown':
    case 'chgrp':
      return options.some(isRecursive) && targets.some((path) => PILLARS.has(path));
    case 'dd':
      return run.args.some((arg) => arg.startsWith('of=') && DISK.test(arg.slice(3)));
    case 'shred':
    case 'wipefs':
      return targets.some((path) => DISK.test(path));
    case 'systemctl':
      return asRoot && run.args.some((arg) => STOPS.has(arg));
    case 'init':
      return asRoot && /^[06]$/.test(run.args[0] ?? '');
    default:
      if (STOPS.has(run.program)) return asRoot;
      return run.program.startsWith('mkfs') && targets.some((path) => path.startsWith('/dev/'));
  }
}

/** A disk as a whole, or a part of one. */
export function isDisk(path: string): boolean {
  return DISK.test(path);
}

/** Something that takes the machine, or all that a person has on it, along when it goes. */
export function isPillar(path: string): boolean {
  return PILLARS.has(target(path));
}

export function isRecursive(option: string): boolean {
  return option === '--recursive' || /^-[a-zA-Z]*[rR]/.test(option);
}

function isSystem(path: string): boolean {
  return PILLARS.has(path) || SYSTEM.test(path);
}

/**
 * Where everybody's things lie: a directory at the top of the tree or right beneath one, or wherever one happens to be.
 * What is deeper, has a name below the working directory, or is made to be thrown away, is everyday work.
 */
function isAnybodys(path: string): boolean {
  return /^(?:\/[^/]+(?:\/[^/]+)?|\*|\.{1,2})$/.test(path) && !DISPOSABLE.test(path);
}

/** Everything in a directory (`/etc/*`) is the directory. */
function target(arg: string): string {
  return normalisePath(arg.replace(/\/(?:\*|\.\*|\{\*,\.\*\})$/, '/'));
}
