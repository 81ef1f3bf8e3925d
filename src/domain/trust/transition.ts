import type { EffectiveRule } from '../rules/rule.ts';
import type { CallFailed, CallSucceeded, OrderGiven, TrustEffect, TrustEvent } from './event.ts';
import {
  duration,
  isCut,
  isRecoverable,
  plural,
  repeatedRefusal,
  thresholdMet,
  withFailure,
  withSuccess,
} from './tally.ts';
import type { Blocked, Escalated, Recovering, Tally, Trusted, TrustState } from './trust.ts';
import { concernSince, NO_TALLY, withConcern } from './trust.ts';

export interface Transition {
  readonly state: TrustState;
  readonly effects: readonly TrustEffect[];
}

const DAY_MS = 86_400_000;

/**
 * The whole of trust. `version` is the one under which a change made now will be projected. An event that a state does
 * not care about returns the same state and no effects.
 */
export function transition(state: TrustState, event: TrustEvent, rule: EffectiveRule, version: number): Transition {
  switch (event.type) {
    case 'callSucceeded':
      return onSuccess(state, event, rule);
    case 'callFailed':
      return onFailure(state, event, rule, version);
    case 'deadlineReached':
      return onDeadline(state, event.at, rule, version);
    case 'orderGiven':
      return onOrder(state, event);
    case 'scopesOverflowed':
      return state.status === 'TRUSTED'
        ? escalate(state, event.at, 'too many failing scopes', version, true)
        : unchanged(state);
  }
}

/** When to wake if nothing happens; undefined where only an event or a person leads on. */
export function dueAt(state: TrustState, rule: EffectiveRule): number | undefined {
  switch (state.status) {
    case 'TRUSTED':
    case 'RECOVERING':
      return undefined;
    case 'ESCALATED':
      if (!rule.autoRecovery || !state.recoverable) return undefined;
      return Math.max(state.since + escalationMs(state, rule), state.lastFailureAt + rule.cooldownSeconds * 1000);
    case 'BLOCKED':
      return rule.blockDurationSeconds === null ? undefined : state.since + rule.blockDurationSeconds * 1000;
  }
}

/** When a part has cooled down that only a person may let recover; undefined for any other. */
export function pendingRecovery(state: TrustState, rule: EffectiveRule): number | undefined {
  if (state.status !== 'ESCALATED' || dueAt(state, rule) !== undefined) return undefined;
  return Math.max(state.since + escalationMs(state, rule), state.lastFailureAt + rule.cooldownSeconds * 1000);
}

/** Moves the state to where time alone has brought it. */
export function advance(state: TrustState, now: number, rule: EffectiveRule, version: number): Transition {
  const due = dueAt(state, rule);
  return due === undefined || due > now
    ? unchanged(state)
    : transition(state, { type: 'deadlineReached', at: due }, rule, version);
}

function onSuccess(state: TrustState, event: CallSucceeded, rule: EffectiveRule): Transition {
  const tally = withSuccess(state.tally, event, rule);
  if (state.status !== 'RECOVERING') return unchanged({ ...state, tally });
  if (event.lapsed === true || admittedBefore(state.episode, event)) return unchanged({ ...state, tally });
  const successes = state.successes + event.count;
  if (successes < rule.successCountToRecover) return unchanged({ ...state, tally, successes });
  return {
    state: { status: 'TRUSTED', tally: { ...NO_TALLY, lastSuccessAt: event.at, cutAt: event.at } },
    effects: [announce('recovered', event.at, `successes needed and seen: ${rule.successCountToRecover}`)],
  };
}

function onFailure(state: TrustState, event: CallFailed, rule: EffectiveRule, version: number): Transition {
  // Somebody stopped the call before it ran: that says nothing about the tool.
  if (isCut(state.tally, event.at) || event.category === 'refusal') return unchanged(state);
  const counted = counts(event, rule);
  const tally = withFailure(state.tally, event, rule, counted);
  const isSecurity = rule.countBy === 'severity' && event.severity === 'security';
  const next = isSecurity ? withConcern({ ...state, tally }, event.at) : { ...state, tally };
  if (next.status === 'BLOCKED') return unchanged(next);
  const concern = isSecurity ? event.at : undefined;
  if (isSecurity && event.evidence === 'structured') {
    const reason = 'security concern: a dangerous command was run or a policy was matched';
    return block(next, event.at, reason, { securityAt: concern });
  }
  const atOnce = immediateReason(event, tally, rule);
  if (!counted && atOnce === undefined) return unchanged(next);
  switch (next.status) {
    case 'TRUSTED': {
      // A late report joins the failures around its own time; the window still ends with the newest of them.
      const end = Math.max(event.at, tally.failures.at(-1) ?? event.at);
      const reason = atOnce ?? thresholdMet(tally, rule, end);
      return reason === undefined
        ? unchanged(next)
        : escalate(next, end, reason, version, isRecoverable(tally, rule, end), { securityAt: concern });
    }
    case 'ESCALATED':
      return failWhileEscalated(next, event, rule);
    case 'RECOVERING':
      return relapse(next, event, rule, version);
  }
}

function failWhileEscalated(state: Escalated, event: CallFailed, rule: EffectiveRule): Transition {
  const failures = state.failures + (admittedBefore(state.episode, event) ? 0 : 1);
  if (rule.blockAfter !== null && failures >= rule.blockAfter) {
    return block(state, event.at, `${plural(failures, 'more failure')} while escalated`);
  }
  const lastFailureAt = Math.max(state.lastFailureAt, event.at);
  const recoverable = state.recoverable && event.recoverable;
  return unchanged({ ...state, failures, lastFailureAt, recoverable });
}

function relapse(state: Recovering, event: CallFailed, rule: EffectiveRule, version: number): Transition {
  if (admittedBefore(state.episode, event)) return unchanged(state);
  const relapses = [...state.relapses, event.at].slice(-20);
  const recent = relapses.filter((at) => at >= event.at - rule.windowSeconds * 1000);
  if (rule.blockAfterRelapses !== null && recent.length >= rule.blockAfterRelapses) {
    return block(state, event.at, `${plural(recent.length, 'relapse')} in ${duration(rule.windowSeconds)}`);
  }
  const reason = `failed again while recovering (${plural(relapses.length, 'relapse')})`;
  const at = Math.max(event.at, state.since);
  const escalated = escalate(state, at, reason, version, event.recoverable, { relapses });
  return { ...escalated, effects: [announce('relapsed', at, reason)] };
}

function onDeadline(state: TrustState, at: number, rule: EffectiveRule, version: number): Transition {
  const due = dueAt(state, rule);
  if (due === undefined || due > at) return unchanged(state);
  switch (state.status) {
    case 'TRUSTED':
    case 'RECOVERING':
      return unchanged(state);
    case 'ESCALATED':
      return recovering(state, at, 'the escalation ended', state.episode, state.relapses);
    case 'BLOCKED':
      return recovering(state, at, 'the block ended', { at: state.since, version }, []);
  }
}

function onOrder(state: TrustState, event: OrderGiven): Transition {
  const reason = event.reason === '' ? `by ${event.by}` : `${event.reason} (by ${event.by})`;
  switch (event.order) {
    case 'reset':
      return {
        state: { status: 'TRUSTED', tally: { ...NO_TALLY, cutAt: event.at } },
        effects: [announce('reset', event.at, reason)],
      };
    case 'block':
      return state.status === 'BLOCKED' ? unchanged(state) : block(state, event.at, reason, { by: event.by });
    case 'recover':
      return state.status === 'ESCALATED'
        ? recovering(state, event.at, reason, state.episode, state.relapses)
        : unchanged(state);
  }
}

function counts(event: CallFailed, rule: EffectiveRule): boolean {
  if (event.silentProbe === true) return true;
  return rule.countBy === 'reachability'
    ? event.category === 'reachability'
    : rule.severityFilter.includes(event.severity);
}

/** What escalates whatever the filter and the thresholds say. */
function immediateReason(event: CallFailed, tally: Tally, rule: EffectiveRule): string | undefined {
  if (rule.countBy === 'reachability') return undefined;
  if (event.severity === 'security') return 'an error spoke of a security concern';
  if (event.severity === 'repeated_auth') return 'credentials were refused repeatedly';
  if (event.category === 'auth' && repeatedRefusal(tally, rule, event.at)) {
    return `credentials were refused ${rule.repeatedAuthThreshold ?? 0} times in ${duration(rule.windowSeconds)}`;
  }
  return undefined;
}

/** What was a concern of security stays one for as long as anything is held. */
function concernOf(state: TrustState, securityAt?: number): { securityAt?: number } {
  const since = concernSince(state) ?? securityAt;
  return since === undefined ? {} : { securityAt: since };
}

/** A burst that was under way when distrust began must neither block the tool nor redeem it. */
function admittedBefore(
  episode: { readonly at: number; readonly version: number },
  call: CallSucceeded | CallFailed,
): boolean {
  if (call.trustVersion !== undefined) return call.trustVersion < episode.version;
  // A call that ended the moment distrust began was made before it.
  return call.startedAt === undefined ? call.at <= episode.at : call.startedAt < episode.at;
}

function escalate(
  state: Trusted | Recovering,
  at: number,
  reason: string,
  version: number,
  recoverable: boolean,
  { relapses = [], securityAt }: { relapses?: readonly number[]; securityAt?: number | undefined } = {},
): Transition {
  const escalated: Escalated = {
    status: 'ESCALATED',
    tally: state.tally,
    since: at,
    reason,
    episode: { at, version },
    lastFailureAt: at,
    failures: 0,
    relapses,
    recoverable,
    ...concernOf(state, securityAt),
  };
  return { state: escalated, effects: [announce('escalated', at, reason)] };
}

function recovering(
  state: Escalated | Blocked,
  at: number,
  reason: string,
  episode: Recovering['episode'],
  relapses: readonly number[],
): Transition {
  const { tally } = state;
  const trial = { since: at, reason: state.reason, episode, successes: 0, relapses, ...concernOf(state) };
  return {
    state: { status: 'RECOVERING', tally, ...trial },
    effects: [announce('recovering', at, reason)],
  };
}

function block(
  state: TrustState,
  at: number,
  reason: string,
  { by, securityAt }: { by?: string; securityAt?: number | undefined } = {},
): Transition {
  const concern = concernOf(state, securityAt);
  const blocked: Blocked = {
    status: 'BLOCKED',
    tally: state.tally,
    since: at,
    reason,
    ...(by ? { by } : {}),
    ...concern,
  };
  return { state: blocked, effects: [announce('blocked', at, reason)] };
}

function announce(change: TrustEffect['change'], at: number, reason: string): TrustEffect {
  return { type: 'announce', change, at, reason };
}

function unchanged(state: TrustState): Transition {
  return { state, effects: [] };
}

function escalationMs(state: Escalated, rule: EffectiveRule): number {
  const base = rule.escalationDurationSeconds * 1000;
  return Math.max(base, Math.min(base * 2 ** state.relapses.length, DAY_MS));
}
