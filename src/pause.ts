import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, or stops waiting when told to. Never throws. */
export async function pause(ms: number, stopped?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, stopped === undefined ? {} : { signal: stopped }).catch(() => undefined);
}

/**
 * Waits for a time, for `event`, or for `stopped`, whichever is first, and leaves nothing waiting behind: a timer left over would
 * keep a process from its end. Answers whether it was the event.
 */
export async function pauseUnless(event: Promise<unknown>, ms: number, stopped?: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const stops = stopped === undefined ? over.signal : AbortSignal.any([stopped, over.signal]);
  try {
    return await Promise.race([event.then(() => true), pause(ms, stops).then(() => false)]);
  } finally {
    over.abort();
  }
}

/** Waits for `event` or `stopped`, and leaves nothing behind at a signal that lasts longer. Answers whether it was the event. */
export async function settledUnless(event: Promise<unknown>, stopped: AbortSignal): Promise<boolean> {
  if (stopped.aborted) return false;
  let stop = (): void => undefined;
  const over = new Promise<boolean>((resolve) => {
    stop = () => resolve(false);
  });
  stopped.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([event.then(() => true), over]);
  } finally {
    stopped.removeEventListener('abort', stop);
  }
}

/**
 * For a loop that waits over and over: it is woken by `wake`, even if that came while it was busy, and `fail` ends it.
 * Not a race of promises: one that never settles would collect a reaction with every round.
 */
export function createWaker() {
  let isWanted = false;
  let failure: { readonly error: unknown } | undefined;
  let waiting: AbortController | undefined;
  const interrupt = () => waiting?.abort();
  return {
    wake: (): void => {
      isWanted = true;
      interrupt();
    },
    fail: (error: unknown): void => {
      failure ??= { error };
      interrupt();
    },
    /** Throws what `fail` was told. */
    sleep: async (ms: number, stopped: AbortSignal): Promise<void> => {
      if (!isWanted && failure === undefined && !stopped.aborted) {
        waiting = new AbortController();
        stopped.addEventListener('abort', interrupt);
        await pause(ms, waiting.signal);
        stopped.removeEventListener('abort', interrupt);
        waiting = undefined;
      }
      isWanted = false;
      if (failure !== undefined) throw failure.error;
    },
  };
}
