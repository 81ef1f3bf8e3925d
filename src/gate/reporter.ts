import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { pause } from '../pause.ts';
import { isRefusal } from '../postgres/refusal.ts';
import type { Append } from './backend.ts';
import { BufferFull, InvalidReport, NotRecorded } from './errors.ts';

/** How many reports wait for the ledger, and whether it can be reached. */
export interface Pressure {
  readonly waiting: number;
  readonly limit: number;
  /** Why the last attempt failed; null while all is well. */
  readonly failing: Error | null;
}

/** Where the rows of a flush ended, by subject. */
export type Places = ReadonlyMap<string, number>;

/** An outcome on its way to the ledger. */
export interface Waiting {
  /** Asked for when it is sent, and again with each further attempt. */
  readonly outcome: LedgerOutcome;
  /** Told once what became of it: where it lies, or why it was not recorded. */
  settled(places: Places | undefined, error?: Error): void;
}

interface ReporterOptions {
  /** Answers what writes them; a batch may be prepared while the one before it is being written. */
  readonly prepare: (outcomes: readonly LedgerOutcome[]) => Promise<Append>;
  readonly limit: number;
}

interface Batch {
  readonly reports: readonly Waiting[];
  readonly prepared: Promise<Append>;
}

const LARGEST_BATCH = 4000;
const LONGEST_WAIT_MS = 2000;

/**
 * Collects reports while one batch is on its way and sends them as the next. A batch that cannot reach the ledger is
 * sent again until it does; one that the ledger refuses is halved until the offending report stands alone.
 */
export function createReporter({ prepare, limit }: ReporterOptions) {
  const queue: Waiting[] = [];
  let inFlight = 0;
  let flushing: Promise<void> | undefined;
  let told = Promise.resolve();
  let failing: Error | null = null;
  let closed = false;
  const impatience = new AbortController();
  let roomWaiters: (() => void)[] = [];
  let onFullBatch: () => void = () => undefined;

  function batchOf(reports: readonly Waiting[]): Batch {
    const prepared = prepare(reports.map(({ outcome }) => outcome));
    // Looked at when it is its turn; until then a failure is nobody's.
    prepared.catch(() => undefined);
    return { reports, prepared };
  }

  async function send({ reports, prepared }: Batch): Promise<void> {
    for (let wait = 50; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      try {
        const places = await (await prepared)();
        failing = null;
        tellSoon(reports, places);
        return;
      } catch (error) {
        if (isRefusal(error)) return refuse(reports, error);
        failing = error instanceof Error ? error : new Error(String(error));
        await pause(wait, impatience.signal);
        if (impatience.signal.aborted) {
          tell(reports, undefined, new NotRecorded('the gate was closed while the ledger could not be reached'));
          return;
        }
        ({ prepared } = batchOf(reports));
      }
    }
  }

  /** In the next turn of the event loop: by then the next batch is on its way, and is written while callers go on. */
  function tellSoon(batch: readonly Waiting[], places: Places): void {
    told = nextTurn().then(() => {
      tell(batch, places);
    });
  }

  function tell(batch: readonly Waiting[], places: Places | undefined, error?: Error): void {
    inFlight -= batch.length;
    for (const waiting of batch) waiting.settled(places, error);
    const waiters = roomWaiters;
    roomWaiters = [];
    for (const resolve of waiters) resolve();
  }

  async function refuse(batch: readonly Waiting[], error: unknown): Promise<void> {
    if (batch.length === 1) {
      const why = error instanceof Error ? error.message : String(error);
      tell(batch, undefined, new InvalidReport(`the ledger does not take the report: ${why}`, { cause: error }));
      return;
    }
    const half = Math.ceil(batch.length / 2);
    await send(batchOf(batch.slice(0, half)));
    await send(batchOf(batch.slice(half)));
  }

  function nextBatch(): Batch {
    const reports = queue.splice(0, LARGEST_BATCH);
    inFlight += reports.length;
    return batchOf(reports);
  }

  /** What fills a batch by itself while another one is on its way is made ready meanwhile; less waits for company. */
  async function flush(): Promise<void> {
    const ready: Batch[] = [];
    while (ready.length + queue.length > 0) {
      const sent = send(ready.shift() ?? nextBatch());
      await nextTurn();
      onFullBatch = () => {
        if (ready.length === 0) ready.push(nextBatch());
      };
      if (queue.length >= LARGEST_BATCH) onFullBatch();
      await sent;
      onFullBatch = () => undefined;
      if (ready.length + queue.length === 0) await told;
    }
    flushing = undefined;
  }

  const size = () => queue.length + inFlight;
  const isFull = () => size() >= limit;

  function add(waiting: Waiting): void {
    if (closed) throw new NotRecorded('the gate is closed');
    if (isFull()) throw new BufferFull(limit);
    queue.push(waiting);
    if (queue.length === LARGEST_BATCH) onFullBatch();
    // A turn of the event loop gathers what a burst reports together.
    flushing ??= nextTurn().then(flush);
  }

  return {
    pressure: (): Pressure => ({ waiting: size(), limit, failing }),
    isFull,
    /** Takes a report, or throws where there is no room for it. */
    add,
    /** Waits for room: how a caller is slowed down instead of losing a report. */
    async addWhenRoom(waiting: Waiting): Promise<void> {
      while (isFull() && !closed) await new Promise<void>((resolve) => roomWaiters.push(resolve));
      // Nothing is awaited between the look and the taking: of many that wait, each finds room of its own.
      add(waiting);
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

function nextTurn(): Promise<void> {
  return new Promise((next) => setImmediate(next));
}

export type Reporter = ReturnType<typeof createReporter>;
