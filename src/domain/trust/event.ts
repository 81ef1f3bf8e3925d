import type { Category, Evidence, Severity } from '../outcome/outcome.ts';

/** Facts about one subject, in the order of the ledger. Times are epoch milliseconds. */
export type TrustEvent = CallSucceeded | CallFailed | DeadlineReached | OrderGiven | ScopesOverflowed;

interface OfACall {
  readonly at: number;
  /** What the caller knew: the version of trust its call was admitted under, else when the call began. */
  readonly trustVersion?: number | undefined;
  readonly startedAt?: number | undefined;
  readonly agent?: string | undefined;
}

export interface CallSucceeded extends OfACall {
  readonly type: 'callSucceeded';
  /** Successes of a trusted subject arrive folded. */
  readonly count: number;
  /** Ran under a probe lease that had lapsed: somebody else may have been let in, so it proves nothing. */
  readonly lapsed?: boolean;
}

export interface CallFailed extends OfACall {
  readonly type: 'callFailed';
  readonly severity: Severity;
  readonly category: Category;
  readonly evidence: Evidence;
  readonly recoverable: boolean;
  /** A probe that was never answered counts, whatever the rule filters. */
  readonly silentProbe?: boolean;
  /** Failures of a trusted subject that can change nothing arrive folded; `times` are those of the latest. */
  readonly count?: number | undefined;
  readonly times?: readonly number[] | undefined;
}

export interface DeadlineReached {
  readonly type: 'deadlineReached';
  readonly at: number;
}

export type OrderName = 'reset' | 'block' | 'recover';

export interface OrderGiven {
  readonly type: 'orderGiven';
  readonly order: OrderName;
  readonly at: number;
  readonly by: string;
  readonly reason: string;
}

export interface ScopesOverflowed {
  readonly type: 'scopesOverflowed';
  readonly at: number;
}

/** What a change of state asks the world to do. Data only: the workflow performs it. */
export interface TrustEffect {
  readonly type: 'announce';
  readonly change: 'escalated' | 'relapsed' | 'recovering' | 'recovered' | 'blocked' | 'reset';
  readonly at: number;
  readonly reason: string;
}
