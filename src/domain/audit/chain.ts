import { hash } from 'node:crypto';
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

/**
 * What is gone if a chain that ended at least at `recorded` is found to end at `found`; undefined if nothing is. Lines beyond
 * the recorded end are no loss: their writer had no time to record them.
 */
export function lossOf(found: ChainHead, recorded: ChainHead | undefined): string | undefined {
  if (recorded === undefined || found.seq > recorded.seq) return undefined;
  if (found.seq === recorded.seq) {
    return found.hash === recorded.hash ? undefined : 'it is not the line its writer ended with';
  }
  const missing = recorded.seq - found.seq;
  const lines = missing === 1 ? 'a line is missing after it' : `${missing} lines after it are missing`;
  return `${lines}: its writer ended at number ${recorded.seq}`;
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
  return hash('sha256', data, 'hex');
}
