import { randomBytes } from 'node:crypto';
import { createWaker, pause } from '../pause.ts';
import { listen } from '../postgres/listen.ts';

export interface Announcement {
  readonly id: string;
  /** `trust:<subject>`, `grants:<subject>`, `approval:<id>` or `settings`: what to look at, never what is there. */
  readonly what: string;
}

/** What is announced to gates and consoles, kept for a while for those who were away. */
export interface Announcements {
  /** Of the latest there is. */
  readonly latest: string;
  /** Those after `id`; undefined where that is not known, or something may have been missed since. */
  since(id: string): readonly Announcement[] | undefined;
  /** Answers how to stop. `announcement` is undefined where something may have been missed. */
  subscribe(listener: (announcement: Announcement | undefined) => void): () => void;
}

const MOST_KEPT = 5000;
const RECONNECT_MS = 500;
const LOOK_IN_MS = 60_000;

/** One connection to Postgres for any number of listeners. */
export function hearAnnouncements(databaseUrl: string): Announcements & { stop(): Promise<void> } {
  const stopping = new AbortController();
  const listeners = new Set<(announcement: Announcement | undefined) => void>();
  // Another process, or another life of this one, has heard other things: its numbers are not ours.
  let life = randomBytes(6).toString('hex');
  let heard = 0;
  let kept: Announcement[] = [];

  function hear(what: string): void {
    heard += 1;
    const announcement = { id: `${life}-${heard}`, what };
    kept.push(announcement);
    if (kept.length > 2 * MOST_KEPT) kept = kept.slice(-MOST_KEPT);
    for (const listener of listeners) listener(announcement);
  }

  function beginAnew(): void {
    [life, heard, kept] = [randomBytes(6).toString('hex'), 0, []];
    for (const listener of listeners) listener(undefined);
  }

  async function keepListening(): Promise<void> {
    for (let isFirst = true; !stopping.signal.aborted; isFirst = false) {
      const waker = createWaker();
      const listening = await listen(databaseUrl, 'surety http', hear, waker.fail).catch(() => undefined);
      if (listening !== undefined) {
        if (!isFirst) beginAnew();
        await lasting(waker, stopping.signal);
        await listening.close();
      }
      await pause(RECONNECT_MS, stopping.signal);
    }
  }

  const done = keepListening();
  return {
    get latest() {
      return `${life}-${heard}`;
    },
    since: (id) => {
      const [of, number] = [id.slice(0, life.length), Number(id.slice(life.length + 1))];
      const isKnown = of === life && Number.isSafeInteger(number) && number >= heard - kept.length && number <= heard;
      return isKnown ? kept.slice(kept.length - (heard - number)) : undefined;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** An announcement may be lost: then it takes this much longer. */
const LOOK_AGAIN_MS = 5000;

/** Waits until `isSo`, which is looked at when it is announced, or so long. */
export async function untilAnnounced(
  announcements: Announcements,
  what: string,
  isSo: () => Promise<boolean>,
  withinMs: number,
  given: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  const waker = createWaker();
  const stop = announcements.subscribe((announcement) => {
    if (announcement === undefined || announcement.what === what) waker.wake();
  });
  try {
    // Looked at once listening, because it may have been so before that.
    while (Date.now() < deadline && !given.aborted && !(await isSo())) {
      await waker.sleep(Math.min(LOOK_AGAIN_MS, deadline - Date.now()), given);
    }
  } finally {
    stop();
  }
}

/** Until the connection breaks or nobody needs it any more. */
async function lasting(waker: ReturnType<typeof createWaker>, stopped: AbortSignal): Promise<void> {
  try {
    while (!stopped.aborted) await waker.sleep(LOOK_IN_MS, stopped);
  } catch {
    // It broke; whoever listens is told when there is another.
  }
}
