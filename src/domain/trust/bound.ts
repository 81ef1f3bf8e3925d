import type { Draft } from './draft.ts';
import { applyTo, remove } from './draft.ts';
import { WHOLE } from './parts.ts';
import { concernSince } from './trust.ts';
import type { Status, TrustState } from './trust.ts';

/** Beyond this many scopes in doubt the tool itself is what is in doubt. */
export const MOST_SCOPES = 1000;

/** Keeps the state of a tool small without forgetting distrust: what is folded away lives on in the tool's own state. */
export function bound(draft: Draft, now: number): void {
  const scopes = Object.entries(draft.parts).filter(([part]) => part !== WHOLE);
  const having = (status: Status) => scopes.filter(([, state]) => state.status === status);
  const [trusted, escalated, blocked] = [having('TRUSTED'), having('ESCALATED'), having('BLOCKED')];
  const inDoubt = scopes.length - trusted.length;
  const failing = trusted.filter(([, state]) => state.tally.failures.length > 0).length;
  if (blocked.length >= MOST_SCOPES) {
    const reason = 'too many blocked scopes';
    applyTo(draft, WHOLE, { type: 'orderGiven', order: 'block', at: now, by: 'surety', reason }, now);
  } else if (inDoubt >= MOST_SCOPES || failing >= MOST_SCOPES) {
    applyTo(draft, WHOLE, { type: 'scopesOverflowed', at: now }, now);
  }
  const room = Math.floor(MOST_SCOPES * 0.9);
  // A concern of security would be lost with its scope.
  const plain = escalated.filter(([, state]) => concernSince(state) === undefined);
  if (inDoubt >= MOST_SCOPES) foldOldest(draft, plain, inDoubt - room);
  if (trusted.length >= MOST_SCOPES) foldOldest(draft, trusted, trusted.length - room);
}

function foldOldest(draft: Draft, candidates: readonly [string, TrustState][], count: number): void {
  const age = (state: TrustState) => (state.status === 'TRUSTED' ? (state.tally.lastFailureAt ?? 0) : state.since);
  const oldestFirst = candidates.toSorted(([, a], [, b]) => age(a) - age(b));
  for (const [part] of oldestFirst.slice(0, Math.max(0, count))) remove(draft, part);
}
