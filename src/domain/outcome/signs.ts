import { elements, field, holdsOnly, isList, isObject, isText } from './field.ts';
import { exitCodeIn, httpStatusIn, NUMBER_NAMES, signalIn } from './status.ts';

/** The signs by which a tool's own answer says that it failed. */

const SUCCESS_FLAGS = ['success', 'ok'];
const ERROR_FLAGS = ['isError', 'is_error'];
const TIMEOUT_FLAGS = ['timedOut', 'timed_out'];
const STATUS_WORDS = ['message', 'error_message', 'msg'];

type IsHarmless = (value: unknown) => boolean;
const isFine: IsHarmless = (value) => typeof value === 'number' && value >= 200 && value < 400;

/** Every key that may say that something went wrong, with the values under which it plainly does not. */
const SIGNS: ReadonlyMap<string, IsHarmless> = new Map<string, IsHarmless>([
  ...[...NUMBER_NAMES, 'stack', 'structuredContent'].map((name): [string, IsHarmless] => [name, () => false]),
  ...['statusCode', 'status_code', 'httpStatus', 'http_status'].map((name): [string, IsHarmless] => [name, isFine]),
  ...SUCCESS_FLAGS.map((name): [string, IsHarmless] => [name, (value) => value === true]),
  ...[...ERROR_FLAGS, ...TIMEOUT_FLAGS].map((name): [string, IsHarmless] => [name, (value) => value === false]),
  ...['error', 'errors'].map((name): [string, IsHarmless] => [name, (value) => value === null || value === undefined]),
]);

/**
 * Whether one look at the few keys of a plain object tells that all went well, as most calls do. In doubt false, and then
 * every sign is looked for.
 */
export function isPlainSuccess(result: unknown): boolean {
  return holdsOnly(result, (key, value) => SIGNS.get(key)?.(value) ?? true);
}

/** Whether a returned value is a failure. Text and lists never are: an answer may well be about errors. */
export function isFailure(result: unknown): boolean {
  if (!isObject(result) || isList(result)) return false;
  return (
    errorIn(result) !== undefined ||
    SUCCESS_FLAGS.some((flag) => field(result, flag) === false) ||
    ERROR_FLAGS.some((flag) => field(result, flag) === true) ||
    (httpStatusIn(result) ?? 0) >= 400 ||
    (exitCodeIn(result) ?? 0) !== 0 ||
    signalIn(result) !== undefined ||
    isTimedOut(result) ||
    // The envelope of many small tools. Without words it may be the state of somebody's job.
    (field(result, 'status') === 'error' && STATUS_WORDS.some((name) => isText(field(result, name))))
  );
}

/** The error a result carries, or is. */
export function errorIn(result: unknown): unknown {
  if (!isObject(result) || isList(result)) return undefined;
  if (['name', 'message', 'stack'].every((name) => typeof field(result, name) === 'string')) return result;
  const error = field(result, 'error');
  if (isError(error)) return error;
  const errors = field(result, 'errors');
  return isList(errors) && isError(errors) ? errors : undefined;
}

/** Whether an error was given: `{"error": null}`, `false`, `0`, an empty text or list say that there is none. */
export function isError(error: unknown): boolean {
  if (typeof error === 'string') return isText(error);
  if (isList(error)) return elements(error, 16).some(isError);
  return Boolean(error);
}

export function isTimedOut(value: unknown): boolean {
  return TIMEOUT_FLAGS.some((flag) => field(value, flag) === true);
}
