import type { RetrySection } from '../domain/execution/execution.schema.ts';
import { TRAITS } from '../domain/execution/errors.ts';
import type { ErrorCategory } from '../domain/execution/errors.ts';
import { pause } from '../pause.ts';

export interface Retrying<T> {
  readonly terms: RetrySection;
  /** What the tool says of itself: whether running it twice does no more than running it once. */
  readonly retryable: boolean;
  /** Why an attempt failed; undefined for one that did not. */
  readonly failureOf: (result: T) => ErrorCategory | undefined;
  readonly stopped?: AbortSignal | undefined;
  /** For tests. */
  readonly random?: () => number;
  readonly wait?: (ms: number, stopped?: AbortSignal) => Promise<unknown>;
}

/** The longest wait before attempt n + 1, n counted from 1. */
export function backoffCeiling(attempt: number, { baseMs, maxMs }: Pick<RetrySection, 'baseMs' | 'maxMs'>): number {
  return Math.min(baseMs * 2 ** Math.min(attempt, 10), maxMs);
}

/**
 * Runs until it succeeds, fails for good, or attempts or time are used up. Waits anything from nothing to the ceiling, so
 * that many who failed together do not come back together.
 */
export async function withRetries<T>(
  attempt: (number: number) => Promise<T>,
  { terms, retryable, failureOf, stopped, random = Math.random, wait = pause }: Retrying<T>,
): Promise<{ readonly result: T; readonly attempts: number }> {
  const until = performance.now() + terms.budgetSecs * 1000;
  for (let number = 1; ; number += 1) {
    const began = performance.now();
    const result = await attempt(number);
    const failure = failureOf(result);
    const over = { result, attempts: number };
    if (failure === undefined || !retryable || !TRAITS[failure].retry || number >= terms.maxAttempts) return over;
    const waitMs = random() * backoffCeiling(number, terms);
    // The next one may take as long as this one has.
    const ended = performance.now();
    if (ended + waitMs + (ended - began) > until) return over;
    await wait(waitMs, stopped);
    if (stopped?.aborted === true) return over;
  }
}
