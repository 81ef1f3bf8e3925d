import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** What the first line of a chain holds in place of the hash of the line before it. */
export const FIRST_PREV = '0'.repeat(64);

/** Where a chain stands: the next line gets the next number and points to this hash. */
export interface ChainHead {
  readonly lane: number;
  readonly seq: number;
  readonly hash: string;
}

export function newChain(lane: number): ChainHead {
  return { lane, seq: -1, hash: FIRST_PREV };
}

/** One line, with its newline, and where the chain stands after it. */
export function sealLine(content: object, { lane, seq, hash: prev }: ChainHead): { text: string; head: ChainHead } {
  const linked = { ...content, lane, seq: seq + 1, prev };
  const hash = hashOf(linked);
  return { text: `${canonical({ ...linked, hash })}\n`, head: { lane, seq: seq + 1, hash } };
}

/** SHA-256 over the RFC 8785 text of a line without its own hash. */
export function hashOf(line: object): string {
  const { hash: _, ...content } = line as { hash?: unknown };
  return sha256(canonical(content));
}

export function canonical(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('a line of the audit has no canonical text');
  return text;
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
