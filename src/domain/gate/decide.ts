import type { RuleView } from '../rules/resolve.ts';
import { ruleForScope } from '../rules/resolve.ts';
import type { Rule, Situations } from '../rules/rules.schema.ts';
import { labelOf, nameOf, partLabel } from '../trust/describe.ts';
import type { Parts, Subject } from '../trust/parts.ts';
import { partOfAgent, ruleOfPart, WHOLE } from '../trust/parts.ts';
import { duration, failuresInWindow, plural } from '../trust/tally.ts';
import { dueAt } from '../trust/transition.ts';
import { concernSince, stricter } from '../trust/trust.ts';
import type { Status, TrustState } from '../trust/trust.ts';
import type { Ask, Decision, Deny, Escalation } from './decision.ts';

/** What is known of a subject that is not plainly trusted. */
export interface InDoubt {
  readonly key: string;
  readonly subject: Subject;
  readonly version: number;
  readonly parts: Parts;
  readonly rules: RuleView;
}

export interface CallAtGate {
  readonly scope?: string;
  readonly agent?: string;
}

/** How well the gate is informed. */
export type Situation = 'fresh' | 'stale' | 'empty';

export interface Circumstances {
  readonly tool?: InDoubt;
  readonly server?: InDoubt;
  readonly subject: Subject;
  readonly view: RuleView;
  readonly situations: Situations;
  readonly situation: Situation;
  readonly isKnown: boolean;
  /** Why the gate is not informed, where it is not. */
  readonly trouble?: string;
  readonly now: number;
}

/** The answer by trust and situation; blocklist, break glass and grants are the gate's own business. */
export function decide(call: CallAtGate, at: Circumstances): Decision {
  const rule = ruleForScope(at.view, call.scope ?? WHOLE).rule;
  const decision = strictly(call, at, rule);
  return decision.decision === 'allow' || rule.enforce
    ? decision
    : { decision: 'allow', because: `shadow mode: ${decision.because}`, shadow: decision };
}

function strictly(call: CallAtGate, at: Circumstances, rule: Rule): Decision {
  const held = found(call, at);
  const worst = held.reduce<Held | undefined>(
    (worst, next) => (worst === undefined || isWorse(next.state, worst.state) ? next : worst),
    undefined,
  );
  if (worst === undefined) return bySituation(at, rule);
  const escalation = escalationOf(worst, at.now);
  if (escalation === undefined) return bySituation(at, rule);
  const isSecurity = held.some(({ state }) => isConcern(state));
  const because =
    `${labelOf(worst.doubt.subject, worst.part)} is ${worst.state.status}: ${escalation.reason}` +
    // Where it is what distrust began with, the reason says so.
    (isSecurity && !beganWithConcern(worst.state) ? ', and security is concerned' : '');
  // Of the tool, whoever is to blame: it is the tool's workflow that compares it.
  const trustVersion = at.tool?.version ?? 0;
  const heldSince = Math.max(
    ...held.map(({ state }) => (state.status === 'TRUSTED' ? 0 : Math.max(state.since, state.securityAt ?? 0))),
  );
  const asked = { heldSince, ...(isSecurity ? { isSecurity } : {}) };
  const retryAfter =
    escalation.until === undefined
      ? {}
      : { retryAfter: Math.max(1, Math.ceil((Date.parse(escalation.until) - at.now) / 1000)) };
  switch (escalation.state) {
    case 'BLOCKED': {
      const answer = at.situations.blocked[rule.risk];
      if (answer === 'allow') return { decision: 'allow', because };
      return answer === 'deny'
        ? { decision: 'deny', because, trustVersion, escalation, ...retryAfter }
        : { decision: 'ask', via: 'person', because, trustVersion, escalation, ...asked, ...retryAfter };
    }
    case 'ESCALATED':
      return { decision: 'ask', via: 'person', because, trustVersion, escalation, ...asked, ...retryAfter };
    case 'RECOVERING': {
      const probes = held
        .filter(({ state }) => state.status === 'RECOVERING')
        .map(({ doubt, part }) => ({ key: doubt.key, part }));
      return { decision: 'ask', via: 'probe', because, trustVersion, escalation, ...asked, probes };
    }
  }
}

/** Of equally strict ones a person is told of the one that concerns security. */
function isWorse(state: TrustState, than: TrustState): boolean {
  if (state.status !== than.status) return stricter(state.status, than.status);
  return isConcern(state) && !isConcern(than);
}

function beganWithConcern(state: TrustState): boolean {
  return state.status !== 'TRUSTED' && state.securityAt === state.since;
}

function isConcern(state: TrustState): boolean {
  return concernSince(state) !== undefined;
}

export interface Held {
  readonly doubt: Pick<InDoubt, 'subject' | 'rules' | 'key' | 'version'>;
  readonly part: string;
  readonly state: TrustState;
}

/** Every part that has a say: the server, the tool, the scope, and what this agent alone has seen. */
function found(call: CallAtGate, { server, tool }: Circumstances): Held[] {
  const scope = call.scope ?? WHOLE;
  const own = call.agent ?? '';
  const parts = [...new Set([WHOLE, scope, partOfAgent(WHOLE, own), partOfAgent(scope, own)])];
  const held: Held[] = [];
  const look = (doubt: InDoubt | undefined, names: readonly string[]) => {
    for (const part of names) {
      const state = doubt?.parts[part];
      if (doubt !== undefined && state !== undefined && state.status !== 'TRUSTED') held.push({ doubt, part, state });
    }
  };
  look(server, [WHOLE]);
  look(tool, parts);
  return held;
}

const NOT_SURE: Readonly<Record<Situation | 'unknown', string>> = {
  fresh: 'nothing is held against it',
  unknown: 'no outcome of this tool has been seen yet',
  stale: 'the gate has lost touch and may not know the latest',
  empty: 'the gate has not been able to learn anything yet',
};

function bySituation({ situation, situations, isKnown, trouble }: Circumstances, rule: Rule): Decision {
  const kind = situation === 'fresh' && !isKnown ? 'unknown' : situation;
  const because = trouble === undefined || situation === 'fresh' ? NOT_SURE[kind] : `${NOT_SURE[kind]}: ${trouble}`;
  const answer = kind === 'fresh' ? 'allow' : situations[kind][rule.risk];
  switch (answer) {
    case 'allow':
      return { decision: 'allow', because };
    case 'ask':
      return { decision: 'ask', via: 'person', because: `${because} (risk: ${rule.risk})` } satisfies Ask;
    case 'deny':
      return { decision: 'deny', because: `${because} (risk: ${rule.risk})` } satisfies Deny;
  }
}

const WARNING: Readonly<Record<Exclude<Status, 'TRUSTED'>, Escalation['warningLevel']>> = {
  RECOVERING: 'info',
  ESCALATED: 'warning',
  BLOCKED: 'critical',
};

/** Undefined for a part that is trusted. */
export function escalationOf({ doubt, part, state }: Held, now: number): Escalation | undefined {
  if (state.status === 'TRUSTED') return undefined;
  const { subject } = doubt;
  const rule = ruleOfPart(subject, doubt.rules, part);
  const due = dueAt(state, rule);
  const successesNeeded = rule.successCountToRecover - (state.status === 'RECOVERING' ? state.successes : 0);
  return {
    subject: nameOf(subject),
    server: subject.server,
    ...(part === WHOLE ? {} : { scope: partLabel(part).replace(/^for /, '') }),
    state: state.status,
    reason: state.reason,
    failureCount: failuresInWindow(state.tally, rule, now),
    windowSeconds: rule.windowSeconds,
    since: new Date(state.since).toISOString(),
    ...(due === undefined ? {} : { until: new Date(due).toISOString() }),
    successesNeeded,
    recoveryHint: recoveryHint(state.status, due, successesNeeded),
    warningLevel: WARNING[state.status],
  };
}

function recoveryHint(status: Exclude<Status, 'TRUSTED'>, due: number | undefined, successesNeeded: number): string {
  const successes = `${successesNeeded} successful ${successesNeeded === 1 ? 'call' : 'calls'}`;
  switch (status) {
    case 'ESCALATED':
      return due === undefined
        ? 'A person must order recovery (surety recover).'
        : `From ${new Date(due).toISOString()} it is tried again; ${successes} then ${successesNeeded === 1 ? 'restores' : 'restore'} trust.`;
    case 'RECOVERING':
      return `One call at a time is let through; ${successesNeeded} more successful ${successesNeeded === 1 ? 'call restores' : 'calls restore'} trust.`;
    case 'BLOCKED':
      return due === undefined
        ? 'Only a person can lift the block (surety reset).'
        : `The block ends at ${new Date(due).toISOString()}.`;
  }
}

/** For the reader of a prompt: "3 failures in 1 h". */
export function evidenceOf({ failureCount, windowSeconds }: Escalation): string {
  return `${plural(failureCount, 'failure')} in ${duration(windowSeconds)}`;
}
