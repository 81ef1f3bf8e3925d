import { open } from 'node:fs/promises';
import { newChain, sealLine, sha256 } from '../../domain/audit/chain.ts';
import type { ChainHead } from '../../domain/audit/chain.ts';
import { beginJudging, judgeLine, linkIn } from '../../domain/audit/judge.ts';
import { auditFiles, rawLines } from './files.ts';
import type { AuditFile } from './files.ts';

/** Where a lane goes on. */
export interface Resumed {
  readonly head: ChainHead;
  /** The newest file of the lane; 0 where there is none. */
  readonly number: number;
  readonly size: number;
  /** What has to be written before anything else: the end of a torn line and the note of it. */
  readonly note: string;
  readonly headAfterNote: ChainHead;
}

const TAIL = 1 << 20;

/** Finds the end of a chain, usually by its last line alone. Bytes after it that are no line are noted, never removed. */
export async function resumeLane(directory: string, lane: number, now: Date): Promise<Resumed> {
  const files = (await auditFiles(directory)).filter((file) => file.lane === lane);
  const number = files.at(-1)?.number ?? 0;
  const size = await sizeOf(files.at(-1));
  for (const file of files.toReversed()) {
    const isNewest = file.number === number;
    const found = (await headByLastLine(file, lane)) ?? (await headByReading(file, lane));
    if (isNewest && found.torn !== undefined) {
      const head = found.head ?? (await headBefore(files, lane));
      const { offset, bytes } = found.torn;
      const torn = { offset, bytes: bytes.length, sha256: sha256(bytes) };
      const sealed = sealLine({ ts: now.toISOString(), result: 'note', torn }, head);
      return { head, number, size, note: `\n${sealed.text}`, headAfterNote: sealed.head };
    }
    if (found.head !== undefined) return { head: found.head, number, size, note: '', headAfterNote: found.head };
  }
  const head = newChain(lane);
  return { head, number, size, note: '', headAfterNote: head };
}

interface End {
  /** Undefined where the file has no good line. */
  readonly head: ChainHead | undefined;
  readonly torn: { readonly offset: number; readonly bytes: Buffer } | undefined;
}

/** Undefined where the last line is not a good one. */
async function headByLastLine({ path }: AuditFile, lane: number): Promise<End | undefined> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size === 0) return { head: undefined, torn: undefined };
    const from = Math.max(0, size - TAIL);
    const tail = Buffer.alloc(size - from);
    await file.read(tail, 0, tail.length, from);
    const start = tail.lastIndexOf(10, tail.length - 2) + 1;
    const link = linkIn(tail.subarray(start));
    return link?.lane === lane ? { head: { lane, seq: link.seq, hash: link.hash }, torn: undefined } : undefined;
  } finally {
    await file.close();
  }
}

async function headByReading({ path }: AuditFile, lane: number): Promise<End> {
  let judged = beginJudging(lane);
  let [head, tornFrom]: [ChainHead | undefined, number | undefined] = [undefined, undefined];
  for await (const { bytes, offset, line } of rawLines(path)) {
    judged = judgeLine(judged, bytes, { offset, line });
    if (linkIn(bytes) === undefined) tornFrom ??= offset;
    else [head, tornFrom] = [judged.head, undefined];
  }
  if (tornFrom === undefined) return { head, torn: undefined };
  const rest: Buffer[] = [];
  for await (const { bytes } of rawLines(path, tornFrom)) rest.push(Buffer.from(bytes));
  return { head, torn: { offset: tornFrom, bytes: Buffer.concat(rest) } };
}

/** For a newest file in which nothing is good. */
async function headBefore(files: readonly AuditFile[], lane: number): Promise<ChainHead> {
  for (const file of files.slice(0, -1).toReversed()) {
    const { head } = (await headByLastLine(file, lane)) ?? (await headByReading(file, lane));
    if (head !== undefined) return head;
  }
  return newChain(lane);
}

async function sizeOf(file: AuditFile | undefined): Promise<number> {
  if (file === undefined) return 0;
  const handle = await open(file.path, 'r');
  return handle.stat().then(
    ({ size }) => handle.close().then(() => size),
    async (error: unknown) => {
      await handle.close();
      throw error;
    },
  );
}
