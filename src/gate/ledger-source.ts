import type pg from 'pg';
import { readGrants, readGrantsOf } from '../postgres/grants.ts';
import { listen } from '../postgres/listen.ts';
import { readApplied, readInDoubt, readKnown, readRecent, readSettings, readStandings } from '../postgres/snapshot.ts';
import type { News, Snapshot, Source, Wanted } from './source.ts';

/** Reads from the ledger itself. */
export function createLedgerSource(pool: pg.Pool, databaseUrl: string): Source {
  return {
    snapshot: () => readSnapshot(pool),
    news: (wanted) => readNews(pool, wanted),
    listen: (onAnnounced, onBroken) => listen(databaseUrl, 'surety gate', onAnnounced, onBroken),
  };
}

export async function readSnapshot(pool: pg.Pool): Promise<Snapshot> {
  const [settings, grants, inDoubt] = await Promise.all([readSettings(pool), readGrants(pool), readInDoubt(pool)]);
  return { settings, grants, inDoubt };
}

export async function readNews(pool: pg.Pool, wanted: Wanted): Promise<News> {
  const { standingsOf = [], grantsOf = [], appliedOf = [], knownOf = [], recentSeconds, settingsAfter } = wanted;
  // First what has been applied, then what was made of it: a projection that comes in between is seen by both.
  const applied = appliedOf.length === 0 ? [] : [...(await readApplied(pool, appliedOf))];
  const [announced, recent, grants, allGrants, known, settings] = await Promise.all([
    standingsOf.length === 0 ? [] : readStandings(pool, standingsOf),
    recentSeconds === undefined ? [] : readRecent(pool, recentSeconds),
    grantsOf.length === 0 ? [] : readGrantsOf(pool, grantsOf),
    wanted.allGrants === true ? readGrants(pool) : undefined,
    knownOf.length === 0 ? [] : readKnown(pool, knownOf),
    settingsAfter === undefined ? undefined : readSettings(pool),
  ]);
  return { standings: [...announced, ...recent], grants, allGrants, applied, known, settings };
}
