import { signal } from '@preact/signals';
import type { Session } from '../http/session.ts';
import { read, session, signedOutBecause } from './api.ts';

/** Undefined while live; otherwise since when it is not. */
export const notLiveSince = signal<number | undefined>(undefined);

type Listener = (what: string | undefined) => void;
const listeners = new Set<Listener>();

/** Told what changed, or undefined where anything may have. Answers how to stop. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const SILENT_MS = 25_000;
const REOPEN_MS = 3000;

/** Follows the server's events until told to stop. */
export function followEvents(): () => void {
  let source: EventSource | undefined;
  let heardAt = Date.now();
  let reopening: ReturnType<typeof setTimeout> | undefined;
  const tell = (what: string | undefined) => {
    for (const listener of listeners) listener(what);
  };

  function open(): void {
    // The browser comes back by itself with the id of what it heard last; one that is new has heard nothing.
    let isNew = true;
    const opened = new EventSource('/v1/events');
    source = opened;
    heardAt = Date.now();
    const heard = () => {
      heardAt = Date.now();
      notLiveSince.value = undefined;
    };
    opened.addEventListener('hello', () => {
      heard();
      if (isNew) tell(undefined);
      isNew = false;
    });
    opened.addEventListener('resync', () => {
      heard();
      isNew = false;
      tell(undefined);
    });
    opened.addEventListener('ping', heard);
    opened.addEventListener('changed', ({ data }: MessageEvent<string>) => {
      heard();
      tell(data);
    });
    opened.addEventListener('error', () => {
      notLiveSince.value ??= Date.now();
      // Refused for good: the session may be over.
      if (opened.readyState === EventSource.CLOSED) reopen();
    });
  }

  function reopen(): void {
    source?.close();
    clearTimeout(reopening);
    reopening = setTimeout(() => {
      void read<Session>('/v1/session')
        .then((found) => {
          session.value = found;
          if (found.who === null)
            signedOutBecause.value = 'The session has ended, or its token was revoked. Sign in again.';
          else open();
        })
        .catch(reopen);
    }, REOPEN_MS);
  }

  const watchdog = setInterval(() => {
    if (source?.readyState !== EventSource.OPEN || Date.now() - heardAt < SILENT_MS) return;
    notLiveSince.value ??= heardAt;
    reopen();
  }, 5000);
  // A connection that is cut is not told so for a while; the machine knows at once, and whether it matters is found out.
  const doubt = () => {
    notLiveSince.value ??= Date.now();
    reopen();
  };
  addEventListener('offline', doubt);
  addEventListener('online', doubt);
  open();
  return () => {
    removeEventListener('offline', doubt);
    removeEventListener('online', doubt);
    clearInterval(watchdog);
    clearTimeout(reopening);
    source?.close();
    notLiveSince.value = undefined;
  };
}
