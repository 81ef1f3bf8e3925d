/** What an attempt came to. `retry: false` is given up at once; the delay is the receiver's wish. */
export type Verdict =
  | { readonly delivered: true }
  | { readonly delivered: false; readonly because: string; readonly retry: boolean; readonly delayMs?: number };

/** A receiver that is being deployed may answer 404 or 401 for a minute; one that is set up wrongly does so for ever. */
const MOST_REFUSALS = 5;
const LONGEST_DELAY_MS = 3_600_000;
const PASSING = new Set([408, 425, 429]);

/** Judges an answer: 2xx is delivered, 410 never will be, other refusals are believed after a few. */
export function verdictOn(status: number, retryAfter: string | undefined, attempts: number, now: number): Verdict {
  if (status >= 200 && status < 300) return { delivered: true };
  const isRedirect = status >= 300 && status < 400;
  const because = `answered ${status}${isRedirect ? ', and redirects are not followed' : ''}`;
  const isRefusal = status < 500 && !PASSING.has(status);
  if (status === 410 || (isRefusal && attempts >= MOST_REFUSALS)) return { delivered: false, because, retry: false };
  const delayMs = delayOf(retryAfter, now);
  return { delivered: false, because, retry: true, ...(delayMs === undefined ? {} : { delayMs }) };
}

/** Retry-After in seconds or as a date, within an hour: a receiver must not put off for ever what it is told. */
function delayOf(retryAfter: string | undefined, now: number): number | undefined {
  if (retryAfter === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(retryAfter.trim()) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - now;
  return Number.isNaN(ms) || ms <= 0 ? undefined : Math.min(ms, LONGEST_DELAY_MS);
}
