import { CATEGORIES, SEVERITIES } from '../domain/outcome/outcome.ts';
import type { Category, Severity } from '../domain/outcome/outcome.ts';

/** Positions are what the ledger stores: only ever append. */
export const KINDS = ['success', 'failure', 'unknown', 'reset', 'block', 'recover'] as const;
export type Kind = (typeof KINDS)[number];

export const PROBE_STATES = ['live', 'lapsed'] as const;

export const codeOf = {
  kind: (kind: Kind) => KINDS.indexOf(kind),
  severity: (severity: Severity | undefined) => (severity === undefined ? null : SEVERITIES.indexOf(severity)),
  category: (category: Category | undefined) => (category === undefined ? null : CATEGORIES.indexOf(category)),
};
