import { readdir, realpath } from 'node:fs/promises';

/** More entries than this nobody waits for. */
const MOST_ENTRIES = 50_000;

interface Link {
  readonly path: string;
  /** Where it leads; undefined where that is nowhere, or cannot be told. */
  readonly real: string | undefined;
}

/**
 * The links that whoever follows links meets below a directory; undefined if there is too much to look through. Where one leads is
 * looked through as well, if that is `ours`: the rest is not for us to read.
 */
export async function linksBelow(
  directory: string,
  isOurs: (path: string) => boolean,
): Promise<readonly Link[] | undefined> {
  const links: Link[] = [];
  const waiting = [directory];
  const entered = new Set<string>();
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (entered.has(next)) continue;
    entered.add(next);
    // What is no directory, or may not be read, holds no links.
    const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
    seen += entries.length;
    if (seen > MOST_ENTRIES) return undefined;
    for (const entry of entries) {
      const path = `${next}/${entry.name}`;
      if (entry.isDirectory()) waiting.push(path);
      if (!entry.isSymbolicLink()) continue;
      const real = await realpath(path).catch(() => undefined);
      links.push({ path, real });
      if (real !== undefined && isOurs(real)) waiting.push(real);
    }
  }
  return links;
}

/** Everything that lies below a directory; undefined if there is too much to look through. */
export async function entriesBelow(directory: string): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  const waiting = [directory];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
    if (found.length + entries.length > MOST_ENTRIES) return undefined;
    for (const entry of entries) {
      const path = `${next}/${entry.name}`;
      found.push(path);
      if (entry.isDirectory()) waiting.push(path);
    }
  }
  return found;
}
