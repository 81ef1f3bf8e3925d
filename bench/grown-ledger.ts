import type { QueryConfig } from 'pg';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { appendOutcomes } from '../src/postgres/append.ts';
import { Names, Subjects } from '../src/postgres/intern.ts';
import { migrate } from '../src/postgres/migrate.ts';
import { newOutcomeId } from '../src/postgres/outcome-id.ts';
import { createPartitions, dropPartitions } from '../src/postgres/partitions.ts';
import { createPool } from '../src/postgres/pool.ts';
import { pull } from '../src/postgres/pull.ts';
import { loadHistory } from './load.ts';

const TOOLS = 1000;
const DAY_MS = 86_400_000;
/** How many partitions are past retention; the oldest is dropped first. */
export const DROPS = 20;
const OLDEST_WEEKS = 24;
/** The first few meet cold caches and unprepared statements. */
const COLD = 50;

export interface GrownLedger {
  /** With a drop, the oldest partition there is begins to go at the same moment. */
  flushAndPull(pass: number, withDrop: boolean): Promise<void>;
  end(): Promise<{
    readonly label: string;
    readonly inserts: readonly number[];
    readonly pulls: readonly number[];
    /** Those that began with a drop; they are among the others as well. */
    readonly insertsInDrops: readonly number[];
    readonly pullsInDrops: readonly number[];
  }>;
}

/** A ledger with so many rows in a database of its own, and half as many again in partitions that are past retention. */
export async function growLedger(databaseUrl: string, millions: number): Promise<GrownLedger> {
  const name = `grown_${millions * 1_000_000}`;
  const admin = createPool(databaseUrl, { max: 1 });
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = new URL(databaseUrl);
  url.pathname = `/${name}`;
  const pool = createPool(url.href, { max: 4 });
  await migrate(pool);
  const now = Date.now();
  const perTool = (millions * 1_000_000) / TOOLS;
  const old = Array.from({ length: DROPS }, (_, nth) => now - (OLDEST_WEEKS - nth) * 7 * DAY_MS);
  for (const at of [...old, now]) {
    await createPartitions(pool, at);
    await loadHistory(pool, {
      tools: TOOLS,
      perTool: at === now ? perTool : Math.ceil(perTool / 2 / DROPS),
      at,
      prefix: 'grown',
    });
  }
  // Loaded long ago, as far as the database is concerned: what the loading left to be done is done.
  for (const text of ['vacuum (analyze) ledger', 'vacuum (analyze) subject', 'checkpoint']) {
    await pool.query({ text, query_timeout: 600_000 } as QueryConfig);
  }
  const found = await pool.query<{ generation: string }>('select generation from installation');
  const generation = found.rows[0]?.generation ?? '';
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  const published = { rules: parseRules({}), version: 0 };
  const [inserts, pulls]: [number[], number[]] = [[], []];
  const [insertsInDrops, pullsInDrops]: [number[], number[]] = [[], []];
  let drops = 0;
  const dropOldest = async () => {
    drops += 1;
    const dropped = await dropPartitions(pool, now, (OLDEST_WEEKS - drops) * 7);
    if (dropped.length === 0) throw new Error(`nothing was dropped with ${millions} million rows`);
  };

  return {
    flushAndPull: async (pass, withDrop) => {
      const outcomes = Array.from({ length: 100 }, (_, i) => ({
        ...({ kind: 'success', server: 'local', name: `grown-${(pass * 100 + i) % TOOLS}` } as const),
        ...{ at: Date.now(), callId: newOutcomeId() },
      }));
      const dropped = withDrop ? dropOldest() : undefined;
      const begin = performance.now();
      await appendOutcomes(ledger, outcomes, published);
      const inserted = performance.now() - begin;
      inserts.push(inserted);
      const key = `tool:local/grown-${pass % TOOLS}`;
      const head = await pool.query<{ seq: number }>('select seq from subject where key = $1', [key]);
      const since = { generation, seq: (head.rows[0]?.seq ?? 0) - 1, id: null };
      const pulling = performance.now();
      await pull(pool, { key, since, version: 0, rulesVersion: -1, rulesShape: 0, scopes: [], fold: true });
      const pulled = performance.now() - pulling;
      pulls.push(pulled);
      if (!withDrop) return;
      insertsInDrops.push(inserted);
      pullsInDrops.push(pulled);
      await dropped;
    },
    end: async () => {
      await pool.end();
      const [warmInserts, warmPulls] = [inserts.slice(COLD), pulls.slice(COLD)];
      return { label: `${millions} M rows`, inserts: warmInserts, pulls: warmPulls, insertsInDrops, pullsInDrops };
    },
  };
}
