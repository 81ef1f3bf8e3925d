import { canonical, hashOf, newChain, sha256 } from './chain.ts';
import type { ChainHead } from './chain.ts';
import { AuditLink, LossLine, TornLine } from './entry.schema.ts';

/** Where a chain stands, and what has been seen since its last good line that is none. */
export interface Judgement {
  readonly head: ChainHead;
  readonly torn: TornRegion | undefined;
  /** What is wrong, and with which line; undefined while all is well. */
  readonly flaw: { readonly line: number; readonly because: string } | undefined;
  /** What a writer found to be gone before this line, and noted in it. */
  readonly loss: string | undefined;
}

interface TornRegion {
  readonly offset: number;
  readonly line: number;
  readonly pieces: readonly Uint8Array[];
}

/** An interrupted writer leaves one piece, and one more for each that was interrupted while noting it. */
const MOST_PIECES = 100;

export function beginJudging(lane: number): Judgement {
  return { head: newChain(lane), torn: undefined, flaw: undefined, loss: undefined };
}

/**
 * Judges the next line of a chain. A line that is none is no break yet: the next good one may be the note of whoever came
 * after the interrupted writer, which names those bytes.
 */
export function judgeLine(
  { head, torn }: Judgement,
  bytes: Uint8Array,
  at: { readonly offset: number; readonly line: number },
): Judgement {
  const link = linkIn(bytes);
  if (link !== undefined) {
    const flaw = flawOf(link, head, torn, at.line);
    const loss = LossLine.safeParse(link).data?.because;
    return { head: { lane: head.lane, seq: link.seq, hash: link.hash }, torn: undefined, flaw, loss };
  }
  const region = {
    offset: torn?.offset ?? at.offset,
    line: torn?.line ?? at.line,
    pieces: [...(torn?.pieces ?? []), bytes],
  };
  if (region.pieces.length <= MOST_PIECES) return { head, torn: region, flaw: undefined, loss: undefined };
  return { head, torn: undefined, flaw: { line: region.line, because: NO_LINE }, loss: undefined };
}

const NO_LINE = 'it is not as it was written';

function flawOf(link: AuditLink, head: ChainHead, torn: TornRegion | undefined, line: number): Judgement['flaw'] {
  const note = TornLine.safeParse(link);
  if (torn !== undefined) {
    if (!note.success) return { line: torn.line, because: NO_LINE };
    // The newline that ends the torn bytes was written with the note.
    const region = joined(torn.pieces);
    const { offset, bytes, sha256: digest } = note.data.torn;
    const isNoted =
      offset === torn.offset && bytes === region.length - 1 && sha256(region.subarray(0, bytes)) === digest;
    if (!isNoted) return { line: torn.line, because: `${NO_LINE}, nor as line ${line} notes it` };
  }
  const because =
    flawOfLink(link, head) ??
    (note.success && torn === undefined ? 'it notes torn bytes that are not there' : undefined);
  return because === undefined ? undefined : { line, because };
}

function flawOfLink(link: AuditLink, head: ChainHead): string | undefined {
  if (link.lane !== head.lane) return `it belongs to lane ${link.lane}`;
  if (link.seq !== head.seq + 1) return `its number is ${link.seq}, expected ${head.seq + 1}`;
  return link.prev === head.hash ? undefined : 'it does not follow the line before it';
}

/** A line is exactly the canonical text of its content, with the hash of it, and a newline. */
export function linkIn(bytes: Uint8Array): AuditLink | undefined {
  if (bytes[0] !== 0x7b) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const link = AuditLink.parse(JSON.parse(text));
    return text === `${canonical(link)}\n` && hashOf(link) === link.hash ? link : undefined;
  } catch {
    return undefined; // Whatever cannot be read is no line; there is nothing else to tell apart here.
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
