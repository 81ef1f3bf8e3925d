import { utf8Of } from '../charset.ts';
import type { HeadAndTail } from './head-and-tail.ts';

/** What became of a command. The names are stable: callers read this, not text. */
export interface ShellEnvelope {
  readonly stdout: string;
  readonly stderr: string;
  /** 124 where its time was up, 128 and the signal's number where one ended it, as shells have it; never absent. */
  readonly exitCode: number;
  readonly signal: string | null;
  readonly timedOut: boolean;
  /** Stopped before its end by whoever called, or by the kill switch. */
  readonly cancelled: boolean;
  /** Whether either stream was cut. */
  readonly truncated: boolean;
  /** Whoever was told of output as it came stopped taking it: the rest is in neither. */
  readonly unread: boolean;
  readonly durationMs: number;
  /** Base64 where a stream was not text; then it holds the kept bytes, one after the other. */
  readonly encoding: { readonly stdout: 'utf8' | 'base64'; readonly stderr: 'utf8' | 'base64' };
  /** Written in all, kept or not. */
  readonly bytes: { readonly stdout: number; readonly stderr: number };
  readonly sandbox: 'bubblewrap' | 'sandbox-exec' | 'none';
  /** Processes that outlived the shell and were ended. */
  readonly leftBehind: number;
}

/** The kept parts of a stream as text, with a note where something is missing. */
export function textOf(kept: HeadAndTail): { readonly text: string; readonly encoding: 'utf8' | 'base64' } {
  const { head, tail } = kept.parts();
  const isCut = kept.omitted > 0;
  // Uncut, the two are one text: a character may begin in one and end in the other.
  const texts = isCut
    ? [utf8Of(withoutHalfAtEnd(head)), utf8Of(withoutHalfAtStart(tail))]
    : [utf8Of(Buffer.concat([head, tail]))];
  const whole = texts.filter((text) => text !== undefined);
  if (whole.length < texts.length) return { text: Buffer.concat([head, tail]).toString('base64'), encoding: 'base64' };
  return { text: whole.join(`\n[… ${kept.omitted} bytes left out …]\n`), encoding: 'utf8' };
}

/** A cut may fall into a character, which is at most four bytes long. */
function withoutHalfAtEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return lengthOf(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes;
    if (byte < 0x80) return bytes;
  }
  return bytes;
}

function lengthOf(lead: number): number {
  return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
}

function withoutHalfAtStart(bytes: Buffer): Buffer {
  let from = 0;
  while (from < 3 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from);
}
