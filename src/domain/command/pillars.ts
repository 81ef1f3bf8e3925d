import { matchesGlob } from '../key/glob.ts';
import { normalisePath } from '../key/directory.ts';

/** Stands for wherever somebody's home is. */
const A_HOME = '/home/~';
/** Taking away one of these takes away the machine or everything a person has on it. */
const PILLARS: ReadonlySet<string> = new Set(
  (
    '/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /var /usr/bin /usr/lib ' +
    `/usr/sbin /usr/share /var/lib /Applications /Library /System /Users ${A_HOME}`
  ).split(' '),
);
/** Beneath these lies what the system itself needs; installers write to /usr/local, /opt and deep into /var. */
const SYSTEM = /^\/(?:(?:bin|boot|dev|etc|lib|lib32|lib64|proc|sbin|sys|usr(?!\/local))(?:\/|$)|var\/[^/]*$)/;
const DISPOSABLE = /^\/(?:tmp|var\/(?:tmp|cache|log)|root\/\.cache)(?:\/|$)/;
const DISK = /^\/dev\/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper\/|md\d|dm-|[^/]*[*?[])/;
/** Writing here is no writing to files: memory, power, the kernel. */
const KERNEL = /^\/(?:dev\/(?:k?mem|port)|proc\/sysrq-trigger|sys\/power\/\w+|proc\/(?:self|\d+)\/mem)$/;
const HOME = /^(?:~(?![+-](?:\/|$))[^/]*|\$HOME|\$\{HOME\})(?=\/|$)/;
const PROCESS_ROOT = /^\/+proc\/+[^/]+\/+root(?=\/|$)/;
/** A last name that stands for everything in a directory. */
const EVERYTHING = /^(?:|\.?\*+|\.?\[[^\]]*-[^\]]*\]\*+|\.?\?+\*+|\.\[[!^]\.\]\*+|\{\*,\.\*\})$/;
const SOMEBODYS_HOME = /^\/(?:home|Users)\/[^/]+$/;

/** Where an operand leads, as far as its text tells. Everything in a directory (`/etc/*`) is the directory. */
export function placeOf(operand: string): string {
  const names = operand.replace(HOME, A_HOME).replace(PROCESS_ROOT, '/').split('/');
  while (names.length > 1 && EVERYTHING.test(names.at(-1) ?? '')) names.pop();
  return normalisePath(names.length === 1 && names[0] === '' ? '/' : names.join('/'));
}

/** Something that takes the machine, or all that a person has on it, along when it goes. Takes what `placeOf` answers. */
export function isPillar(place: string): boolean {
  if (!place.startsWith('/')) return false;
  if (!/[*?[]/.test(place)) return PILLARS.has(place);
  const pattern = place.replace(/\[[^\]]*\]?/g, '?');
  return [...PILLARS].some((pillar) => sameDepth(pillar, pattern) && matchesGlob(pattern, pillar));
}

/** What a person has on the machine, or more. */
export function holdsHome(place: string): boolean {
  return isPillar(place) || SOMEBODYS_HOME.test(place);
}

function sameDepth(one: string, other: string): boolean {
  return one !== '/' && one.split('/').length === other.split('/').length;
}

export function isSystem(place: string): boolean {
  return isPillar(place) || SYSTEM.test(place);
}

/**
 * Where everybody's things lie: a directory at the top of the tree or right beneath one, or wherever one happens to be.
 * What is deeper, has a name below the working directory, or is made to be thrown away, is everyday work.
 */
export function isAnybodys(place: string): boolean {
  return /^(?:\/[^/]+(?:\/[^/]+)?|\*|\.{1,2})$/.test(place) && !DISPOSABLE.test(place);
}

/** A disk as a whole, or a part of one. */
export function isDisk(path: string): boolean {
  return path.includes('/dev') && DISK.test(normalisePath(path));
}

/** Where a write reaches the machine itself. */
export function isMachine(path: string): boolean {
  return isDisk(path) || (/^\/+(?:dev|proc|sys)/.test(path) && KERNEL.test(normalisePath(path)));
}
