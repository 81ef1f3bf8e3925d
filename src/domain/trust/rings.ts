import type { Category, Severity } from '../outcome/outcome.ts';
import type { Rule } from '../rules/rules.schema.ts';

/**
 * Whether the workflow of a trusted tool must hear of an outcome at once. What cannot escalate anything waits for the
 * next pull; when a tool is in doubt everything rings, and that is decided in the ledger.
 */
export function ringsBell(
  outcome: {
    readonly kind: string;
    readonly severity?: Severity;
    readonly category?: Category;
    readonly probe?: unknown;
  },
  rule: Rule,
): boolean {
  switch (outcome.kind) {
    case 'success':
      return outcome.probe !== undefined;
    case 'failure':
      return (
        outcome.severity === undefined ||
        rule.severityFilter.includes(outcome.severity) ||
        outcome.severity === 'security' ||
        outcome.severity === 'repeated_auth' ||
        outcome.category === 'auth'
      );
    case 'unknown':
      return outcome.probe !== undefined || rule.unknownCounts;
    default:
      return true;
  }
}
