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
 * Trust of a subject by part: WHOLE is the tool or server itself, 'host:…' a scope of it, and '<part>@<agent>' what one
 * agent alone has seen while `minReporters` is not met. A trusted part with nothing left to count is not stored.
 */
export type Parts = Readonly<Record<string, TrustState>>;

export const WHOLE = '';

export function scopeOfPart(part: string): string {
  const end = part.lastIndexOf('@');
  return end === -1 ? part : part.slice(0, end);
}

/** The agent is encoded, so that the last '@' always separates. */
export function partOfAgent(scope: string, agent: string): string {
  return `${scope}@${encodeURIComponent(agent)}`;
}

export function ruleOfPart(subject: Subject, view: RuleView, part: string): EffectiveRule {
  return subject.kind === 'server' ? forServer(view.own.rule) : forTool(ruleForScope(view, scopeOfPart(part)).rule);
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
