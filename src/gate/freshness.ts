import pg from 'pg';
import { readGrants } from '../postgres/grants.ts';
import { readApplied, readInDoubt, readKnown, readRecent, readSettings, readStandings } from '../postgres/snapshot.ts';
import type { Standing } from '../postgres/snapshot.ts';
import { createWaker, pause } from '../pause.ts';
import { letGo } from '../postgres/pool.ts';
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
    view.grants.take(await readGrants(pool));
    const inDoubt = await readInDoubt(pool);
    const keys = new Set(inDoubt.map(({ key }) => key));
    const gone = [...view.standings()].filter(({ key }) => !keys.has(key)).map(({ id }) => id);
    inDoubt.forEach(take);
    // What left the list while nobody listened is trusted again: its own row says so.
    (await readStandings(pool, gone)).forEach(take);
    inTouch();
  }

  async function poll(): Promise<void> {
    // First what has been applied, then what was made of it: a projection that comes in between is seen by both.
    const provisional = view.local.provisional();
    const applied = provisional.length > 0 ? await readApplied(pool, provisional) : new Map<string, number>();
    (await readRecent(pool, LOOK_BACK_SECONDS)).forEach(take);
    for (const [key, seq] of applied) view.local.applied(key, seq);
    await refreshSettings();
    view.grants.take(await readGrants(pool));
    const wanted = view.wanted();
    if (wanted.length > 0) view.know(await readKnown(pool, wanted));
    inTouch();
  }

  async function refreshSettings(): Promise<void> {
    const settings = await readSettings(pool);
    const { version, brokenGlassUntil } = view.settings;
    if (settings.version !== version || settings.brokenGlassUntil !== brokenGlassUntil) view.setSettings(settings);
  }

  /** What was notified since the last look, as one query however many there were. */
  async function follow(payloads: readonly string[]): Promise<void> {
    const subjects = payloads.filter((text) => text.startsWith('trust:')).map((text) => Number(text.slice(6)));
    if (subjects.length > 0) (await readStandings(pool, [...new Set(subjects)])).forEach(take);
    if (payloads.includes('settings')) await refreshSettings();
    // Few by nature: one snapshot of them costs less than finding out which are new.
    if (payloads.some((text) => text.startsWith('grants:'))) view.grants.take(await readGrants(pool));
    for (const text of payloads) if (text.startsWith('approval:')) view.waiters.tell(text.slice(9));
  }

  async function connected(client: pg.Client): Promise<void> {
    const waker = createWaker();
    const payloads: string[] = [];
    client.on('error', waker.fail).once('end', () => waker.fail(new Error('the connection ended')));
    client.on('notification', ({ payload }) => {
      payloads.push(payload ?? '');
      waker.wake();
    });
    view.onWanted = waker.wake;
    await client.connect();
    await client.query('listen surety');
    await snapshot();
    for (let polledAt = Date.now(); !isStopped();) {
      await waker.sleep(Math.max(0, polledAt + POLL_MS - Date.now()), stopping.signal);
      // This process slept through more than a poll looks back at: only a snapshot knows what it has missed.
      if (Date.now() - polledAt > (LOOK_BACK_SECONDS / 2) * 1000) await snapshot();
      await follow(payloads.splice(0));
      if (view.hasUnasked || Date.now() - polledAt >= POLL_MS) {
        await poll();
        polledAt = Date.now();
      }
    }
  }

  async function keepConnected(): Promise<void> {
    while (!isStopped()) {
      const client = new pg.Client({ connectionString: databaseUrl, application_name: 'surety gate', ...PATIENCE });
      // Whatever broke, the answer is a new connection and a new snapshot; meanwhile the timer below counts.
      await connected(client).catch((error: unknown) => {
        view.trouble = reasonOf(error);
      });
      await letGo(client);
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

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
