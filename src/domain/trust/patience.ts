import type { EffectiveRule } from '../rules/rule.ts';
import type { RuleView } from '../rules/resolve.ts';
import { MOST_SCOPES } from './bound.ts';
import { agentOfPart, isPlain, partOfAgent, ruleOfPart, scopeOfPart, WHOLE } from './parts.ts';
import type { Parts, Subject } from './parts.ts';
import { excessInWindow, needsRate, SLICES, sliceMsOf, windowsUntil } from './tally.ts';
import type { Tally } from './trust.ts';
import { NO_TALLY } from './trust.ts';

/** How many failures need not be judged one by one, of which scope, and until when that is sure. */
export interface Patience {
  /** WHOLE for calls that name none, and for servers, whose calls may name any. */
  readonly scope: string;
  readonly failures: number;
  /** Epoch milliseconds by the ledger's clock; null where time alone brings no threshold nearer. */
  readonly until: number | null;
}

/** Fewer are judged one by one: that costs little, and people see each of them counted. */
const WORTH_WAITING_FOR = 10;

/** What has piled up until then is read at once, and within a second or two. */
const MOST_WAITED_FOR = 5000;

/**
 * A tool that fails now and then, as its rule expects, need not be judged for each failure: only once there were enough
 * of them that one could change its state. Half as many, so that what people see is never far behind, and so that the other
 * half is left for calls that went well to leave the window meanwhile. It speaks of the scope that failed last and of no
 * other, as each has a count of its own; undefined where its next failure may matter.
 *
 * Never waited with is what escalates whatever the thresholds say (security, refused credentials), and of a subject in
 * doubt nothing is.
 */
export function patienceOf(
  subject: Subject,
  parts: Parts,
  view: RuleView,
  now: number,
  scope = failedLast(parts),
  atMost = MOST_WAITED_FOR,
): Patience | undefined {
  if (!isPlain(parts)) return undefined;
  const rule = ruleOfPart(subject, view, scope);
  // Each may add an agent, and too many parts are a reason of their own.
  const most = rule.minReporters > 1 ? MOST_SCOPES - Object.keys(parts).length : atMost;
  const counted = rule.minReporters > 1 ? [scope, ...agentsOf(scope, parts)] : [scope];
  const nearestUntil = (time: number) =>
    counted.reduce(
      (least, part) =>
        Math.min(least, failuresToThreshold(parts[part]?.tally ?? NO_TALLY, ruleOfPart(subject, view, part), time)),
      most,
    );
  const nearest = nearestUntil(now);
  if (nearest < WORTH_WAITING_FOR) return undefined;
  const until = needsRate(rule) ? lastSliceWith(nearest / 2, nearestUntil, now, sliceMsOf(rule)) : null;
  return { scope, failures: Math.floor(nearest / 2), until };
}

/** The end of the last slice until which it takes that many failures, whatever leaves the window meanwhile. */
function lastSliceWith(failures: number, nearestUntil: (time: number) => number, now: number, sliceMs: number): number {
  let until = (Math.floor(now / sliceMs) + 1) * sliceMs;
  for (let ahead = 1; ahead < SLICES && nearestUntil(until) >= failures; ahead += 1) until += sliceMs;
  return until;
}

function failedLast(parts: Parts): string {
  let [last, at] = [WHOLE, parts[WHOLE]?.tally.lastFailureAt ?? 0];
  for (const [part, { tally }] of Object.entries(parts)) {
    if (agentOfPart(part) !== undefined || (tally.lastFailureAt ?? 0) <= at) continue;
    [last, at] = [part, tally.lastFailureAt ?? 0];
  }
  return last;
}

/** What each agent alone has seen of a scope, somebody new included, who has seen nothing. */
function agentsOf(scope: string, parts: Parts): string[] {
  const known = Object.keys(parts).filter((part) => agentOfPart(part) !== undefined && scopeOfPart(part) === scope);
  return [...known, partOfAgent(scope, '')];
}

/**
 * How many further failures it takes, at the least, until one meets a threshold, if that is before the slice of the window
 * ends which `time` lies in.
 */
function failuresToThreshold(tally: Tally, rule: EffectiveRule, time: number): number {
  const { countThreshold, consecutiveThreshold, expectedFailureRate } = rule;
  // Slices of another window are begun afresh with the next call.
  const rate = tally.rate?.sliceMs === sliceMsOf(rule) ? tally.rate : undefined;
  const windows = windowsUntil(rate, time);
  const byRun = consecutiveThreshold === null ? Infinity : consecutiveThreshold - tally.consecutive;
  const byCount =
    countThreshold === null || expectedFailureRate > 0
      ? Infinity
      : Math.ceil(countThreshold - excessInWindow(tally, rule, tally.failures.at(-1) ?? 0));
  return windows.reduce(
    (least, { calls, failures }) => Math.min(least, byExcess(rule, calls, failures), byRate(rule, calls, failures)),
    Math.min(byRun, byCount),
  );
}

/** Each failure is a call, too. Calls that go well meanwhile only move it further away. */
function byExcess({ countThreshold, expectedFailureRate }: EffectiveRule, calls: number, failures: number): number {
  if (countThreshold === null || expectedFailureRate === 0) return Infinity;
  const missing = countThreshold - (failures - expectedFailureRate * calls);
  return missing <= 0 ? 1 : Math.ceil(missing / (1 - expectedFailureRate));
}

/** The rate is highest where as few calls go well as may: none, or those that are missing to the least sample. */
function byRate(rule: EffectiveRule, calls: number, failures: number): number {
  if (rule.rateThreshold === null) return Infinity;
  const share = rule.rateThreshold + rule.expectedFailureRate;
  const ofLeastSample = Math.ceil(share * rule.minSamples - failures);
  if (share < 1) return Math.max(ofLeastSample, Math.ceil((share * calls - failures) / (1 - share)));
  return failures < calls ? Infinity : ofLeastSample;
}
