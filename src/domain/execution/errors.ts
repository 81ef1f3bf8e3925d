import { judge } from '../outcome/detect.ts';
import type { Category, Failure, Severity } from '../outcome/outcome.ts';
import { categoryOf } from './category.ts';

/**
 * Why a call did not give what it was made for, as whoever made it has to know it: what to do about it differs. Severities
 * say how much a failure weighs against a tool; both are read off the same verdict.
 */
export const ERROR_CATEGORIES = [
  'tool_not_found',
  'invalid_parameters',
  'type_mismatch',
  'policy_blocked',
  'confirmation_required',
  'permanent_failure',
  'cancelled',
  'rate_limited',
  'server_error',
  'network_error',
  'timeout',
] as const;
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number];

interface Traits {
  /** In the block that a model reads. */
  readonly name: string;
  /** Trying the same again may help, if the tool says that it may be tried twice. */
  readonly retry: boolean;
  /** Writing the arguments anew may help. */
  readonly reformat: boolean;
  readonly severity: Severity;
  readonly weighs: Category;
  readonly suggestion: string;
}

const no = { retry: false, reformat: false } as const;
const again = { retry: true, reformat: false } as const;
const rewrite = { retry: false, reformat: true } as const;

export const TRAITS: Readonly<Record<ErrorCategory, Traits>> = {
  tool_not_found: {
    ...{ name: 'ToolNotFound', ...no, severity: 'not_found', weighs: 'refusal' },
    suggestion: 'Use one of the tools that are listed.',
  },
  invalid_parameters: {
    ...{ name: 'InvalidParameters', ...rewrite, severity: 'invalid_input', weighs: 'quality' },
    suggestion: "Correct the arguments by the tool's schema and call again.",
  },
  type_mismatch: {
    ...{ name: 'TypeMismatch', ...rewrite, severity: 'invalid_input', weighs: 'quality' },
    suggestion: 'Give each argument the type that the schema names and call again.',
  },
  policy_blocked: {
    ...{ name: 'PolicyBlocked', ...no, severity: 'permission', weighs: 'refusal' },
    suggestion: 'Reach the goal in another way; asking for the same again changes nothing.',
  },
  confirmation_required: {
    ...{ name: 'ConfirmationRequired', ...no, severity: 'permission', weighs: 'refusal' },
    suggestion: 'A person has to approve this call first.',
  },
  permanent_failure: {
    ...{ name: 'PermanentFailure', ...no, severity: 'server_error', weighs: 'quality' },
    suggestion: 'Read the message; the same call will fail again.',
  },
  cancelled: {
    ...{ name: 'Cancelled', ...no, severity: 'timeout', weighs: 'refusal' },
    suggestion: 'It was stopped on purpose; go on without it.',
  },
  rate_limited: {
    ...{ name: 'RateLimited', ...again, severity: 'transient', weighs: 'quality' },
    suggestion: 'Wait before calling again.',
  },
  server_error: {
    ...{ name: 'ServerError', ...again, severity: 'server_error', weighs: 'quality' },
    suggestion: 'Try again later; if it stays, use another tool.',
  },
  network_error: {
    ...{ name: 'NetworkError', ...again, severity: 'server_error', weighs: 'reachability' },
    suggestion: 'Try again later; nobody answered.',
  },
  timeout: {
    ...{ name: 'Timeout', ...again, severity: 'timeout', weighs: 'reachability' },
    suggestion: 'Ask for less at once, or allow more time.',
  },
};

/** A failed call, for whoever made it. */
export interface ToolError {
  readonly category: ErrorCategory;
  readonly message: string;
  readonly suggestion: string;
  /** Whether calling again, as it is or with other arguments, may help. */
  readonly retryable: boolean;
  readonly severity: Severity;
  readonly weighs: Category;
}

export function toolError(category: ErrorCategory, message: string, failure?: Failure): ToolError {
  const { retry, reformat, suggestion, severity, weighs } = TRAITS[category];
  return {
    ...{ category, message, suggestion, retryable: retry || reformat },
    severity: failure?.severity ?? severity,
    weighs: failure?.category ?? weighs,
  };
}

/** Whether only the arguments were wrong, so that a model may be asked to write them anew. All else is not its fault. */
export function isQualityFailure(category: ErrorCategory): boolean {
  return TRAITS[category].reformat;
}

/**
 * The error of an outcome, thrown or returned, or undefined for a success. Exit codes say most, then the status of a server,
 * then names and codes, and text only where the outcome is a failure anyway.
 */
export function errorOf(outcome: {
  readonly tool: string;
  readonly args?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}): ToolError | undefined {
  const verdict = judge('error' in outcome ? { ...outcome, success: false } : outcome);
  if (verdict.kind !== 'failure') return undefined;
  return toolError(categoryOf(verdict), verdict.message, verdict);
}

/** What a model is told. A message cannot end the block, add a line to it or steer a terminal. */
export function formatForModel({ category, message, suggestion, retryable }: ToolError): string {
  const oneLine = message.replace(/\s*[\p{Cc}\u2028\u2029]+\s*/gu, ' ').trim();
  return [
    '[tool_error]',
    `category: ${TRAITS[category].name}`,
    `message: ${oneLine}`,
    `suggestion: ${suggestion}`,
    `retryable: ${retryable}`,
  ].join('\n');
}
