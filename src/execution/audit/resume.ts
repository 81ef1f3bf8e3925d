import { open } from 'node:fs/promises';
import { lossOf, newChain, sealLine, sha256 } from '../../domain/audit/chain.ts';
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
  /** What has to be written before anything else: the end of a torn line and the note of it, the note of lines that are gone. */
  readonly notes: string;
  readonly headAfterNotes: ChainHead;
  readonly loss: string | undefined;
}

type Found = Pick<Resumed, 'head' | 'number' | 'size'> & Pick<End, 'torn'>;

const TAIL = 1 << 20;

/**
 * Finds the end of a chain, usually by its last line alone. Bytes after it that are no line are noted, never removed; so is
 * it if the chain ends before it did, by what its writers have recorded: else the next line would cover up for the lost ones.
 */
export async function resumeLane(
  directory: string,
  lane: number,
  now: Date,
  recorded: ChainHead | undefined,
): Promise<Resumed> {
  const { torn, ...found } = await endOf(directory, lane);
  const ts = now.toISOString();
  let [notes, headAfterNotes] = ['', found.head];
  const note = (content: object) => {
    const sealed = sealLine({ ts, result: 'note', ...content }, headAfterNotes);
    notes += sealed.text;
    headAfterNotes = sealed.head;
  };
  if (torn !== undefined) {
    notes = '\n';
    note({ torn: { offset: torn.offset, bytes: torn.bytes.length, sha256: sha256(torn.bytes) } });
  }
  const loss = lossOf(found.head, recorded);
  if (loss !== undefined && recorded !== undefined) {
    const where = found.head.seq < 0 ? 'the beginning' : `number ${found.head.seq}`;
    note({ because: `after ${where}: ${loss}`, lost: { seq: recorded.seq, hash: recorded.hash } });
  }
  return { ...found, notes, headAfterNotes, loss };
}

async function endOf(directory: string, lane: number): Promise<Found> {
  const files = (await auditFiles(directory)).filter((file) => file.lane === lane);
  const number = files.at(-1)?.number ?? 0;
  const size = await sizeOf(files.at(-1));
  for (const file of files.toReversed()) {
    const isNewest = file.number === number;
    const found = (await headByLastLine(file, lane)) ?? (await headByReading(file, lane));
    if (isNewest && found.torn !== undefined) {
      const head = found.head ?? (await headBefore(files, lane));
      return { head, number, size, torn: found.torn };
    }
    if (found.head !== undefined) return { head: found.head, number, size, torn: undefined };
  }
  return { head: newChain(lane), number, size, torn: undefined };
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
