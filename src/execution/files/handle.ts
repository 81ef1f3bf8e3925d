import { constants, existsSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, open, readFile, readlink, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { failed } from './refusal.ts';

/** A name for an inode without opening it: no side effect on a FIFO or a device, no need of any permission on it. */
const O_PATH = 0o10000000;

const HAS_HANDLES = process.platform === 'linux' && existsSync('/proc/self/fd');

/**
 * How paths are held. `handles` (Linux): each directory is an open handle and the next name is looked up in it, so what was
 * judged is what is opened. `paths` (elsewhere): directories are held by their real path, checked again after
 * opening; a link that is swapped in between and back again is not seen.
 */
export const ANCHORING: 'handles' | 'paths' = HAS_HANDLES ? 'handles' : 'paths';

/** One thing in the file system, held so that it cannot become another one. A link is held itself, never followed. */
export interface Held {
  /** A path under which the system finds exactly this, whatever has been renamed since. */
  readonly at: string;
  readonly stats: Stats;
  /** Where it lies now: absolute, without links. Rejects once it has been deleted. */
  realPath(): Promise<string>;
  /** Which mount it lies on; by path only the device can be told. */
  mount(): Promise<string | undefined>;
  close(): Promise<void>;
}

/** Takes hold of the root of the file system. */
export function holdTop(anchoring = ANCHORING): Promise<Held> {
  return anchoring === 'handles' ? holdByHandle('/') : holdByPath('/');
}

/** Takes hold of a name in a directory that is held. The name is one component and none of the two dots, unless `..`. */
export function holdIn(directory: Held, name: string, anchoring = ANCHORING): Promise<Held> {
  return anchoring === 'handles' ? holdByHandle(`${directory.at}/${name}`) : holdByPath(join(directory.at, name));
}

async function holdByHandle(path: string): Promise<Held> {
  const handle = await open(path, O_PATH | constants.O_NOFOLLOW);
  try {
    const at = `/proc/self/fd/${handle.fd}`;
    return {
      at,
      stats: await handle.stat(),
      realPath: () => realPathOf(handle, at),
      mount: () => mountOf(handle),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The kernel's own answer; it marks what has been deleted, and a file may really be called that. */
async function realPathOf(handle: FileHandle, at: string): Promise<string> {
  const path = await readlink(at);
  const gone = / \(deleted\)$/.test(path) && (await handle.stat()).nlink === 0;
  if (gone || !path.startsWith('/')) throw Object.assign(new Error(`${path} is gone`), { code: 'ENOENT' });
  return path;
}

async function mountOf(handle: FileHandle): Promise<string | undefined> {
  return /^mnt_id:\s*(\d+)$/m.exec(await readFile(`/proc/self/fdinfo/${handle.fd}`, 'utf8'))?.[1];
}

async function holdByPath(path: string): Promise<Held> {
  const stats = await lstat(path);
  const real = stats.isSymbolicLink() ? path : await realpath(path);
  return {
    at: real,
    stats,
    realPath: async () => {
      const now = await lstat(real);
      const same =
        now.ino === stats.ino && now.dev === stats.dev && (stats.isSymbolicLink() || real === (await realpath(real)));
      if (!same) throw Object.assign(new Error(`${path} has been replaced`), { code: 'ENOENT' });
      return real;
    },
    mount: () => Promise.resolve(String(stats.dev)),
    close: () => Promise.resolve(),
  };
}

/**
 * Opens what is held for reading: a regular file only. By handle it is the very inode that was judged; by path the opened
 * file is compared with it.
 */
export async function openHeld(held: Held, path: string): Promise<FileHandle> {
  if (!held.stats.isFile()) throw failed(`${path} is ${kindOf(held.stats)}, not a file`);
  // Only ever non-blocking: a FIFO put in the place of a file must not hold us up.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  const isHandle = held.at.startsWith('/proc/self/fd/');
  const file = await open(held.at, isHandle ? flags : flags | constants.O_NOFOLLOW);
  try {
    const opened = await file.stat();
    if (opened.ino !== held.stats.ino || opened.dev !== held.stats.dev)
      throw failed(`${path} was replaced while it was opened`);
    if (!isHandle) await held.realPath();
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

export function kindOf(stats: Stats): string {
  if (stats.isFile()) return 'a file';
  if (stats.isDirectory()) return 'a directory';
  if (stats.isSymbolicLink()) return 'a link';
  if (stats.isFIFO()) return 'a FIFO';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

/** By how many names the content of a file goes. Of a directory the system counts something else. */
export function hardLinksOf(stats: Stats): number {
  return stats.isFile() ? stats.nlink : 1;
}
