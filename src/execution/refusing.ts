import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { homeAt } from '../home.ts';
import { filesNamed } from './find-program.ts';

/** Exit code 126: it is there, and cannot be run. */
const REFUSES = '#!/bin/sh\necho "surety: ${0##*/} is blocked" >&2\nexit 126\n';

/**
 * A directory for the head of the search path of commands that no sandbox holds, with programs that refuse in the names of those that are
 * blocked: whoever calls one by its name, a script or a Makefile, or a line that has led its judge astray, gets these. No wall: a path goes by it.
 * Undefined where nothing is blocked, or it cannot be made.
 */
export async function refusingPrograms(
  home: string,
  blocked: RegExp,
  searchPath: readonly string[],
): Promise<string | undefined> {
  const own = homeAt(home).refusing;
  const outside = searchPath.filter((path) => !path.startsWith(own));
  const names = [...new Set((await filesNamed(blocked, outside)).map((file) => basename(file)))].sort();
  if (names.length === 0) return undefined;
  // Other rules block others.
  const directory = join(own, createHash('sha256').update(names.join('\0')).digest('hex').slice(0, 12));
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const there = new Set(await readdir(directory));
    for (const name of names) if (!there.has(name)) await writeFile(join(directory, name), REFUSES, { mode: 0o755 });
    return directory;
  } catch {
    return undefined; // Without a data directory the audit refuses every call.
  }
}
