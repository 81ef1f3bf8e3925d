import { stricter } from '../trust/trust.ts';
import type { Status } from '../trust/trust.ts';

/** What was held against a call when a person was asked about it. */
export interface AskedAbout {
  /** Whatever began by then was held when it was asked. Epoch milliseconds. */
  readonly heldUntil: number;
  readonly isSecurity: boolean;
  /** Null where nothing but the situation was held against it. */
  readonly state: Status | null;
}

/** What is held against a call now. */
export interface HeldNow {
  /** When the newest of it began; 0 where that is nothing but the situation. */
  readonly heldSince: number;
  readonly isSecurity: boolean;
  readonly state: Status | null;
}

/** Whether whoever answers the question answers for all that is held now. What came later, or is worse, was not asked about. */
export function isAbout(asked: AskedAbout, now: HeldNow): boolean {
  return now.heldSince <= asked.heldUntil && isNoWorse(now, asked);
}

/** Whether what is held now was held before. */
export function isWithin(before: HeldNow, now: HeldNow): boolean {
  return now.heldSince <= before.heldSince && isNoWorse(now, before);
}

function isNoWorse(now: Seen, than: Seen): boolean {
  return (than.isSecurity || !now.isSecurity) && !stricter(now.state ?? 'TRUSTED', than.state ?? 'TRUSTED');
}

/** What whoever asks has seen already; it can only add to what is held. */
export type Seen = Pick<HeldNow, 'isSecurity' | 'state'>;

export function withSeen(held: HeldNow, seen: Seen | undefined): HeldNow {
  if (seen === undefined) return held;
  const state = stricter(seen.state ?? 'TRUSTED', held.state ?? 'TRUSTED') ? seen.state : held.state;
  return { ...held, state, isSecurity: held.isSecurity || seen.isSecurity };
}
