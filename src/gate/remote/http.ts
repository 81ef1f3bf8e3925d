import type * as z from 'zod';
import { Problem, reasonOf } from '../../problem.ts';
import { InvalidReport, Refused } from '../errors.ts';

/** A server that stands before the ledger, and who we are to it. */
export interface Remote {
  get<T>(path: string, schema: z.ZodType<T>): Promise<T>;
  post<T>(path: string, body: unknown, schema: z.ZodType<T>): Promise<T>;
  /** Stays open; whoever reads it sees to its end. */
  stream(path: string, signal: AbortSignal): Promise<Response>;
}

const ANSWER_WITHIN_MS = 10_000;

export function createRemote(url: string, token: string): Remote {
  const base = baseOf(url);
  const send = async (path: string, init: Omit<RequestInit, 'headers'>, accept: string): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept };
    // What fetch throws is a TypeError, which elsewhere means that the caller is to blame.
    const response = await fetch(new URL(path, base), { ...init, headers, redirect: 'error' }).catch(
      (error: unknown) => {
        throw new Error(`${base.host} was not reached: ${reasonOf(error)}`, { cause: error });
      },
    );
    if (!response.ok) throw await refusalOf(response);
    return response;
  };
  const answer = async <T>(path: string, init: Omit<RequestInit, 'headers'>, schema: z.ZodType<T>): Promise<T> => {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const response = await send(path, { ...init, signal }, 'application/json');
    return schema.parse(await response.json());
  };
  return {
    get: (path, schema) => answer(path, { method: 'GET' }, schema),
    post: (path, body, schema) => answer(path, { method: 'POST', body: JSON.stringify(body) }, schema),
    stream: (path, signal) => send(path, { method: 'GET', signal }, 'text/event-stream'),
  };
}

/** With a slash at its end, so that a path below it stays below it. */
function baseOf(url: string): URL {
  const isUsable = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && new URL(url).username === '';
  if (!isUsable)
    throw new Problem(`${JSON.stringify(url)} is no address of a Surety server.`, 'Like http://127.0.0.1:7400');
  return new URL(url.endsWith('/') ? url : `${url}/`);
}

async function refusalOf(response: Response): Promise<Error> {
  const body = (await response.json().catch(() => ({}))) as { detail?: unknown; type?: unknown };
  const detail = typeof body.detail === 'string' ? body.detail : `the server answered ${response.status}`;
  return new Refused(response.status, detail, typeof body.type === 'string' ? body.type : undefined);
}

/** What would be refused again however often it is sent. */
export function asInvalid(error: unknown): never {
  if (error instanceof Refused && [400, 413, 422].includes(error.status)) {
    throw new InvalidReport(error.message, { cause: error });
  }
  throw error;
}
