import { partLabel } from '../domain/trust/describe.ts';
import type { RuleView } from '../domain/rules/resolve.ts';
import { viewForServer, viewForTool } from '../domain/rules/resolve.ts';
import { ruleOfPart, scopeOfPart, WHOLE } from '../domain/trust/parts.ts';
import type { Subject } from '../domain/trust/parts.ts';
import { dueAt } from '../domain/trust/transition.ts';
import type { Status, TrustState } from '../domain/trust/trust.ts';
import type { PublishedRules } from '../postgres/rules.ts';
import type { Cell } from './table.ts';
import type { Style } from './terminal.ts';
import { clock, fromNow, iso } from './time.ts';

const STYLE: Readonly<Record<Status, Style>> = {
  TRUSTED: 'green',
  RECOVERING: 'cyan',
  ESCALATED: 'yellow',
  BLOCKED: 'red',
};

export function stateCell(status: Status): Cell {
  return { text: status, style: STYLE[status] };
}

export function rulesOf({ kind, server, name }: Subject, { rules, version }: PublishedRules): RuleView {
  return kind === 'server' ? viewForServer(rules, version, server) : viewForTool(rules, version, server, name);
}

/** api.example.com, program git, all calls. */
export function partName(part: string): string {
  return partLabel(part).replace(/^for /, '') || 'all calls';
}

/** One part of a subject, for people and for JSON alike. */
export interface PartView {
  readonly scope: string | null;
  readonly label: string;
  readonly state: Status;
  readonly since: string | null;
  readonly reason: string | null;
  readonly until: string | null;
  readonly successes: number | null;
  readonly successesNeeded: number | null;
  /** Who ordered it, where a person did. */
  readonly by: string | null;
}

export function partView(subject: Subject, rules: RuleView, part: string, state: TrustState): PartView {
  const rule = ruleOfPart(subject, rules, part);
  const due = dueAt(state, rule);
  const scope = scopeOfPart(part);
  return {
    scope: scope === WHOLE ? null : scope,
    label: partName(part),
    state: state.status,
    since: state.status === 'TRUSTED' ? null : iso(state.since),
    reason: state.status === 'TRUSTED' ? null : state.reason,
    until: due === undefined ? null : iso(due),
    successes: state.status === 'RECOVERING' ? state.successes : null,
    successesNeeded: state.status === 'TRUSTED' ? null : rule.successCountToRecover,
    by: state.status === 'BLOCKED' ? (state.by ?? null) : null,
  };
}

/** What comes next, in few words: the end of an escalation, successes still to come, or the order it takes. */
export function nextIn({ state, until, successes, successesNeeded }: PartView, now: number): string {
  switch (state) {
    case 'TRUSTED':
      return '';
    case 'ESCALATED':
      return until === null ? 'surety recover' : ends(Date.parse(until), now);
    case 'RECOVERING':
      return `${successes ?? 0} of ${successesNeeded ?? 0} successes`;
    case 'BLOCKED':
      return until === null ? 'surety reset' : ends(Date.parse(until), now);
  }
}

/** The same in a sentence. */
export function endOf({ state, until, successes, successesNeeded }: PartView, now: number): string {
  const when = until === null ? '' : `${clock(Date.parse(until))} UTC (${fromNow(Date.parse(until), now)})`;
  switch (state) {
    case 'TRUSTED':
      return 'nothing is held against it';
    case 'ESCALATED':
      return until === null
        ? 'a person ends it: surety recover'
        : `escalation ends ${when}; then ${successesNeeded ?? 0} successes`;
    case 'RECOVERING':
      return `${successes ?? 0} of ${successesNeeded ?? 0} successes seen; one call is tried at a time`;
    case 'BLOCKED':
      return until === null ? 'a person ends it: surety reset' : `block ends ${when}`;
  }
}

function ends(at: number, now: number): string {
  // A deadline that has passed is applied by the worker within a moment; if it is not, that is worth seeing.
  return at >= now ? fromNow(at, now) : `due ${fromNow(at, now)}`;
}
