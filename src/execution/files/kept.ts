import type { Stats } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { KEPT_RULE, ownFile } from '../../domain/files/file-rules.ts';
import { codeOf } from '../../problem.ts';
import type { Held } from './handle.ts';
import { blocked } from './refusal.ts';
import type { Refused } from './refusal.ts';
import type { FileSandbox } from './sandbox.ts';

/** A file or directory by what it is, whatever it is called. */
export function identityOf({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`;
}

/** Where paths really lie: the name itself, and what it leads to where it is a link. They need not exist yet. */
export async function realNames(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map(async (path) => [join(await realDirectory(dirname(path)), basename(path)), await realDirectory(path)]),
  );
  return [...new Set(found.flat())];
}

async function realDirectory(path: string): Promise<string> {
  return realpath(path).catch(async (error: unknown) => {
    if (dirname(path) === path || !isAbsence(error)) throw error;
    return join(await realDirectory(dirname(path)), basename(path));
  });
}

/** Of those that are directories: another name for one, by a mount or by its case, is still that one. */
export async function directoriesAmong(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await Promise.all(paths.map((path) => lstat(path).catch(unlessAbsent)));
  return new Set(found.flatMap((stats) => (stats?.isDirectory() === true ? [identityOf(stats)] : [])));
}

/** A directory that is kept, under whatever name it was come by. */
export function refusalOfKept({ keptDirectories }: FileSandbox, { stats }: Held, path: string): Refused | undefined {
  return stats.isDirectory() && keptDirectories.has(identityOf(stats)) ? refused(path) : undefined;
}

/**
 * Whether a file that goes by several names is, by another one, one of these or lies in one. Looked for only then, and among
 * those that have several names: usually there are none. One answer is good for one operation.
 */
export function linksInto(paths: readonly string[]) {
  let linked: Promise<ReadonlySet<string>> | undefined;
  return async ({ stats }: Held): Promise<boolean> => {
    if (!stats.isFile() || stats.nlink < 2) return false;
    linked ??= linkedBelow(paths);
    return (await linked).has(identityOf(stats));
  };
}

export async function requireNoKeptLink(sandbox: FileSandbox, held: Held, path: string): Promise<void> {
  if (await linksInto(sandbox.rules.kept)(held)) throw refused(path);
}

function refused(path: string): Refused {
  return blocked(ownFile(path).because, KEPT_RULE);
}

async function linkedBelow(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const waiting = [...paths];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const above = path;
    const stats = await lstat(above).catch(unlessAbsent);
    if (stats?.isFile() === true && stats.nlink > 1) found.add(identityOf(stats));
    if (stats?.isDirectory() !== true) continue;
    const names = await readdir(above).catch(unlessAbsent);
    waiting.push(...(names ?? []).map((name) => join(above, name)));
  }
  return found;
}

/** Gone meanwhile, or closed to us: then nobody comes by it through us either. */
function unlessAbsent(error: unknown): undefined {
  if (!isAbsence(error) && codeOf(error) !== 'EACCES') throw error;
  return undefined;
}

function isAbsence(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}
