import type { EffectiveRule } from '../rules/rule.ts';
import type { RuleView } from '../rules/resolve.ts';
import type { TrustEffect, TrustEvent } from './event.ts';
import type { Parts, Subject } from './parts.ts';
import { ruleOfPart, WHOLE } from './parts.ts';
import { isSpent } from './tally.ts';
import { advance, transition } from './transition.ts';
import type { Transition } from './transition.ts';
import type { Status, TrustState } from './trust.ts';
import { NO_TALLY, TRUSTED } from './trust.ts';

export interface PartEffect extends TrustEffect {
  readonly part: string;
  /** The rule says that nobody outside is to be told. */
  readonly silent?: boolean;
}

/** The parts while entries are applied to them. A copy made once per batch, so that each entry costs the same. */
export interface Draft {
  readonly subject: Subject;
  view: RuleView;
  readonly version: number;
  readonly parts: Record<string, TrustState>;
  readonly effects: PartEffect[];
  readonly touched: Set<string>;
  size: number;
}

export function draftOf(subject: Subject, parts: Parts, view: RuleView, version: number): Draft {
  const size = Object.keys(parts).length;
  return { subject, view, version, parts: { ...parts }, effects: [], touched: new Set(), size };
}

export function applyTo(draft: Draft, part: string, event: TrustEvent, receivedAt: number): void {
  advancePart(draft, part, receivedAt);
  // As it would have been if somebody had looked in between.
  forgetIfSpent(draft, part, receivedAt);
  const isNew = draft.parts[part] === undefined;
  // A success is worth remembering of an unknown part only where a rate is kept.
  const after = transition(stateOf(draft, part), event, ruleIn(draft, part), draft.version);
  if (isNew && event.type === 'callSucceeded' && after.state.tally.rate === undefined && part !== WHOLE) return;
  keep(draft, part, after);
  forgetIfSpent(draft, part, receivedAt);
}

export function advancePart(draft: Draft, part: string, now: number): void {
  const state = draft.parts[part];
  if (state === undefined) return;
  const after = advance(state, now, ruleIn(draft, part), draft.version);
  if (after.state !== state) keep(draft, part, after);
}

function keep(draft: Draft, part: string, { state, effects }: Transition): void {
  if (draft.parts[part] === undefined) draft.size += 1;
  draft.parts[part] = state;
  draft.touched.add(part);
  for (const effect of effects) draft.effects.push({ ...effect, part });
}

export function remove(draft: Draft, part: string): void {
  if (draft.parts[part] === undefined) return;
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a record, not an object with a shape
  delete draft.parts[part];
  draft.size -= 1;
  draft.touched.add(part);
}

export function forgetIfSpent(draft: Draft, part: string, now: number): void {
  const state = draft.parts[part];
  if (state?.status !== 'TRUSTED' || part === WHOLE) return;
  if (isSpent(state.tally, ruleIn(draft, part), now)) remove(draft, part);
}

/** A reset of the whole tool cuts for parts that are met later, too. */
function stateOf(draft: Draft, part: string): TrustState {
  const cutAt = draft.parts[WHOLE]?.tally.cutAt;
  return draft.parts[part] ?? (cutAt === undefined ? TRUSTED : { status: 'TRUSTED', tally: { ...NO_TALLY, cutAt } });
}

export function statusOf(draft: Draft, part: string): Status {
  return draft.parts[part]?.status ?? 'TRUSTED';
}

export function ruleIn(draft: Draft, part: string): EffectiveRule {
  return ruleOfPart(draft.subject, draft.view, part);
}
