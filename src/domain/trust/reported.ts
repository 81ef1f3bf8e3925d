import type { Category, Severity } from '../outcome/outcome.ts';
import { CATEGORIES, SEVERITIES } from '../outcome/outcome.ts';

/** An outcome that a client has classified itself and signals to the workflow. It carries no arguments. */
export interface ReportedOutcome {
  /** The caller's id of the call. Without one, signalling it again counts it again. */
  readonly id?: string;
  readonly kind: 'success' | 'failure' | 'unknown';
  readonly at?: number;
  readonly startedAt?: number;
  readonly scope?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly severity?: Severity;
  readonly category?: Category;
  readonly message?: string;
  readonly recoverable?: boolean;
}

/** With an id of the workflow's own where the caller gave none: appending it again then meets the first time. */
export type IdentifiedOutcome = ReportedOutcome & { readonly id: string };

const MOST_IN_ONE_SIGNAL = 1000;
const LONGEST_ID = 200;
/** Beyond this neither JavaScript nor Postgres has a date. */
const LAST_MOMENT = 8.64e15;

/** Reads a signal that anybody may have sent with anything in it. Total: what is not understood is counted. */
export function readReported(payload: unknown): { outcomes: readonly ReportedOutcome[]; rejected: number } {
  const list = isRecord(payload) && Array.isArray(payload['outcomes']) ? (payload['outcomes'] as unknown[]) : undefined;
  if (list === undefined) return { outcomes: [], rejected: 1 };
  const outcomes = list
    .slice(0, MOST_IN_ONE_SIGNAL)
    .map(readOne)
    .filter((outcome) => outcome !== undefined);
  return { outcomes, rejected: list.length - outcomes.length };
}

function readOne(value: unknown): ReportedOutcome | undefined {
  if (!isRecord(value)) return undefined;
  const kind = value['success'] === true ? 'success' : value['success'] === false ? 'failure' : value['kind'];
  if (kind !== 'success' && kind !== 'failure' && kind !== 'unknown') return undefined;
  const severity = SEVERITIES.find((known) => known === value['severity']);
  const category = CATEGORIES.find((known) => known === value['category']);
  if ('severity' in value && severity === undefined) return undefined;
  const id = idOf(value['id']);
  if (id === undefined) return undefined;
  return {
    kind,
    ...text('id', id, LONGEST_ID),
    ...text('scope', value['scope'], 400),
    ...text('agent', value['agent'], 200),
    ...text('session', value['session'], 200),
    ...text('message', value['message'], 500),
    ...time('at', value['at']),
    ...time('startedAt', value['startedAt']),
    ...(severity === undefined ? {} : { severity }),
    ...(category === undefined ? {} : { category }),
    ...(value['recoverable'] === false ? { recoverable: false } : {}),
  };
}

/** Empty where there is none. One that cannot be kept whole is no id: two calls must not become one. */
function idOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return '';
  const id = typeof value === 'number' ? String(value) : value;
  return typeof id === 'string' && id.length <= LONGEST_ID ? id : undefined;
}

function text<Name extends string>(name: Name, value: unknown, most: number): { [key in Name]?: string } {
  return typeof value === 'string' && value !== ''
    ? ({ [name]: value.slice(0, most) } as { [key in Name]: string })
    : {};
}

function time<Name extends string>(name: Name, value: unknown): { [key in Name]?: number } {
  const at = typeof value === 'string' ? Date.parse(value) : value;
  return typeof at === 'number' && at > 0 && at <= LAST_MOMENT ? ({ [name]: at } as { [key in Name]: number }) : {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
