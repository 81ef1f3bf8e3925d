import { access, constants, readdir, realpath } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { isWithin } from '../domain/files/path-text.ts';

/** Where systems keep their own programs. */
const SYSTEM = [
  ...['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin'],
  ...['/run/wrappers/bin', '/run/current-system/sw/bin', '/nix/var/nix/profiles/default/bin'],
];
/** Those that are for administrators. */
const ADMINISTRATION = ['/sbin', '/usr/sbin', '/usr/local/sbin'];

/**
 * Where the programs are looked for that hold others to the rules: first where systems keep their own, then on the search path, but
 * for what commands may write. `npx` puts a directory of the project first there, and what lies in it is whatever the last command
 * has put there.
 */
export async function trustedPlaces(
  searchPath: readonly string[],
  writable: readonly string[],
): Promise<readonly string[]> {
  const real = await Promise.all(searchPath.filter(isAbsolute).map((path) => realpath(path).catch(() => undefined)));
  const isTrusted = (path: string) => !writable.some((root) => isWithin(root, path));
  return [...SYSTEM, ...real.filter((path) => path !== undefined).filter(isTrusted)];
}

/** The first of these directories that has such a program. */
export async function findProgram(name: string, directories: readonly string[]): Promise<string | undefined> {
  for (const directory of directories) {
    const file = join(directory, name);
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return file;
  }
  return undefined;
}

/**
 * The files of programs with such names, wherever a command would find them. A link to a file of another name is left alone: that
 * one is a program of many names (busybox, systemctl), and most of them are none of these.
 */
export async function findNamed(name: RegExp, searchPath: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const file of await filesNamed(name, searchPath)) {
    // One that leads nowhere runs nothing.
    const real = await realpath(file).catch(() => '');
    if (isNamed(name, real)) found.add(real);
  }
  return [...found];
}

/** Where a command would find programs of such names, links and all. */
export async function filesNamed(name: RegExp, searchPath: readonly string[]): Promise<readonly string[]> {
  const directories = [...new Set([...SYSTEM, ...ADMINISTRATION, ...searchPath.filter(isAbsolute)])];
  const found = await Promise.all(
    directories.map(async (directory) =>
      (await readdir(directory).catch(() => []))
        .filter((file) => isNamed(name, file))
        .map((file) => join(directory, file)),
    ),
  );
  return found.flat();
}

function isNamed(name: RegExp, file: string): boolean {
  return name.exec(basename(file))?.[0].length === basename(file).length;
}
