import { RE2JS, RE2JSSyntaxException } from 're2js';
import { compilePathGlob, InvalidGlob, matchesPath } from '../../domain/files/path-glob.ts';
import type { PathGlob } from '../../domain/files/path-glob.ts';
import { openHeld } from './handle.ts';
import type { Held } from './handle.ts';
import { requireAccess, withPlace } from './locate.ts';
import { existing, readAtMost } from './read.ts';
import { answering, invalid } from './refusal.ts';
import type { FileSandbox } from './sandbox.ts';
import { newWalkLog, walk } from './walk.ts';

export interface SearchOptions {
  /** Where to begin; the first root if absent. */
  readonly path?: string;
  readonly limit?: number;
  readonly maxMs?: number;
}

export interface GrepOptions extends SearchOptions {
  /** Which files. */
  readonly glob?: string;
  /** The pattern is text, not an expression. */
  readonly fixed?: boolean;
  readonly ignoreCase?: boolean;
}

export interface GrepMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

const [MOST_RESULTS, MOST_ENTRIES, MOST_MS, LONGEST_LINE] = [1000, 200_000, 10_000, 400];

/** Paths below a directory that match a pattern, which is about what lies below it. */
export function globPaths(sandbox: FileSandbox, pattern: string, options: SearchOptions = {}) {
  return answering(() =>
    withPlace(sandbox, options.path ?? '.', { followLast: true }, async (place) => {
      requireAccess(sandbox, place.path, 'read');
      const glob = compiled(sandbox, pattern);
      const log = newWalkLog();
      const paths: string[] = [];
      for await (const { path, names } of walk(sandbox, existing(place), place.path, log, walkOptions(options))) {
        if (!matchesPath(glob, names)) continue;
        if (paths.length >= (options.limit ?? MOST_RESULTS)) log.truncated = true;
        else paths.push(path);
      }
      return { path: place.path, paths, ...log };
    }),
  );
}

/** Lines that match, in a file or in the files below a directory. Takes time linear in what is read, whatever the pattern. */
export function grepFiles(sandbox: FileSandbox, pattern: string, options: GrepOptions = {}) {
  return answering(() =>
    withPlace(sandbox, options.path ?? '.', { followLast: true }, async (place) => {
      requireAccess(sandbox, place.path, 'read');
      const isMatch = matcher(pattern, options);
      const glob = options.glob === undefined ? undefined : compiled(sandbox, options.glob);
      const log = newWalkLog();
      const matches: GrepMatch[] = [];
      const searched = { files: 0, binary: 0, cut: 0 };
      const search = async (path: string, held: Held) => {
        for await (const [line, text] of linesOf(sandbox, path, held, searched)) {
          if (!isMatch(text)) continue;
          if (matches.length >= (options.limit ?? MOST_RESULTS)) log.truncated = true;
          else matches.push({ path, line, text: text.slice(0, LONGEST_LINE) });
          if (log.truncated) return;
        }
      };
      const node = existing(place);
      if (!node.stats.isDirectory()) await search(place.path, node);
      else {
        for await (const { path, names, held } of walk(sandbox, node, place.path, log, walkOptions(options))) {
          if (held.stats.isFile() && (glob === undefined || matchesPath(glob, names))) await search(path, held);
        }
      }
      return { path: place.path, matches, ...searched, ...log };
    }),
  );
}

function walkOptions({ maxMs = MOST_MS }: SearchOptions) {
  return { mostEntries: MOST_ENTRIES, deadline: performance.now() + maxMs };
}

/** Numbered from 1. A file with a NUL near its beginning is not text; of a long one the first part is searched. */
async function* linesOf(
  sandbox: FileSandbox,
  path: string,
  held: Held,
  searched: { files: number; binary: number; cut: number },
): AsyncGenerator<readonly [number, string]> {
  const file = await openHeld(held, path);
  const bytes = await readAtMost(file, sandbox.maxReadBytes + 1).finally(() => file.close());
  if (bytes.subarray(0, 8192).includes(0)) {
    searched.binary += 1;
    return;
  }
  searched.files += 1;
  if (bytes.length > sandbox.maxReadBytes) searched.cut += 1;
  let number = 0;
  for (const line of bytes.subarray(0, sandbox.maxReadBytes).toString('utf8').split('\n')) {
    number += 1;
    yield [number, line.replace(/\r$/, '')];
  }
}

function matcher(pattern: string, { fixed = false, ignoreCase = false }: GrepOptions): (line: string) => boolean {
  if (pattern === '') throw invalid('the pattern is empty');
  try {
    const expression = RE2JS.compile(fixed ? RE2JS.quote(pattern) : pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    return (line) => expression.matcher(line).find();
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) throw invalid(`the pattern cannot be used: ${error.message}`);
    throw error;
  }
}

function compiled({ rules }: FileSandbox, pattern: string): PathGlob {
  try {
    const glob = compilePathGlob(pattern, { ignoreCase: rules.ignoreCase });
    if (glob.absolute) throw invalid(`${pattern} begins with a slash; name the directory to begin at instead`);
    return glob;
  } catch (error) {
    if (error instanceof InvalidGlob) throw invalid(error.message);
    throw error;
  }
}
