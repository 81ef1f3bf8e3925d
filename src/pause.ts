import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, or stops waiting when told to. Never throws. */
export async function pause(ms: number, stopped?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, stopped === undefined ? {} : { signal: stopped }).catch(() => undefined);
}
