import type { GrantTerms } from './grant.ts';
import { storable } from '../outcome/field.ts';
import { redactText } from '../outcome/redact.ts';
import type { Message } from './approval.ts';

/** What a signal may say: the id of a decision that is written down, or a decision by somebody nobody can name. */
export type Signalled = { readonly decision: string } | { readonly bare: Message; readonly by: string };

export type Verb = 'approve' | 'deny' | 'extend' | 'withdraw';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KNOWN: ReadonlySet<string> = new Set(['by', 'reason', 'expectedVersion', 'grant', 'seconds']);
const LONGEST_EXTENSION_S = 31_536_000;
const DEFAULT_EXTENSION_S = 86_400;

/** Reads what anybody may have sent with anything in it. Total: text where it is not understood. */
export function readSignal(verb: Verb, payload: unknown, at: number): Signalled | string {
  const given = payload === undefined || payload === null ? {} : payload;
  if (typeof given !== 'object' || Array.isArray(given)) return 'a decision is an object';
  const fields = given as Readonly<Record<string, unknown>>;
  if (typeof fields['decision'] === 'string') {
    return UUID.test(fields['decision']) ? { decision: fields['decision'].toLowerCase() } : 'decision is no id';
  }
  if ('arguments' in fields || 'args' in fields) return 'edited arguments never travel in a signal';
  const unknown = Object.keys(fields).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return `there is no ${JSON.stringify(unknown.slice(0, 40))} in a decision`;
  const { by, reason, expectedVersion } = fields;
  if (by !== undefined && typeof by !== 'string') return 'by is a text';
  if (reason !== undefined && typeof reason !== 'string') return 'reason is a text';
  if (expectedVersion !== undefined && !Number.isSafeInteger(expectedVersion)) return 'expectedVersion is a number';
  const base = {
    at,
    reason: redactText(storable(reason ?? ''), 500),
    ...(expectedVersion === undefined ? {} : { expectedVersion: Number(expectedVersion) }),
  };
  const message = messageOf(verb, base, fields, at);
  return typeof message === 'string' ? message : { bare: message, by: redactText(storable(by ?? 'unknown'), 200) };
}

function messageOf(
  verb: Verb,
  base: { at: number; reason: string; expectedVersion?: number },
  fields: Readonly<Record<string, unknown>>,
  at: number,
): Message | string {
  switch (verb) {
    case 'deny':
    case 'withdraw':
      return { ...base, type: verb };
    case 'extend': {
      const seconds = fields['seconds'] ?? DEFAULT_EXTENSION_S;
      if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= LONGEST_EXTENSION_S)) {
        return 'seconds is a number between 1 and a year';
      }
      return { ...base, type: 'extend', bySeconds: Math.ceil(seconds) };
    }
    case 'approve': {
      const grant = readGrant(fields['grant'] ?? 'once', at);
      return typeof grant === 'string' ? grant : { ...base, type: 'approve', grant };
    }
  }
}

/** `once`, `session`, `always`, or an object with `kind`, and `until` or `seconds`, `covers`, `pattern`. */
export function readGrant(given: unknown, at: number): GrantTerms | string {
  const fields = (typeof given === 'string' ? { kind: given } : given) as Readonly<Record<string, unknown>> | null;
  if (typeof fields !== 'object' || fields === null) return 'grant is once, session, until or always';
  const { kind, covers, pattern, seconds } = fields;
  if (kind !== 'once' && kind !== 'session' && kind !== 'until' && kind !== 'always') {
    return 'grant is once, session, until or always';
  }
  if (covers !== undefined && covers !== 'arguments' && covers !== 'scope' && covers !== 'tool') {
    return 'covers is arguments, scope or tool';
  }
  if (pattern !== undefined && !isPattern(pattern)) return 'pattern has a glob for each argument it names';
  if (kind === 'once' && ((covers ?? 'arguments') !== 'arguments' || pattern !== undefined)) {
    return 'covers and pattern are about later calls: grant session, until or always';
  }
  const until =
    kind !== 'until' ? undefined : typeof seconds === 'number' ? at + seconds * 1000 : timeOf(fields['until']);
  if (kind === 'until' && (until === undefined || !(until > at && until < 8.64e15))) {
    return 'until is a time to come, or comes with seconds';
  }
  return {
    kind,
    ...(until === undefined ? {} : { until: Math.round(until) }),
    ...(covers === undefined ? {} : { covers }),
    ...(pattern === undefined ? {} : { pattern }),
  };
}

function timeOf(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  const parsed = typeof value === 'string' ? Date.parse(value) : NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
}

function isPattern(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const globs = Object.values(value);
  return globs.length > 0 && globs.length <= 20 && globs.every((glob) => typeof glob === 'string' && glob !== '');
}
