import type { Category, Severity } from '../outcome/outcome.ts';
import type { Rule } from '../rules/rules.schema.ts';

/** `in time`: at once as well, unless the tool is known to have some way to go (see patience.ts). */
export type Bell = 'at once' | 'in time' | 'not';

/**
 * When the workflow of a trusted tool must hear of an outcome. What cannot escalate anything waits for the next pull; when a
 * tool is in doubt everything rings at once, and that is decided in the ledger.
 */
export function bellOf(
  outcome: {
    readonly kind: string;
    readonly severity?: Severity;
    readonly category?: Category;
    readonly probe?: unknown;
  },
  rule: Rule,
): Bell {
  switch (outcome.kind) {
    case 'success':
      return outcome.probe === undefined ? 'not' : 'at once';
    case 'failure':
      if (escalatesByItself(outcome) || outcome.probe !== undefined) return 'at once';
      return outcome.severity === undefined || rule.severityFilter.includes(outcome.severity) ? 'in time' : 'not';
    case 'unknown':
      return outcome.probe !== undefined || rule.unknownCounts ? 'at once' : 'not';
    default:
      return 'at once';
  }
}

/** Whatever the filter and the thresholds say. Refused credentials may, and have a count of their own. */
function escalatesByItself({ severity, category }: { severity?: Severity; category?: Category }): boolean {
  return severity === 'security' || severity === 'repeated_auth' || category === 'auth';
}
