import { forTool, DEFAULT_RULE } from '../../src/domain/rules/rule.ts';
import type { EffectiveRule } from '../../src/domain/rules/rule.ts';
import type { RuleView } from '../../src/domain/rules/resolve.ts';
import type { Rule } from '../../src/domain/rules/rules.schema.ts';
import type { CallFailed, CallSucceeded } from '../../src/domain/trust/event.ts';

export const HOUR = 3_600_000;

export function rule(parts: Partial<Rule> = {}): EffectiveRule {
  return forTool({ ...DEFAULT_RULE, ...parts });
}

export function viewOf(parts: Partial<Rule> = {}): RuleView {
  return { version: 1, shape: 1, own: { rule: { ...DEFAULT_RULE, ...parts }, level: 'default' }, domains: [] };
}

export function failed(at: number, parts: Partial<CallFailed> = {}): CallFailed {
  return {
    type: 'callFailed',
    at,
    severity: 'server_error',
    category: 'quality',
    evidence: 'text',
    recoverable: true,
    ...parts,
  };
}

export function succeeded(at: number, parts: Partial<CallSucceeded> = {}): CallSucceeded {
  return { type: 'callSucceeded', at, count: 1, ...parts };
}
