import { forServer, forTool } from '../rules/rule.ts';
import type { EffectiveRule } from '../rules/rule.ts';
import type { RuleView } from '../rules/resolve.ts';
import { ruleForScope } from '../rules/resolve.ts';
import { dueAt } from './transition.ts';
import type { TrustState } from './trust.ts';
import { stricter, TRUSTED } from './trust.ts';

/** What one workflow keeps the trust of. */
export interface Subject {
  readonly kind: 'tool' | 'server';
  readonly server: string;
  /** Empty for a server. */
  readonly name: string;
}

/**
 * Trust of a subject by part: WHOLE is the tool or server itself, 'host:…' a scope of it, and '<part>␟<agent>' what one
 * agent alone has seen while `minReporters` is not met. A trusted part with nothing left to count is not stored.
 */
export type Parts = Readonly<Record<string, TrustState>>;

export const WHOLE = '';

// Scopes hold no control characters (see domain/key/scope.ts), so this one always separates.
const SEPARATOR = '\u001f';

export function scopeOfPart(part: string): string {
  const end = part.indexOf(SEPARATOR);
  return end === -1 ? part : part.slice(0, end);
}

export function agentOfPart(part: string): string | undefined {
  const end = part.indexOf(SEPARATOR);
  return end === -1 ? undefined : part.slice(end + 1);
}

export function partOfAgent(scope: string, agent: string): string {
  return `${scope}${SEPARATOR}${agent}`;
}

export function ruleOfPart(subject: Subject, view: RuleView, part: string): EffectiveRule {
  if (subject.kind === 'server') return forServer(view.own.rule);
  const rule = forTool(ruleForScope(view, scopeOfPart(part)).rule);
  // What one agent has seen is judged for that agent alone: there is nobody else to wait for.
  return agentOfPart(part) === undefined ? rule : { ...rule, minReporters: 1 };
}

/** The next moment at which time alone changes something. */
export function nextDue(subject: Subject, parts: Parts, view: RuleView): { at: number; part: string } | undefined {
  let next: { at: number; part: string } | undefined;
  for (const [part, state] of Object.entries(parts)) {
    if (state.status === 'TRUSTED') continue;
    const at = dueAt(state, ruleOfPart(subject, view, part));
    if (at !== undefined && (next === undefined || at < next.at)) next = { at, part };
  }
  return next;
}

/** The strictest part, WHOLE first among equals: what a list shows in one word. */
export function strictest(parts: Parts): { readonly part: string; readonly state: TrustState } {
  let found: { part: string; state: TrustState } = { part: WHOLE, state: parts[WHOLE] ?? TRUSTED };
  for (const [part, state] of Object.entries(parts)) {
    if (stricter(state.status, found.state.status)) found = { part, state };
  }
  return found;
}

/** Whether successes may arrive folded and need not ring: nothing here waits for one. */
export function isPlain(parts: Parts): boolean {
  return Object.values(parts).every((state) => state.status === 'TRUSTED');
}
