import type { RuleView } from '../rules/resolve.ts';
import { viewForServer, viewForTool } from '../rules/resolve.ts';
import type { Rules } from '../rules/rules.schema.ts';
import { partLabel } from './describe.ts';
import { ruleOfPart, scopeOfPart, WHOLE } from './parts.ts';
import type { Subject } from './parts.ts';
import { dueAt } from './transition.ts';
import type { Status, TrustState } from './trust.ts';

export function rulesOf(
  { kind, server, name }: Subject,
  { rules, version }: { readonly rules: Rules; readonly version: number },
): RuleView {
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

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
