import { readFile } from 'node:fs/promises';
import { isWithin } from '../domain/files/path-text.ts';

/**
 * Where something else is mounted below a root: outside of it, unless it is named as a root itself. Below `/` everything is. None where
 * the system has no list of them.
 */
export async function mountsBelow(roots: readonly string[]): Promise<readonly string[]> {
  const list = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const mounts = list.split('\n').flatMap((line) => line.split(' ')[4]?.replace(/\\(\d{3})/g, unescaped) ?? []);
  const isBelow = (mount: string) => roots.some((root) => root !== '/' && root !== mount && isWithin(root, mount));
  const isNamed = (mount: string) => roots.some((root) => isWithin(mount, root));
  return mounts.filter((mount) => isBelow(mount) && !isNamed(mount));
}

/** Blanks and their like are octal numbers there. */
function unescaped(_: string, octal: string): string {
  return String.fromCharCode(parseInt(octal, 8));
}
