import type pg from 'pg';
import { HttpProblem } from './problem.ts';

const WINDOW_S = 10;

export interface Limits {
  /** Throws 429 where an identity has asked too often: more than `most` times, or as often as anything may be asked. */
  count(identity: string, most?: number): void;
}

/**
 * So many requests per identity in ten seconds, over all servers and connections. Counted here and settled with the database
 * once a second, so that no request waits for it; whoever reconnects, or goes to another server, is known there.
 */
export function createLimits(pool: pg.Pool, mostOfAll: number): Limits & { stop(): void } {
  const counts = new Map<string, { unsettled: number; all: number; window: number }>();
  const settle = async () => {
    const window = windowNow();
    for (const [identity, count] of counts) {
      if (count.window !== window) counts.delete(identity);
      if (count.unsettled === 0) continue;
      const { unsettled } = count;
      count.unsettled = 0;
      const found = await pool
        .query<{ used: number }>(
          `insert into rate as r (identity, slot, used) values ($1, $2, $3)
           on conflict (identity) do update set slot = excluded.slot,
             used = case when r.slot = excluded.slot then r.used + excluded.used else excluded.used end
           returning used`,
          [identity, count.window, unsettled],
        )
        // Without the database nothing else works either; the count of this server still holds.
        .catch(() => undefined);
      count.all = found?.rows[0]?.used ?? count.all + unsettled;
    }
  };
  const timer = setInterval(() => void settle(), 1000);
  return {
    count: (identity, most = mostOfAll) => {
      const window = windowNow();
      const known = counts.get(identity);
      const count = known?.window === window ? known : { unsettled: 0, all: 0, window };
      counts.set(identity, count);
      count.unsettled += 1;
      if (count.all + count.unsettled <= most) return;
      const retryAfter = Math.ceil((window + 1) * WINDOW_S - Date.now() / 1000);
      throw new HttpProblem(429, 'Too many requests', `At most ${most} in ${WINDOW_S} s for one token.`, {
        retryAfter,
      });
    },
    stop: () => clearInterval(timer),
  };
}

function windowNow(): number {
  return Math.floor(Date.now() / 1000 / WINDOW_S);
}
