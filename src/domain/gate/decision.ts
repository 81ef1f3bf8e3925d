import type { HeldNow } from '../approval/about.ts';
import type { Status } from '../trust/trust.ts';

/** The gate's answer to a call. */
export type Decision = Allow | Ask | Deny;
export type Answer = Decision['decision'];

interface Reasoned {
  readonly because: string;
  /** The version of trust the answer rests on; sent along with the outcome. Absent where nothing was in doubt. */
  readonly trustVersion?: number;
  readonly escalation?: Escalation;
}

export interface Allow extends Reasoned {
  readonly decision: 'allow';
  /** The grant that answered instead of a person. */
  readonly grant?: string;
  /** What would have been answered were the rule enforced. */
  readonly shadow?: Ask | Deny;
}

export interface Ask extends Reasoned {
  readonly decision: 'ask';
  /** How it can be satisfied: by trying under a lease, by what a person has granted for one call, or by a person. */
  readonly via: 'probe' | 'grant' | 'person';
  /** The grant to use up. */
  readonly grant?: string;
  /** When the newest of what is held against the call began; a grant from before that does not answer it. */
  readonly heldSince?: number;
  /** A security failure is among what is held. */
  readonly isSecurity?: boolean;
  /** Seconds after which asking again may be answered otherwise. */
  readonly retryAfter?: number;
  /** What must be leased for a probe. */
  readonly probes?: readonly { readonly key: string; readonly part: string }[];
}

export interface Deny extends Reasoned {
  readonly decision: 'deny';
  readonly retryAfter?: number;
}

/** Everything a person or an agent is told about why a call is held. */
export interface Escalation {
  readonly subject: string;
  readonly scope?: string;
  readonly server: string;
  readonly state: Exclude<Status, 'TRUSTED'>;
  readonly reason: string;
  readonly failureCount: number;
  readonly windowSeconds: number;
  readonly since: string;
  readonly until?: string;
  readonly successesNeeded: number;
  readonly recoveryHint: string;
  readonly warningLevel: 'info' | 'warning' | 'critical';
}

/** What a person who is asked answers for. */
export function heldBy({ heldSince = 0, isSecurity = false, escalation }: Ask): HeldNow {
  return { heldSince, isSecurity, state: escalation?.state ?? null };
}

/** Another authority, or another scope, has its say, too: the stricter of the two answers holds, and of equals the first. */
export function stricterDecision(mine: Decision, theirs: Decision): Decision {
  const [holds, other] = strictness(theirs) > strictness(mine) ? [theirs, mine] : [mine, theirs];
  return holds.decision === 'ask' && other.decision === 'ask' ? withHeldBy(holds, other) : holds;
}

/** Who is to be asked is another question than what is held: a person answers for all of it, and a probe leases all of it. */
function withHeldBy(ask: Ask, other: Ask): Ask {
  const { isSecurity, escalation, trustVersion } = other;
  const isHeld = ask.heldSince !== undefined || other.heldSince !== undefined;
  return {
    ...(isSecurity === undefined ? {} : { isSecurity }),
    ...(escalation === undefined ? {} : { escalation }),
    ...(trustVersion === undefined ? {} : { trustVersion }),
    ...ask,
    ...(isHeld ? { heldSince: Math.max(ask.heldSince ?? 0, other.heldSince ?? 0) } : {}),
    ...(ask.probes === undefined ? {} : { probes: allOf(ask.probes, other.probes ?? []) }),
  };
}

type Probes = NonNullable<Ask['probes']>;

function allOf(some: Probes, others: Probes): Probes {
  const isNew = ({ key, part }: Probes[number]) => !some.some((known) => known.key === key && known.part === part);
  return [...some, ...others.filter(isNew)];
}

/** A question for a person is not answered by a probe; what would be held counts where nothing is. */
function strictness(decision: Decision): number {
  switch (decision.decision) {
    case 'allow':
      return decision.shadow === undefined ? 0 : 1;
    case 'ask':
      if (decision.via === 'probe') return 2;
      return decision.escalation === undefined ? 3 : decision.escalation.state === 'BLOCKED' ? 5 : 4;
    case 'deny':
      return 6;
  }
}
