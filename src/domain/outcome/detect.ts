import { classify } from './classify.ts';
import { field } from './field.ts';
import { messageIn, namesIn, shapeOf } from './message.ts';
import type { Verdict } from './outcome.ts';
import { redactText } from './redact.ts';
import type { Report } from './report.schema.ts';
import { errorIn, isError, isFailure, isPlainSuccess, isTimedOut } from './signs.ts';
import { exitCodeIn, httpNumber, httpStatusIn, signalIn } from './status.ts';

type Judged = Pick<
  Report,
  'tool' | 'args' | 'success' | 'result' | 'error' | 'outcome' | 'severity' | 'errorType' | 'httpStatus'
>;

const SUCCESS: Verdict = Object.freeze({ kind: 'success' });
const UNKNOWN: Verdict = Object.freeze({ kind: 'unknown' });

/**
 * What became of a call. One detector for every way in which tools say no: a thrown value, an `error`, `errors` or
 * `isError` in the result, `success: false`, an HTTP status from 400, an exit code. An answer that merely contains the
 * word "error", a list, and a `status` such as `open` are successes. A claim of success does not outweigh an error.
 */
export function judge(report: Judged): Verdict {
  if (report.outcome === 'unknown') return UNKNOWN;
  const { result } = report;
  const isReported = isReportedFailure(report);
  if (!isReported && isPlainSuccess(result)) return SUCCESS;
  const structured = field(result, 'structuredContent');
  if (!isReported && !isFailure(result) && !isFailure(structured)) return SUCCESS;

  const error = isError(report.error) ? report.error : (errorIn(result) ?? errorIn(structured));
  const sources = [error, result, structured];
  const httpStatus = httpNumber(report.httpStatus) ?? first(sources, httpStatusIn);
  const exitCode = first(sources, exitCodeIn);
  const timedOut = sources.some(isTimedOut);
  const names = [
    report.errorType,
    ...namesIn(error, result),
    first(sources, signalIn),
    timedOut ? 'timeout' : undefined,
  ].filter((name) => name !== undefined);
  const message = first(sources, messageIn);
  const { tool, args, severity } = report;
  return {
    kind: 'failure',
    ...classify({ tool, args, severity, names, message: message ?? '', httpStatus, exitCode }),
    errorType: redactText(names.find(isTelling) ?? typeByNumber(httpStatus, exitCode), 100),
    message: redactText(message ?? shapeOf(error) ?? textByNumber(httpStatus, exitCode), 500),
    ...(httpStatus === undefined ? {} : { httpStatus }),
    ...(exitCode === undefined ? {} : { exitCode }),
  };
}

/** What the reporter itself says. A severity or an error's type without a word about success reports a failure. */
function isReportedFailure({ success, error, httpStatus, severity, errorType }: Judged): boolean {
  if (success === false || isError(error) || (httpNumber(httpStatus) ?? 0) >= 400) return true;
  return success === undefined && (severity !== undefined || errorType !== undefined);
}

function first<T>(sources: readonly unknown[], read: (source: unknown) => T | undefined): T | undefined {
  for (const source of sources) {
    const found = read(source);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A class or code that says more than that it is an error, or which number was returned. */
function isTelling(name: string): boolean {
  return name !== 'Error' && !/^\d*$/.test(name);
}

function typeByNumber(httpStatus = 0, exitCode = 0): string {
  if (httpStatus >= 400) return 'http_error';
  return exitCode === 0 ? 'unknown' : 'exit_code';
}

function textByNumber(httpStatus = 0, exitCode = 0): string {
  if (httpStatus >= 400) return `HTTP ${httpStatus}`;
  return exitCode === 0 ? 'reported as failed' : `exit code ${exitCode}`;
}
