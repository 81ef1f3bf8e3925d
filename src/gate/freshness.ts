import type { Standing } from '../postgres/snapshot.ts';
import { createWaker, pause } from '../pause.ts';
import { reasonOf } from '../problem.ts';
import type { News, Source } from './source.ts';
import type { View } from './view.ts';

export interface FreshnessOptions {
  readonly source: Source;
  readonly view: View;
  readonly onChange: (before: Standing | undefined, after: Standing) => void;
  readonly onSituation: (because: string) => void;
  /** Told who the gate speaks for, where the source decides that. */
  readonly onAgent: (agent: string) => void;
}

const POLL_MS = 2000;
/** Long enough to cover a projection whose transaction took its time. */
const LOOK_BACK_SECONDS = 30;
/** What was granted is announced; looking at all of it is only for an announcement that was lost. */
const ALL_GRANTS_MS = 30_000;
const RECONNECT_MS = 500;

/**
 * Keeps a view up to date: announcements for speed, a poll for what they lose, a whole snapshot after each reconnection.
 * Whether the view may still be believed is decided by a timer here, never on the way of a call.
 */
export function keepFresh({ source, view, onChange, onSituation, onAgent }: FreshnessOptions) {
  const stopping = new AbortController();
  const isStopped = () => stopping.signal.aborted;
  const { promise: ready, resolve: markReady } = withResolver();
  let lastContact = 0;
  let grantsReadAt = 0;

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
    const { settings, grants, inDoubt, agent } = await source.snapshot();
    if (agent !== undefined) onAgent(agent);
    view.setSettings(settings);
    view.grants.take(grants);
    grantsReadAt = Date.now();
    const keys = new Set(inDoubt.map(({ key }) => key));
    const gone = [...view.standings()].filter(({ key }) => !keys.has(key)).map(({ id }) => id);
    inDoubt.forEach(take);
    // What left the list while nobody listened is trusted again: its own row says so.
    if (gone.length > 0) (await source.news({ standingsOf: gone })).standings.forEach(take);
    inTouch();
  }

  async function poll(): Promise<void> {
    const isTimeForGrants = Date.now() - grantsReadAt >= ALL_GRANTS_MS;
    if (isTimeForGrants) grantsReadAt = Date.now();
    absorb(
      await source.news({
        appliedOf: view.local.provisional(),
        recentSeconds: LOOK_BACK_SECONDS,
        knownOf: view.wanted(),
        settingsAfter: view.settings.version,
        allGrants: isTimeForGrants,
      }),
    );
    inTouch();
  }

  /** What was announced since the last look, as one request however much there was. */
  async function follow(announced: readonly string[]): Promise<void> {
    const [standingsOf, grantsOf] = [subjectsIn(announced, 'trust:'), subjectsIn(announced, 'grants:')];
    const hasSettings = announced.includes('settings');
    if (standingsOf.length > 0 || grantsOf.length > 0 || hasSettings) {
      absorb(
        await source.news({
          ...(standingsOf.length === 0 ? {} : { standingsOf }),
          ...(grantsOf.length === 0 ? {} : { grantsOf }),
          ...(hasSettings ? { settingsAfter: view.settings.version } : {}),
        }),
      );
    }
    for (const what of announced) if (what.startsWith('approval:')) view.waiters.tell(what.slice(9));
  }

  function absorb({ standings, grants, allGrants, applied, known, settings }: News): void {
    standings.forEach(take);
    for (const [key, seq] of applied) view.local.applied(key, seq);
    for (const { toolKey, grants: ofTool } of grants) view.grants.takeOf(toolKey, ofTool);
    if (allGrants !== undefined) view.grants.take(allGrants);
    if (known.length > 0) view.know(known);
    if (settings === undefined) return;
    const { version, brokenGlassUntil, rules } = view.settings;
    if (settings.version !== version || settings.brokenGlassUntil !== brokenGlassUntil) {
      view.setSettings({ ...settings, rules: settings.rules ?? rules });
    }
  }

  async function listened(waker: Waker): Promise<void> {
    const announced: string[] = [];
    const listening = await source.listen((what) => {
      announced.push(what);
      waker.wake();
    }, waker.fail);
    try {
      await snapshot();
      for (let polledAt = Date.now(); !isStopped();) {
        await waker.sleep(Math.max(0, polledAt + POLL_MS - Date.now()), stopping.signal);
        // This process slept through more than a poll looks back at: only a snapshot knows what it has missed.
        if (Date.now() - polledAt > (LOOK_BACK_SECONDS / 2) * 1000) await snapshot();
        await follow(announced.splice(0));
        if (view.hasUnasked || Date.now() - polledAt >= POLL_MS) {
          await poll();
          polledAt = Date.now();
        }
      }
    } finally {
      await listening.close();
    }
  }

  async function keepConnected(): Promise<void> {
    while (!isStopped()) {
      const waker = createWaker();
      view.onWanted = waker.wake;
      // Whatever broke, the answer is a new connection and a new snapshot; meanwhile the timer below counts.
      await listened(waker).catch((error: unknown) => {
        view.trouble = reasonOf(error);
      });
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

type Waker = ReturnType<typeof createWaker>;

function subjectsIn(announced: readonly string[], prefix: string): number[] {
  const found = announced.filter((what) => what.startsWith(prefix)).map((what) => Number(what.slice(prefix.length)));
  return [...new Set(found)].filter(Number.isSafeInteger);
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
