/**
 * Trust of one subject: a server, a tool, or a scope of a tool.
 *
 * TRUSTED     Entered at first sight, by a person's reset, and after `successCountToRecover` successes in RECOVERING.
 *             Left when a counted failure meets a threshold (→ ESCALATED), when credentials are refused repeatedly or
 *             text speaks of a security failure (→ ESCALATED at once), on structured evidence of a security failure
 *             (→ BLOCKED), or by a person (→ BLOCKED).
 * ESCALATED   A person must approve each call. Left by time: at the later of `since + duration` and
 *             `lastFailureAt + cooldown` (→ RECOVERING), unless recovery is manual; by a person's `recover`
 *             (→ RECOVERING); after `blockAfter` counted failures of calls admitted within the episode (→ BLOCKED).
 * RECOVERING  One probe at a time. Left after exactly N successes (→ TRUSTED, and what failed before no longer counts),
 *             or by one counted failure (→ ESCALATED for twice as long per relapse, at most a day; or → BLOCKED when
 *             relapses pile up within the window).
 * BLOCKED     Denied. Left by a person's reset (→ TRUSTED), or by time where the rule sets `blockDuration`
 *             (→ RECOVERING). Nothing else leaves it.
 *
 * Every deadline is computed from stored facts and the rule in force, so a new rule moves it.
 *
 * `securityAt` says since when a security failure is among what is held. It stays until trust is whole again.
 */
export type TrustState = Trusted | Escalated | Recovering | Blocked;
export type Status = TrustState['status'];

export interface Trusted {
  readonly status: 'TRUSTED';
  readonly tally: Tally;
}

export interface Escalated {
  readonly status: 'ESCALATED';
  readonly tally: Tally;
  readonly since: number;
  readonly reason: string;
  readonly episode: Episode;
  readonly lastFailureAt: number;
  /** Counted failures of calls that were admitted within the episode. */
  readonly failures: number;
  /** Times of the relapses since trust was last whole; the duration doubles with each. */
  readonly relapses: readonly number[];
  /** False once a failure said that it will not pass by itself. */
  readonly recoverable: boolean;
  readonly securityAt?: number;
}

export interface Recovering {
  readonly status: 'RECOVERING';
  readonly tally: Tally;
  readonly since: number;
  readonly reason: string;
  readonly episode: Episode;
  readonly successes: number;
  readonly relapses: readonly number[];
  readonly securityAt?: number;
}

export interface Blocked {
  readonly status: 'BLOCKED';
  readonly tally: Tally;
  readonly since: number;
  readonly reason: string;
  readonly by?: string;
  readonly securityAt?: number;
}

/** When distrust began, and under which projected version gates could first know of it. */
export interface Episode {
  readonly at: number;
  readonly version: number;
}

/** What is remembered of outcomes. Bounded, and recording costs the same however many there were. */
export interface Tally {
  readonly consecutive: number;
  /** Times of the latest counted failures, oldest first. */
  readonly failures: readonly number[];
  /** Who saw each of them; kept only where the rule asks for several reporters. */
  readonly reporters?: readonly string[];
  readonly refusals?: readonly number[];
  readonly rate?: Rate;
  readonly lastFailureAt?: number;
  /** When a counted failure last said that it will not pass by itself. */
  readonly incurableAt?: number;
  readonly lastSuccessAt?: number;
  /** A reset or a recovery cuts here: nothing that happened before counts again. */
  readonly cutAt?: number;
}

/** Calls and counted failures in twenty slices of the window; `newest` is the number of the latest slice. */
export interface Rate {
  readonly sliceMs: number;
  readonly newest: number;
  readonly calls: readonly number[];
  readonly failures: readonly number[];
}

export const NO_TALLY: Tally = { consecutive: 0, failures: [] };
export const TRUSTED: Trusted = { status: 'TRUSTED', tally: NO_TALLY };

const STRICTNESS: Readonly<Record<Status, number>> = { TRUSTED: 0, RECOVERING: 1, ESCALATED: 2, BLOCKED: 3 };

export function stricter(a: Status, b: Status): boolean {
  return STRICTNESS[a] > STRICTNESS[b];
}

/** Since when a security failure is among what is held; undefined where none is. */
export function concernSince(state: TrustState): number | undefined {
  return state.status === 'TRUSTED' ? undefined : state.securityAt;
}

/** A security failure is held from its first on; of a trusted subject nothing is. */
export function withConcern(state: TrustState, at: number): TrustState {
  return state.status === 'TRUSTED' || state.securityAt !== undefined ? state : { ...state, securityAt: at };
}
