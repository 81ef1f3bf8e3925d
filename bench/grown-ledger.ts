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
const LONG_AGO_MS = 20 * 7 * 86_400_000;
const RETENTION_DAYS = 30;
/** The first few meet cold caches and unprepared statements. */
const COLD = 50;

export interface GrownLedger {
  flushAndPull(pass: number): Promise<void>;
  /** Begins to drop what is past retention. */
  drop(): void;
  end(): Promise<{ readonly label: string; readonly inserts: readonly number[]; readonly pulls: readonly number[] }>;
}

/** A ledger with so many rows in a database of its own, half of them in a partition that is past retention. */
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
  for (const at of [now - LONG_AGO_MS, now]) {
    await createPartitions(pool, at);
    await loadHistory(pool, { tools: TOOLS, perTool: (millions * 1_000_000) / TOOLS / 2, at, prefix: 'grown' });
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
  let dropping: Promise<readonly string[]> | undefined;

  return {
    flushAndPull: async (pass) => {
      const outcomes = Array.from({ length: 100 }, (_, i) => ({
        ...({ kind: 'success', server: 'local', name: `grown-${(pass * 100 + i) % TOOLS}` } as const),
        ...{ at: Date.now(), callId: newOutcomeId() },
      }));
      const begin = performance.now();
      await appendOutcomes(ledger, outcomes, published);
      inserts.push(performance.now() - begin);
      const key = `tool:local/grown-${pass % TOOLS}`;
      const head = await pool.query<{ seq: number }>('select seq from subject where key = $1', [key]);
      const since = { generation, seq: (head.rows[0]?.seq ?? 0) - 1, id: null };
      const pulling = performance.now();
      await pull(pool, { key, since, version: 0, rulesVersion: -1, rulesShape: 0, scopes: [], fold: true });
      pulls.push(performance.now() - pulling);
    },
    drop: () => {
      dropping = dropPartitions(pool, now, RETENTION_DAYS);
    },
    end: async () => {
      const dropped = (await dropping) ?? [];
      if (dropped.length === 0) throw new Error(`nothing was dropped with ${millions} million rows`);
      await pool.end();
      return { label: `${millions} M rows`, inserts: inserts.slice(COLD), pulls: pulls.slice(COLD) };
    },
  };
}
