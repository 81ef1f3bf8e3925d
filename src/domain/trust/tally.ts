import type { EffectiveRule } from '../rules/rule.ts';
import type { CallFailed, CallSucceeded } from './event.ts';
import type { Rate, Tally } from './trust.ts';

export const SLICES = 20;
const HOUR_MS = 3_600_000;

/** Enough to be exact up to the threshold, and to tell a person a truthful number a little beyond it. */
export function remembered(rule: EffectiveRule): number {
  return Math.max(10, 2 * (rule.countThreshold ?? 0));
}

export function isCut(tally: Tally, at: number): boolean {
  return tally.cutAt !== undefined && at < tally.cutAt;
}

export function withFailure(tally: Tally, event: CallFailed, rule: EffectiveRule, counted: boolean): Tally {
  if (isCut(tally, event.at)) return tally;
  const next: Changing = { ...tally };
  const { count = 1 } = event;
  next.consecutive += count;
  next.lastFailureAt = Math.max(tally.lastFailureAt ?? event.at, event.at);
  if (needsRate(rule)) next.rate = withCalls(tally.rate, event.at, count, counted ? count : 0, rule);
  if (isRefusal(event, rule))
    next.refusals = latest([...(tally.refusals ?? []), event.at], rule.repeatedAuthThreshold ?? 1);
  if (!counted) return next;
  if (!event.recoverable) next.incurableAt = Math.max(tally.incurableAt ?? event.at, event.at);
  return Object.assign(next, ringWith(tally, event, rule));
}

/** Copied once and then written to: this runs for every outcome. */
type Changing = { -readonly [K in keyof Tally]: Tally[K] };

/** The latest counted failures in the order of their times, and who saw them. */
function ringWith(tally: Tally, event: CallFailed, rule: EffectiveRule): Pick<Tally, 'failures' | 'reporters'> {
  if (event.times !== undefined) return { failures: latest(mergedWith(tally.failures, event.times), remembered(rule)) };
  const position = insertionPoint(tally.failures, event.at);
  const failures = tally.failures.toSpliced(position, 0, event.at);
  if (rule.minReporters === 1) return { failures: latest(failures, remembered(rule)) };
  const known = tally.reporters ?? tally.failures.map(() => '');
  const reporters = known.toSpliced(position, 0, event.agent ?? '');
  return { failures: latest(failures, remembered(rule)), reporters: latest(reporters, remembered(rule)) };
}

/** Whether none of the failures that still count said that it will not pass by itself. */
export function isRecoverable(tally: Tally, rule: EffectiveRule, at: number): boolean {
  return tally.incurableAt === undefined || tally.incurableAt < at - (rule.windowSeconds * 1000 + fadeMs(rule));
}

export function withSuccess(tally: Tally, event: CallSucceeded, rule: EffectiveRule): Tally {
  if (isCut(tally, event.at)) return tally;
  const next: Changing = { ...tally };
  next.consecutive = 0;
  next.lastSuccessAt = Math.max(tally.lastSuccessAt ?? event.at, event.at);
  if (needsRate(rule)) next.rate = withCalls(tally.rate, event.at, event.count, 0, rule);
  return next;
}

/** Why a counted failure at `at` escalates under this rule, or undefined. */
export function thresholdMet(tally: Tally, rule: EffectiveRule, at: number): string | undefined {
  const enoughReporters = reportersInWindow(tally, rule, at) >= rule.minReporters;
  if (!enoughReporters) return undefined;
  const count = excessInWindow(tally, rule, at);
  if (rule.countThreshold !== null && count >= rule.countThreshold) {
    return `${plural(failuresInWindow(tally, rule, at), 'failure')} in ${duration(rule.windowSeconds)}`;
  }
  if (rule.consecutiveThreshold !== null && tally.consecutive >= rule.consecutiveThreshold) {
    return `${tally.consecutive} consecutive failures`;
  }
  const { calls, failures } = ratesInWindow(tally, at);
  if (rule.rateThreshold !== null && calls >= rule.minSamples) {
    const rate = failures / calls;
    if (rate - rule.expectedFailureRate >= rule.rateThreshold) {
      return `${Math.round(rate * 100)} % of ${calls} calls failed in ${duration(rule.windowSeconds)}`;
    }
  }
  return undefined;
}

/** What is in the window as of the newest call, of `time`, and in between: a late report is judged as of its own time. */
export function windowsUntil(rate: Rate | undefined, time: number): readonly { calls: number; failures: number }[] {
  if (rate === undefined) return [{ calls: 0, failures: 0 }];
  const steps = Math.min(SLICES, Math.max(0, Math.floor(time / rate.sliceMs) - rate.newest));
  return Array.from({ length: steps + 1 }, (_, step) => totalOf(moveTo(rate, rate.newest + step)));
}

export function repeatedRefusal(tally: Tally, rule: EffectiveRule, at: number): boolean {
  const oldest = at - rule.windowSeconds * 1000;
  const refusals = (tally.refusals ?? []).filter((time) => time >= oldest);
  return rule.repeatedAuthThreshold !== null && refusals.length >= rule.repeatedAuthThreshold;
}

/** Whole failures still inside the window; one whose age equals the window is inside. */
export function failuresInWindow(tally: Tally, rule: EffectiveRule, at: number): number {
  const oldest = at - rule.windowSeconds * 1000;
  return tally.failures.filter((time) => time >= oldest).length;
}

/** True when nothing the rule could ever count is left: such a scope need not be stored. */
export function isSpent(tally: Tally, rule: EffectiveRule, at: number): boolean {
  const oldest = at - (rule.windowSeconds * 1000 + fadeMs(rule));
  const newest = Math.max(tally.lastFailureAt ?? 0, tally.cutAt ?? 0);
  return newest < oldest && ratesInWindow(tally, at).calls === 0;
}

export function excessInWindow(tally: Tally, rule: EffectiveRule, at: number): number {
  if (rule.expectedFailureRate > 0) {
    const { calls, failures } = ratesInWindow(tally, at);
    return failures - rule.expectedFailureRate * calls;
  }
  const oldest = at - rule.windowSeconds * 1000;
  return tally.failures.reduce((sum, time) => {
    if (time >= oldest) return sum + 1;
    return rule.decayPerHour === 0 ? sum : sum + Math.max(0, 1 - ((oldest - time) / HOUR_MS) * rule.decayPerHour);
  }, 0);
}

function reportersInWindow(tally: Tally, rule: EffectiveRule, at: number): number {
  if (rule.minReporters === 1) return 1;
  const oldest = at - rule.windowSeconds * 1000;
  const seen = tally.failures.map((time, index) => (time >= oldest ? tally.reporters?.[index] : undefined));
  return new Set(seen.filter((agent) => agent !== undefined)).size;
}

function isRefusal(event: CallFailed, rule: EffectiveRule): boolean {
  return event.category === 'auth' && rule.repeatedAuthThreshold !== null;
}

export function needsRate(rule: EffectiveRule): boolean {
  return rule.rateThreshold !== null || rule.expectedFailureRate > 0;
}

function fadeMs(rule: EffectiveRule): number {
  return rule.decayPerHour === 0 ? 0 : HOUR_MS / rule.decayPerHour;
}

/** A call older than twenty slices is left out; a rule with another window starts its slices afresh. */
function withCalls(rate: Rate | undefined, at: number, calls: number, failures: number, rule: EffectiveRule): Rate {
  const sliceMs = sliceMsOf(rule);
  const slice = Math.floor(at / sliceMs);
  const empty = () => Array<number>(SLICES).fill(0);
  const known =
    rate?.sliceMs === sliceMs ? moveTo(rate, slice) : { sliceMs, newest: slice, calls: empty(), failures: empty() };
  const age = known.newest - slice;
  if (age >= SLICES) return known;
  const index = SLICES - 1 - age;
  return {
    ...known,
    calls: known.calls.with(index, (known.calls[index] ?? 0) + calls),
    failures: known.failures.with(index, (known.failures[index] ?? 0) + failures),
  };
}

export function sliceMsOf(rule: EffectiveRule): number {
  return Math.max(1, Math.floor((rule.windowSeconds * 1000) / SLICES));
}

function moveTo(rate: Rate, slice: number): Rate {
  const steps = Math.min(SLICES, slice - rate.newest);
  if (steps <= 0) return rate;
  const shifted = (slices: readonly number[]) => [...slices.slice(steps), ...Array<number>(steps).fill(0)];
  return { ...rate, newest: slice, calls: shifted(rate.calls), failures: shifted(rate.failures) };
}

function ratesInWindow(tally: Tally, at: number): { calls: number; failures: number } {
  if (tally.rate === undefined) return { calls: 0, failures: 0 };
  return totalOf(moveTo(tally.rate, Math.floor(at / tally.rate.sliceMs)));
}

function totalOf({ calls, failures }: Rate): { calls: number; failures: number } {
  const sum = (slices: readonly number[]) => slices.reduce((total, n) => total + n, 0);
  return { calls: sum(calls), failures: sum(failures) };
}

function insertionPoint(times: readonly number[], at: number): number {
  let index = times.length;
  while (index > 0 && (times[index - 1] ?? 0) > at) index -= 1;
  return index;
}

function mergedWith(times: readonly number[], more: readonly number[]): readonly number[] {
  return [...times, ...more].toSorted((a, b) => a - b);
}

function latest<T>(items: readonly T[], count: number): readonly T[] {
  return items.length > count ? items.slice(items.length - count) : items;
}

export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return count === 1 ? `1 ${noun}` : `${count} ${nouns}`;
}

/** For people: 45 s, 30 min, 1 h, 2 d. */
export function duration(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400} d`;
  if (seconds % 3600 === 0) return `${seconds / 3600} h`;
  if (seconds % 60 === 0) return `${seconds / 60} min`;
  return `${seconds} s`;
}
