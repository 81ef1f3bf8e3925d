import { lstat, readdir } from 'node:fs/promises';
import { matchesGlob } from '../domain/key/glob.ts';

const GLOB = /[*?[]/;
/** `[a-z]`, `[!]x]`, `[[:alpha:]]`. Taken for any character: rather one path too many than one too few. */
const SET = /\[[!^]?\]?(?:\[[:.=][^\]]*\]|[^\]])*\]/g;
/** More than this nobody waits for. */
const MOST_MATCHES = 1000;

export function isGlob(path: string): boolean {
  return GLOB.test(path);
}

/** As bash did before 5.2: `.*` and `.?` are the directory above, too. Sets are taken at their word, or `.[a-z]*` would be. */
function matchesTwoDots(name: string): boolean {
  return (
    name.startsWith('.') &&
    matchesGlob(
      name.replace(SET, (set) => (holdsDot(set) ? '?' : '/')),
      '..',
    )
  );
}

function holdsDot(set: string): boolean {
  const [, negation, members = ''] = /^\[([!^]?)(.*)\]$/s.exec(set) ?? [];
  const isMember = /\.|punct|print|graph|[\x20-.]-[.-\x7e]/.test(members);
  return isMember !== (negation !== '');
}

/** The paths that a glob stands for, name by name as the shell finds them; undefined if there are too many. */
export async function matchesOf(pattern: string): Promise<readonly string[] | undefined> {
  let found: string[] = [''];
  for (const name of pattern.split('/').slice(1)) {
    if (!GLOB.test(name)) {
      found = found.map((path) => `${path}/${name}`);
      continue;
    }
    const wanted = name.replace(SET, '?');
    const next: string[] = [];
    for (const path of found) {
      const names = await readdir(`${path}/`).catch(() => []);
      if (matchesTwoDots(name)) next.push(`${path}/..`);
      for (const each of names) {
        if (each.startsWith('.') && !wanted.startsWith('.')) continue;
        if (!matchesGlob(wanted, each)) continue;
        // It is not UTF-8: nobody can tell whether it is denied.
        if (each.includes('\ufffd')) return undefined;
        next.push(`${path}/${each}`);
      }
      if (next.length > MOST_MATCHES) return undefined;
    }
    found = next;
  }
  const there = await Promise.all(found.map((path) => lstat(path).then(Boolean, () => false)));
  return found.filter((_, at) => there[at]);
}
