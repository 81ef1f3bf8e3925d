import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, or stops waiting when told to. Never throws. */
export async function pause(ms: number, stopped?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, stopped === undefined ? {} : { signal: stopped }).catch(() => undefined);
}

/** Waits for a time, for `event`, or for `stopped`, whichever is first, and leaves nothing waiting behind. */
export async function pauseUnless(event: Promise<unknown>, ms: number, stopped: AbortSignal): Promise<void> {
  const over = new AbortController();
  try {
    await Promise.race([event, pause(ms, AbortSignal.any([stopped, over.signal]))]);
  } finally {
    over.abort();
  }
}
