import { signal } from '@preact/signals';
import type { Session } from '../http/session.ts';

/** Undefined until it is known. */
export const session = signal<Session | undefined>(undefined);
/** Why somebody is shown the sign-in who was signed in before. */
export const signedOutBecause = signal('');

/** What went wrong, as the API says it: what happened, and the way out. */
export class ApiProblem extends Error {
  /** 0 where nobody answered. */
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** How far the server's clock is from this one: deadlines are the server's. */
let aheadMs = 0;

export function serverNow(): number {
  return Date.now() + aheadMs;
}

export async function read<T>(path: string): Promise<T> {
  return (await request('GET', path)) as T;
}

/** `key` makes sending the same again harmless. */
export async function write<T>(method: 'POST' | 'DELETE', path: string, body: unknown, key?: string): Promise<T> {
  return (await request(method, path, body, key)) as T;
}

/** Kept by this origin alone, where the cookie is sent to every port of the machine. */
const PAGE_KEY = 'surety-page';

export function signedIn({ page, ...found }: Session): void {
  if (page !== undefined) localStorage.setItem(PAGE_KEY, page);
  session.value = found;
}

async function request(method: string, path: string, body?: unknown, key?: string): Promise<unknown> {
  const response = await fetch(path, {
    method,
    headers: {
      'x-surety-page': localStorage.getItem(PAGE_KEY) ?? '',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new ApiProblem(0, 'The server does not answer. Nothing was lost; it is tried again by itself.');
  });
  noteClock(response.headers.get('date'));
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer;
  const detail = detailOf(answer) ?? `The server answered ${response.status}.`;
  if (response.status === 401 && path !== '/v1/session') {
    signedOutBecause.value = detail;
    session.value = { who: null };
  }
  throw new ApiProblem(response.status, detail);
}

function noteClock(date: string | null): void {
  const difference = date === null ? NaN : Date.parse(date) + 500 - Date.now();
  // The header has whole seconds; less than that is no difference.
  aheadMs = Math.abs(difference) > 2000 ? difference : 0;
}

function detailOf(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null || !('detail' in answer)) return undefined;
  return typeof answer.detail === 'string' ? answer.detail : undefined;
}

export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
