import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { pause } from '../pause.ts';
import { isRefusal } from '../postgres/refusal.ts';
import { BufferFull, InvalidReport, NotRecorded } from './errors.ts';

export interface Pressure {
  /** Reports that are not durable yet, and how many there may be. */
  readonly waiting: number;
  readonly limit: number;
  /** Why the last attempt failed; null while all is well. */
  readonly failing: Error | null;
}

interface Waiting {
  readonly outcome: LedgerOutcome;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface ReporterOptions {
  readonly append: (outcomes: readonly LedgerOutcome[]) => Promise<unknown>;
  readonly limit: number;
}

const LARGEST_BATCH = 500;
const LONGEST_WAIT_MS = 2000;

/**
 * Collects reports while one batch is on its way and sends them as the next. A batch that cannot reach the ledger is
 * sent again until it does; one that the ledger refuses is halved until the offending report stands alone.
 */
export function createReporter({ append, limit }: ReporterOptions) {
  const queue: Waiting[] = [];
  let inFlight = 0;
  let flushing: Promise<void> | undefined;
  let failing: Error | null = null;
  let closed = false;
  const impatience = new AbortController();
  let roomWaiters: (() => void)[] = [];

  async function send(batch: readonly Waiting[]): Promise<void> {
    for (let wait = 50; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        await append(batch.map(({ outcome }) => outcome));
        failing = null;
        inFlight -= batch.length;
        for (const { resolve } of batch) resolve();
        return;
      } catch (error) {
        if (isRefusal(error)) return refuse(batch, error);
        failing = error instanceof Error ? error : new Error(String(error));
        await pause(wait, impatience.signal);
        if (impatience.signal.aborted) {
          giveUp(batch);
          return;
        }
      }
    }
  }

  async function refuse(batch: readonly Waiting[], error: unknown): Promise<void> {
    const [first] = batch;
    if (batch.length === 1 && first !== undefined) {
      inFlight -= 1;
      const why = error instanceof Error ? error.message : String(error);
      first.reject(new InvalidReport(`the ledger does not take the report: ${why}`, { cause: error }));
      return;
    }
    const half = Math.ceil(batch.length / 2);
    await send(batch.slice(0, half));
    await send(batch.slice(half));
  }

  function giveUp(batch: readonly Waiting[]): void {
    inFlight -= batch.length;
    for (const { reject } of batch)
      reject(new NotRecorded('the gate was closed while the ledger could not be reached'));
  }

  async function flush(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, LARGEST_BATCH);
      inFlight += batch.length;
      await send(batch);
      const waiters = roomWaiters;
      roomWaiters = [];
      for (const resolve of waiters) resolve();
    }
    flushing = undefined;
  }

  const waiting = () => queue.length + inFlight;
  return {
    pressure: (): Pressure => ({ waiting: waiting(), limit, failing }),
    /** Resolves when durable. */
    report(outcome: LedgerOutcome): Promise<void> {
      if (closed) return Promise.reject(new NotRecorded('the gate is closed'));
      if (waiting() >= limit) return Promise.reject(new BufferFull(limit));
      return new Promise((resolve, reject) => {
        queue.push({ outcome, resolve, reject });
        // A turn of the event loop gathers what a burst reports together.
        flushing ??= new Promise<void>((next) => setImmediate(next)).then(flush);
      });
    },
    /** Resolves when the buffer takes another report: how a caller is slowed down instead of losing one. */
    async room(): Promise<void> {
      while (waiting() >= limit && !closed) await new Promise<void>((resolve) => roomWaiters.push(resolve));
    },
    async close(withinMs: number): Promise<void> {
      closed = true;
      const patience = setTimeout(() => {
        impatience.abort();
      }, withinMs);
      await flushing;
      clearTimeout(patience);
    },
  };
}

export type Reporter = ReturnType<typeof createReporter>;
