import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { waysToSee } from '../../domain/files/file-rules.ts';
import type { FileRules } from '../../domain/files/file-rules.ts';
import { matchesPath } from '../../domain/files/path-glob.ts';
import type { PathGlob } from '../../domain/files/path-glob.ts';
import { foldCase } from '../../domain/files/path-text.ts';

/** What a sandbox has to cover so that a rule holds for whatever a command finds by itself: patterns mean nothing to it. */
export interface Covered {
  readonly hidden: readonly string[];
  readonly readOnly: readonly string[];
  /** Why it is not all that would have to be. */
  readonly flaw?: string;
}

interface Directory {
  readonly path: string;
  /** As deny patterns see it. */
  readonly ways: readonly (readonly string[])[];
  /** What lies in it needs no cover of its own. */
  readonly isReadOnly: boolean;
}

/** More entries than this nobody waits for, and so many mounts no command needs. */
const [MOST_ENTRIES, MOST_COVERED] = [200_000, 2000];
const READ_AT_ONCE = 32;

/** Of names that are not UTF-8 nobody can be told, neither we nor the sandbox. */
const NOT_UTF8 = '\ufffd';

/** Looked for anew before each command: files come and go. */
export async function coveredBelow(rules: FileRules, mostEntries = MOST_ENTRIES): Promise<Covered> {
  const [hidden, readOnly]: [string[], string[]] = [[], []];
  const { read, write } = rules.deny;
  const { unauthorised } = rules;
  if (read.length + write.length === 0 && unauthorised === undefined) return { hidden, readOnly };
  const waiting = rules.roots.map((path): Directory => ({ path, ways: waysToSee(rules, path), isReadOnly: false }));
  for (let seen = 0; waiting.length > 0;) {
    const directories = waiting.splice(-READ_AT_ONCE);
    const found = await Promise.all(directories.map(({ path }) => entriesOf(path)));
    for (const [at, directory] of directories.entries()) {
      const entries = found[at] ?? [];
      seen += entries.length;
      for (const entry of entries) {
        // Where a link leads is covered there.
        if (!entry.isDirectory() && !entry.isFile()) continue;
        const path = `${directory.path}/${entry.name}`;
        const name = rules.ignoreCase ? foldCase(entry.name) : entry.name;
        const ways = directory.ways.map((names) => [...names, name]);
        const isNamed = (glob: PathGlob) => ways.some((names) => matchesPath(glob, names));
        const isHidden = read.some(isNamed) || unauthorised?.('read', path, true) !== undefined;
        const isDenied = write.some(isNamed) || unauthorised?.('write', path, true) !== undefined;
        if (entry.name.includes(NOT_UTF8) && (isHidden || isDenied || entry.isDirectory()))
          return { hidden, readOnly, flaw: `${path} has a name that is not UTF-8: give it another one` };
        if (isHidden) {
          hidden.push(path);
          continue;
        }
        if (isDenied && !directory.isReadOnly) readOnly.push(path);
        // What may not be written may still hold what may not be read.
        if (entry.isDirectory()) waiting.push({ path, ways, isReadOnly: directory.isReadOnly || isDenied });
      }
    }
    if (seen > mostEntries || hidden.length + readOnly.length > MOST_COVERED)
      return { hidden, readOnly, flaw: 'there is more than anybody could look through: name fewer roots' };
  }
  return { hidden, readOnly };
}

/** What is gone meanwhile, or closed to us, is so to the command. */
function entriesOf(directory: string): Promise<readonly Dirent[]> {
  return readdir(directory, { withFileTypes: true }).catch(() => []);
}
