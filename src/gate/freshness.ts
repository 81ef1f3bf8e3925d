import pg from 'pg';
import { readApplied, readInDoubt, readKnown, readRecent, readSettings, readStandings } from '../postgres/snapshot.ts';
import type { Standing } from '../postgres/snapshot.ts';
import { pause, pauseUnless } from '../pause.ts';
import { reasonOf } from '../problem.ts';
import type { View } from './view.ts';

export interface FreshnessOptions {
  readonly pool: pg.Pool;
  readonly databaseUrl: string;
  readonly view: View;
  readonly onChange: (before: Standing | undefined, after: Standing) => void;
  readonly onSituation: (because: string) => void;
}

const POLL_MS = 2000;
/** Long enough to cover a projection whose transaction took its time. */
const LOOK_BACK_SECONDS = 30;
const RECONNECT_MS = 500;

/**
 * Keeps a view up to date: notifications for speed, a poll for what they lose, a whole snapshot after each reconnection.
 * Whether the view may still be believed is decided by a timer here, never on the way of a call.
 */
export function keepFresh({ pool, databaseUrl, view, onChange, onSituation }: FreshnessOptions) {
  const stopping = new AbortController();
  const isStopped = () => stopping.signal.aborted;
  const { promise: ready, resolve: markReady } = withResolver();
  let lastContact = 0;

  const inTouch = () => {
    lastContact = Date.now();
    if (view.setSituation('fresh')) onSituation('the ledger answers');
    markReady();
  };
  const take = (standing: Standing) => {
    const before = view.take(standing);
    if (before !== null) onChange(before, standing);
  };

  async function snapshot(): Promise<void> {
    view.setSettings(await readSettings(pool));
    const inDoubt = await readInDoubt(pool);
    const keys = new Set(inDoubt.map(({ key }) => key));
    const gone = [...view.standings()].filter(({ key }) => !keys.has(key)).map(({ id }) => id);
    inDoubt.forEach(take);
    // What left the list while nobody listened is trusted again: its own row says so.
    (await readStandings(pool, gone)).forEach(take);
    inTouch();
  }

  async function poll(): Promise<void> {
    (await readRecent(pool, LOOK_BACK_SECONDS)).forEach(take);
    await refreshSettings();
    const provisional = view.provisional();
    if (provisional.length > 0) for (const [key, seq] of await readApplied(pool, provisional)) view.applied(key, seq);
    const wanted = view.wanted();
    if (wanted.length > 0) view.know(await readKnown(pool, wanted));
    inTouch();
  }

  async function refreshSettings(): Promise<void> {
    const settings = await readSettings(pool);
    const { version, brokenGlassUntil } = view.settings;
    if (settings.version !== version || settings.brokenGlassUntil !== brokenGlassUntil) view.setSettings(settings);
  }

  /** Handles one notification after the other, so that a burst of them is one query. */
  async function follow(notified: { payloads: string[]; wait: () => Promise<void> }): Promise<void> {
    while (!isStopped()) {
      await notified.wait();
      const payloads = notified.payloads.splice(0);
      const subjects = payloads.filter((text) => text.startsWith('trust:')).map((text) => Number(text.slice(6)));
      if (subjects.length > 0) (await readStandings(pool, subjects)).forEach(take);
      if (payloads.includes('settings')) await refreshSettings();
    }
  }

  async function connected(client: pg.Client): Promise<void> {
    const notified = inbox();
    const ended = new Promise<never>((_, reject) => {
      client.on('error', reject).once('end', () => reject(new Error('the connection ended')));
    });
    ended.catch(() => undefined);
    client.on('notification', ({ payload }) => notified.put(payload ?? ''));
    await client.connect();
    await client.query('listen surety');
    await snapshot();
    const following = follow(notified);
    following.catch(() => undefined);
    while (!isStopped()) {
      const wanted = new Promise<void>((resolve) => {
        view.onWanted = resolve;
      });
      await pauseUnless(Promise.race([ended, following, wanted]), POLL_MS, stopping.signal);
      await poll();
    }
  }

  async function keepConnected(): Promise<void> {
    while (!isStopped()) {
      const client = new pg.Client({ connectionString: databaseUrl, application_name: 'surety gate', ...PATIENCE });
      // Whatever broke, the answer is a new connection and a new snapshot; meanwhile the timer below counts.
      await connected(client).catch((error: unknown) => {
        view.trouble = reasonOf(error);
      });
      await client.end().catch(() => undefined);
      await pause(RECONNECT_MS, stopping.signal);
    }
  }

  const timer = setInterval(() => {
    const { staleAfterSeconds } = view.settings.rules;
    const isLate = Date.now() - lastContact > staleAfterSeconds * 1000;
    if (view.situation === 'fresh' && isLate && view.setSituation('stale')) {
      onSituation(`nothing was heard from the ledger for ${staleAfterSeconds} s`);
    }
  }, 500);
  const done = keepConnected();

  return {
    ready,
    async stop(): Promise<void> {
      stopping.abort();
      clearInterval(timer);
      await done;
    },
  };
}

const PATIENCE = { connectionTimeoutMillis: 5000, query_timeout: 10_000, keepAlive: true } as const;

function inbox() {
  const payloads: string[] = [];
  let wake: () => void = () => undefined;
  return {
    payloads,
    put(payload: string) {
      payloads.push(payload);
      wake();
    },
    wait: () =>
      payloads.length > 0
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            wake = resolve;
          }),
  };
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
