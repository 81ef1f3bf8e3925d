import { stat } from 'node:fs/promises';
import { auditFiles } from './files.ts';
import type { AuditFile } from './files.ts';
import { linesIn } from './read.ts';
import type { ReadLine } from './read.ts';

export interface EndOfAudit {
  /** The newest lines, oldest first. */
  readonly newest: readonly ReadLine[];
  /** What has come since the last time it was asked for. */
  readonly further: () => AsyncGenerator<ReadLine>;
}

/** So much is read of the end of a file at first; if that has too few lines, twice as much, and so on. */
const FIRST_BYTES = 1 << 16;

/** Found from the ends of the files: however long an audit is, hardly more of it is read than is shown. */
export async function endOfAudit(directory: string, most: number): Promise<EndOfAudit> {
  const files = await auditFiles(directory);
  /** By file, where the line begins that has not been seen yet. */
  const next = new Map<string, number>();
  const ends: ReadLine[] = [];
  for (const lane of new Set(files.map((file) => file.lane))) {
    const ofLane = files.filter((file) => file.lane === lane);
    const lines = await endOfLane(ofLane, most);
    for (const { name, path } of ofLane) next.set(name, (await stat(path)).size);
    // Of the file that is still written to, only whole lines have been seen.
    const last = ofLane.at(-1)?.name ?? '';
    next.set(last, lines.findLast(({ file }) => file === last)?.end ?? 0);
    ends.push(...lines);
  }
  const newest = ends.sort((a, b) => Number(a.line.ts > b.line.ts) - Number(a.line.ts < b.line.ts)).slice(-most);
  return { newest, further: () => linesAfter(directory, next) };
}

async function* linesAfter(directory: string, next: Map<string, number>): AsyncGenerator<ReadLine> {
  for (const file of await auditFiles(directory)) {
    const from = next.get(file.name) ?? 0;
    if ((await stat(file.path)).size <= from) continue;
    for await (const line of linesIn(file, from)) {
      next.set(file.name, line.end);
      yield line;
    }
  }
}

async function endOfLane(files: readonly AuditFile[], most: number): Promise<readonly ReadLine[]> {
  let found: readonly ReadLine[] = [];
  for (const file of files.toReversed()) {
    if (found.length >= most) break;
    found = [...(await endOfFile(file, most - found.length)), ...found];
  }
  return found;
}

async function endOfFile(file: AuditFile, most: number): Promise<readonly ReadLine[]> {
  const { size } = await stat(file.path);
  for (let bytes = FIRST_BYTES; ; bytes *= 2) {
    const from = Math.max(0, size - bytes);
    const lines: ReadLine[] = [];
    // A line that begins before this is none here.
    for await (const line of linesIn(file, from)) lines.push(line);
    if (lines.length >= most || from === 0) return lines.slice(-most);
  }
}
