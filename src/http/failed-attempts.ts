import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import ipaddr from 'ipaddr.js';
import { HttpProblem } from './problem.ts';

const WINDOW_S = 10;
const MOST_PLACES = 10_000;
/** Whoever comes when that many are known shares one count with all others that do. */
const ELSEWHERE = 'elsewhere';

export interface FailedAttempts {
  /** Throws 429 where too many that came from there were nobody's. */
  refuse(from: string): void;
  note(from: string): void;
}

/**
 * How often something was shown that is no token, by where it came from: a new connection starts no new count. Nobody guesses
 * a token; this keeps whoever tries from having us look up every one.
 */
export function createFailedAttempts(most: number): FailedAttempts {
  let window = 0;
  const counts = new Map<string, number>();
  const placeOf = (from: string): string => {
    const now = Math.floor(Date.now() / 1000 / WINDOW_S);
    if (now !== window) counts.clear();
    window = now;
    return counts.has(from) || counts.size < MOST_PLACES ? from : ELSEWHERE;
  };
  return {
    refuse: (from) => {
      if ((counts.get(placeOf(from)) ?? 0) < most) return;
      const retryAfter = Math.max(1, Math.ceil((window + 1) * WINDOW_S - Date.now() / 1000));
      throw new HttpProblem(429, 'Too many requests', 'Too much from there was no token that is known.', {
        retryAfter,
      });
    },
    note: (from) => {
      const place = placeOf(from);
      counts.set(place, (counts.get(place) ?? 0) + 1);
    },
  };
}

/** The address a request comes from. Of IPv6 the network: whoever has one address there has them all. */
export function cameFrom(c: Context): string {
  const { address = '' } = getConnInfo(c).remote;
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.');
}
