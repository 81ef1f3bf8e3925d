import { meaningOfName, plainName } from '../outcome/codes.ts';
import { statusInText } from '../outcome/numbers-in-text.ts';
import type { Failure } from '../outcome/outcome.ts';
import type { ErrorCategory } from './errors.ts';

/** Which kind of error a failure is: by exit code, by status, by name, by what is said, and last by how it weighs against the tool. */
export function categoryOf(failure: Failure): ErrorCategory {
  const { exitCode, errorType, evidence, message } = failure;
  // A program that was ended because its time was up has an exit code, too, but that is not what happened.
  if (exitCode !== undefined && exitCode !== 0) {
    return failure.severity === 'timeout' && exitCode !== 126 && exitCode !== 127 ? 'timeout' : byExit(exitCode);
  }
  const status = failure.httpStatus ?? (evidence === 'text' ? statusInText(message) : undefined);
  const told = (status === undefined ? undefined : byHttp(status)) ?? byName(errorType);
  if (told !== undefined) return told;
  const category = (evidence === 'text' ? byText(message) : undefined) ?? bySeverity(failure);
  // A redirect, or an answer that is an error all the same: the same call will be answered in the same way.
  return category === 'server_error' && status !== undefined && status < 400 ? 'permanent_failure' : category;
}

/** What another exit code means, only the program knows; that it will exit like that again is the safer guess. */
function byExit(exitCode: number): ErrorCategory {
  return exitCode === 126 ? 'policy_blocked' : 'permanent_failure';
}

function byHttp(status: number): ErrorCategory | undefined {
  if (status === 400 || status === 422) return 'invalid_parameters';
  if (status === 401 || status === 403 || status === 407) return 'policy_blocked';
  if (status === 408) return 'timeout';
  if (status === 429) return 'rate_limited';
  if ((status >= 400 && status < 500) || status === 501) return 'permanent_failure';
  return status >= 500 && status < 600 ? 'server_error' : undefined;
}

/** Names whose severity alone does not say enough. */
const BY_NAME: ReadonlyMap<string, ErrorCategory> = new Map(
  (
    [
      ['policy_blocked', 'eacces eperm erofs'],
      ['server_error', 'eintr eagain ewouldblock ebusy emfile enfile'],
      ['network_error', 'econnreset econnrefused econnaborted epipe enetdown enetunreach ehostunreach'],
      ['permanent_failure', 'enoent enotdir eisdir eexist enotempty enospc exdev enomem einval'],
      ['permanent_failure', 'alreadyexists unimplemented notimplemented'],
      [
        'cancelled',
        'abort aborted aborterr erraborted underraborted cancelled canceled ecanceled errcanceled errcancelled',
      ],
      ['tool_not_found', 'toolnotfound unknowntool methodnotfound -32601'],
      ['type_mismatch', 'errinvalidargtype'],
      ['invalid_parameters', 'errinvalidurl'],
    ] as const
  ).flatMap(([category, names]) => names.split(' ').map((name) => [name, category] as const)),
);
const SYSTEM_CODE = /^E[A-Z][A-Z\d]+$/;

function byName(name: string): ErrorCategory | undefined {
  const known = BY_NAME.get(plainName(name));
  if (known !== undefined) return known;
  // Of what the system says, only what is known to pass passes.
  return SYSTEM_CODE.test(name) && meaningOfName(name) === undefined ? 'permanent_failure' : undefined;
}

const BY_TEXT: readonly (readonly [RegExp, ErrorCategory])[] = [
  [/\b(?:unknown tool|tool ["'\w./-]{1,80} (?:was )?not found|no such tool|method not found)\b/i, 'tool_not_found'],
  [
    /\b(?:operation|request|call|task|it) (?:was |has been |is )?(?:cancell?ed|aborted)\b(?! by)|\baborted a request\b/i,
    'cancelled',
  ],
  [/^(?:\d+ )?cancell?ed\b(?! by)/i, 'cancelled'],
  [/^\d+ unimplemented\b/i, 'permanent_failure'],
  [/\bno space left\b|\b(?:disk|device) (?:is )?full\b|\balready exists\b|\bnot implemented\b/i, 'permanent_failure'],
];

function byText(message: string): ErrorCategory | undefined {
  return BY_TEXT.find(([pattern]) => pattern.test(message))?.[1];
}

function bySeverity({ severity, category }: Failure): ErrorCategory {
  if (category === 'refusal') return 'policy_blocked';
  switch (severity) {
    case 'transient':
      return 'rate_limited';
    case 'timeout':
      return 'timeout';
    case 'invalid_input':
      return 'invalid_parameters';
    case 'permission':
    case 'repeated_auth':
    case 'security':
      return 'policy_blocked';
    case 'server_error':
    case 'crash':
      return category === 'reachability' ? 'network_error' : category === 'auth' ? 'policy_blocked' : 'server_error';
    case 'not_found':
    case 'validation':
    case 'corruption':
      return 'permanent_failure';
  }
}
