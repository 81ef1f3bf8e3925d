import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, rename, unlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { codeOf } from '../../problem.ts';
import { holdIn, kindOf } from './handle.ts';
import type { Held } from './handle.ts';
import { requireAccess } from './locate.ts';
import type { Place } from './locate.ts';
import { failed, invalid } from './refusal.ts';
import type { FileSandbox } from './sandbox.ts';

export interface ReplaceOptions {
  /** Whether directories that are missing on the way are made. */
  readonly parents?: boolean;
  /** Whether what has the name already may be replaced. */
  readonly overwrite: boolean;
  /** Of a new file; one that is replaced keeps its own. */
  readonly mode?: number;
}

/**
 * Puts a whole file under a name at once: filled beside it under another name, then renamed, both in the directory that is
 * held. Whoever reads meanwhile sees the old or the new one; another name of the old inode keeps the old content.
 */
export async function replaceFile(
  sandbox: FileSandbox,
  place: Place,
  fill: (file: FileHandle) => Promise<void>,
  { parents = false, overwrite, mode }: ReplaceOptions,
): Promise<{ readonly created: boolean; readonly replacedHardLinks: number }> {
  const { node } = place;
  if (node !== undefined && !node.stats.isFile()) throw failed(`${place.path} is ${kindOf(node.stats)}, not a file`);
  if (node !== undefined && !overwrite) throw failed(`${place.path} exists already`);
  const made: Held[] = [];
  try {
    const parent = await parentOf(sandbox, place, parents, made);
    const name = place.absent.at(-1) ?? place.name;
    const temporary = `${parent.at}/.surety-${randomBytes(9).toString('hex')}`;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(temporary, flags, node === undefined ? (mode ?? 0o666) : 0o600);
    try {
      await fill(file).finally(() => file.close());
      await requireSameParent(sandbox, parent, place.path, name);
      if (node !== undefined) {
        await requireUnchanged(`${parent.at}/${name}`, node, place.path);
        await rename(temporary, `${parent.at}/${name}`);
      } else await putNew(temporary, `${parent.at}/${name}`);
    } catch (error) {
      await unlink(temporary).catch(unlessGone);
      throw error;
    }
    return { created: node === undefined, replacedHardLinks: node?.stats.nlink ?? 0 };
  } finally {
    await Promise.all(made.map((each) => each.close()));
  }
}

/** Unlike a rename, a link fails if somebody was faster; where the file system has no links, the window is small. */
async function putNew(temporary: string, at: string): Promise<void> {
  try {
    await link(temporary, at);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(String(codeOf(error)))) throw error;
    const taken = await lstat(at).catch(unlessGone);
    if (taken !== undefined) throw failed('a file of this name was made meanwhile');
    await rename(temporary, at);
    return;
  }
  await unlink(temporary);
}

/** A filler that writes these bytes, and gives a replaced file's mode and owner to its successor. */
export function filledWith(bytes: Uint8Array, old: Held | undefined) {
  return async (file: FileHandle): Promise<void> => {
    await file.writeFile(bytes);
    await finish(file, old);
  };
}

export async function finish(file: FileHandle, old: Held | undefined): Promise<void> {
  if (old !== undefined) {
    const { uid, gid, mode } = old.stats;
    const now = await file.stat();
    if (now.uid !== uid || now.gid !== gid) {
      await file.chown(uid, gid).catch((error: unknown) => {
        // Who may not give a file away owns the new one, as with any editor.
        if (codeOf(error) !== 'EPERM') throw error;
      });
    }
    // Without set-user-id and the like: whoever writes to such a file loses them.
    await file.chmod(mode & 0o777);
  }
  await file.sync();
}

async function parentOf(sandbox: FileSandbox, place: Place, parents: boolean, made: Held[]): Promise<Held> {
  const missing = place.absent.slice(0, -1);
  if (missing.length > 0 && !parents) throw failed(`${place.path}: its directory does not exist`);
  let parent = place.parent;
  for (const name of missing) {
    await mkdir(`${parent.at}/${name}`).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    parent = await holdIn(parent, name, sandbox.anchoring);
    made.push(parent);
    if (!parent.stats.isDirectory()) throw failed(`${place.path}: ${name} is ${kindOf(parent.stats)}`);
  }
  return parent;
}

async function requireSameParent(sandbox: FileSandbox, parent: Held, path: string, name: string): Promise<void> {
  const now = `${await parent.realPath()}/${name}`.replace(/^\/\//, '/');
  requireAccess(sandbox, now, 'write');
  if (now !== path) throw failed(`${path} was moved to ${now} while it was written`);
}

/** Somebody else's change since it was looked at is not overwritten. */
async function requireUnchanged(at: string, { stats }: Held, path: string): Promise<void> {
  const now = await lstat(at);
  if (now.ino !== stats.ino || now.dev !== stats.dev || now.mtimeMs !== stats.mtimeMs) {
    throw failed(`${path} was changed by somebody else meanwhile`);
  }
}

function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
  return undefined;
}

export function requireSize(sandbox: FileSandbox, bytes: number): void {
  if (bytes > sandbox.maxWriteBytes) {
    throw invalid(`${bytes} bytes are more than maxWriteBytes (${sandbox.maxWriteBytes}) allows`);
  }
}
