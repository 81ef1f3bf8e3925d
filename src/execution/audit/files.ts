import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../problem.ts';

/** One file of one lane. Numbers go on from file to file. */
export interface AuditFile {
  readonly lane: number;
  readonly number: number;
  readonly name: string;
  readonly path: string;
}

export interface RawLine {
  readonly bytes: Buffer;
  readonly offset: number;
  /** From 1. */
  readonly line: number;
  /** False for the last one if its newline is missing. */
  readonly isWhole: boolean;
}

/** No line that we write is as long; what is longer is given out in pieces. */
const LONGEST_LINE = 4 << 20;

export function fileOf(directory: string, lane: number, number: number): AuditFile {
  const name = `${lane}-${String(number).padStart(6, '0')}.jsonl`;
  return { lane, number, name, path: join(directory, name) };
}

/** By lane and number. A directory that is not there holds none. */
export async function auditFiles(directory: string): Promise<readonly AuditFile[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  return names
    .flatMap((name) => {
      const [, lane, number] = /^(\d{1,6})-(\d{6,12})\.jsonl$/.exec(name) ?? [];
      return lane === undefined ? [] : [fileOf(directory, Number(lane), Number(number))];
    })
    .sort((a, b) => a.lane - b.lane || a.number - b.number);
}

/** The lines of a file as bytes, newline included, in bounded memory. */
export async function* rawLines(path: string, from = 0): AsyncGenerator<RawLine> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    let [rest, offset, line] = [Buffer.alloc(0), from, 1];
    const chunk = Buffer.allocUnsafe(1 << 18);
    for (let at = from; ;) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
      at += bytesRead;
      rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      let start = 0;
      for (;;) {
        const newline = rest.indexOf(10, start);
        const end =
          newline !== -1 ? newline + 1 : rest.length - start > LONGEST_LINE || bytesRead === 0 ? rest.length : -1;
        if (end === -1 || end === start) break;
        yield { bytes: rest.subarray(start, end), offset, line, isWhole: newline !== -1 };
        offset += end - start;
        start = end;
        if (newline !== -1) line += 1;
      }
      rest = rest.subarray(start);
      if (bytesRead === 0) return;
    }
  } finally {
    await file.close();
  }
}
