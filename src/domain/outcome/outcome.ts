/** From harmless to critical; the order is used nowhere, the names everywhere. */
export const SEVERITIES = [
  'transient',
  'not_found',
  'invalid_input',
  'permission',
  'validation',
  'timeout',
  'server_error',
  'crash',
  'corruption',
  'security',
  'repeated_auth',
] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * What a failure says besides its severity. `reachability`: nobody answered, so the server (or host) is in doubt, not
 * the tool. `auth`: a credential was refused. `quality`: the tool answered, and the answer was a failure. `refusal`: a person
 * or a policy stopped the call before it ran.
 */
export const CATEGORIES = ['quality', 'reachability', 'auth', 'refusal'] as const;
export type Category = (typeof CATEGORIES)[number];

/** Text can be quoted by anyone; only structured evidence of a security failure blocks a tool. */
export type Evidence = 'structured' | 'text';

export interface Failure {
  readonly kind: 'failure';
  readonly severity: Severity;
  readonly category: Category;
  readonly evidence: Evidence;
  readonly errorType: string;
  readonly message: string;
  readonly httpStatus?: number;
  readonly exitCode?: number;
}

/** What became of a call, after detection and classification. */
export type Verdict = { readonly kind: 'success' } | { readonly kind: 'unknown' } | Failure;
