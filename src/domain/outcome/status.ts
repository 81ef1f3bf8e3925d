import { field } from './field.ts';

/** The numbers by which a result or an error says how it went. */

const HTTP_NAMES = [
  'status_code',
  'statusCode',
  'http_status',
  'httpStatus',
  'http_status_code',
  'httpStatusCode',
  'http_code',
  'httpCode',
  'response_code',
  'responseCode',
];
const EXIT_NAMES = [
  'exit_code',
  'exitCode',
  'exitcode',
  'exit_status',
  'exitStatus',
  'returncode',
  'return_code',
  'returnCode',
];
const PROCESS_NAMES = ['stdout', 'stderr', ...EXIT_NAMES];
const RESPONSE_NAMES = ['response', '$metadata', 'res'];
/** Every key under which one of these numbers may be found. */
export const NUMBER_NAMES = [...HTTP_NAMES, ...PROCESS_NAMES, ...RESPONSE_NAMES, 'status', 'code', 'signal'];
const MESSAGE_NAMES = ['message', 'msg', 'error', 'detail', 'description', 'reason', 'body'];

/**
 * The HTTP status in a result or an error. `status` is also an everyday word, so only 100 to 599 count there; `code`
 * counts from 400 and beside a message, because `{code: 404, name: 'Hall B'}` is somebody's data.
 */
export function httpStatusIn(value: unknown): number | undefined {
  for (const name of HTTP_NAMES) {
    const status = httpNumber(field(value, name));
    if (status !== undefined) return status;
  }
  const plain = httpNumber(field(value, 'status'));
  if (plain !== undefined && plain < 600 && !(isProcess(value) && plain < 256)) return plain;
  for (const name of RESPONSE_NAMES) {
    const response = field(value, name);
    const status = httpNumber(field(response, 'status')) ?? firstNumber(response, HTTP_NAMES, httpNumber);
    if (status !== undefined) return status;
  }
  const code = wholeNumber(field(value, 'code'));
  const speaks = MESSAGE_NAMES.some((name) => typeof field(value, name) === 'string');
  return code !== undefined && code >= 400 && code < 600 && speaks && !isProcess(value) ? code : undefined;
}

/** The exit code of a process. `code` and `status` are one only beside its output, as Node reports them. */
export function exitCodeIn(value: unknown): number | undefined {
  const named = firstNumber(value, EXIT_NAMES, wholeNumber);
  if (named !== undefined || !isProcess(value)) return named;
  const status = wholeNumber(field(value, 'status'));
  return wholeNumber(field(value, 'code')) ?? (status !== undefined && status < 256 ? status : undefined);
}

/** The signal that ended a process, as Node reports it. */
export function signalIn(value: unknown): string | undefined {
  const signal = field(value, 'signal');
  return isProcess(value) && typeof signal === 'string' && /^SIG[A-Z0-9]{2,10}$/.test(signal) ? signal : undefined;
}

export function httpNumber(value: unknown): number | undefined {
  const line =
    typeof value === 'string' ? /^\s*(?:HTTP\/[\d.]{1,4}\s+)?(\d{3})(?:\s|$)/i.exec(value.slice(0, 64))?.[1] : value;
  const status = wholeNumber(line);
  return status !== undefined && status >= 100 && status <= 999 ? status : undefined;
}

/** A whole number, also written as text; null, NaN, booleans and fractions are none. */
function wholeNumber(value: unknown): number | undefined {
  // Adding 0 turns -0 into 0, which JSON cannot tell apart either.
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value + 0 : undefined;
  if (typeof value === 'bigint') return wholeNumber(Number(value));
  return typeof value === 'string' && /^\s*-?\d{1,12}\s*$/.test(value.slice(0, 32))
    ? Number(value.slice(0, 32))
    : undefined;
}

function firstNumber(
  value: unknown,
  names: readonly string[],
  read: (held: unknown) => number | undefined,
): number | undefined {
  for (const name of names) {
    const found = read(field(value, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Node gives a process that was ended by a signal an exit code of null: it is named all the same. */
function isProcess(value: unknown): boolean {
  return PROCESS_NAMES.some((name) => field(value, name) !== undefined);
}
