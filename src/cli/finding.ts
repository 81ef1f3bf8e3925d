import { Problem, reasonOf } from '../problem.ts';

/** What the doctor found out about one part. */
export interface Finding {
  readonly verdict: 'ok' | 'note' | 'failed';
  readonly what: string;
  readonly found: string;
  readonly wayOut?: string;
}

export function ok(what: string, found: string): Finding {
  return { verdict: 'ok', what, found };
}

export function note(what: string, found: string, wayOut?: string): Finding {
  return { verdict: 'note', what, found, ...(wayOut === undefined ? {} : { wayOut }) };
}

export function failed(what: string, found: string, wayOut: string): Finding {
  return { verdict: 'failed', what, found, wayOut };
}

/** A check that threw has failed, with the way out that a Problem knows. */
export function failedBy(what: string, error: unknown, wayOut: string): Finding {
  return failed(what, reasonOf(error), error instanceof Problem ? error.wayOut : wayOut);
}
