import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { codeFile } from '../package-files.ts';
import { Problem } from '../problem.ts';
import { inTransaction, SCHEMA } from './pool.ts';

const MIGRATIONS = codeFile('src/postgres/migrations/');
// Any constant will do; it only has to be the same for everyone who migrates.
const LOCK = 7_264_011_305;
/** A migration takes as long as it takes; the pool's own patience is for reports. */
const FOR_EVER = 2 ** 31 - 1;

/** Brings the schema up to date, one migration per transaction, one migrator at a time. Safe to run again. */
export async function migrate(pool: pg.Pool): Promise<void> {
  const files = await migrationFiles();
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    await client.query(`create schema if not exists ${SCHEMA}`);
    await client.query(
      'create table if not exists migration (number integer primary key, name text not null, applied_at timestamptz not null default now())',
    );
    await client.query('alter table migration add column if not exists readable_since integer');
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK]).finally(() => client.release());
  }
  for (const file of files) {
    await inTransaction(pool, async (transaction) => {
      await transaction.query('select pg_advisory_xact_lock($1)', [LOCK]);
      const applied = await transaction.query('select 1 from migration where number = $1', [file.number]);
      if (applied.rowCount !== 0) return;
      const text = await readFile(file.url, 'utf8');
      await transaction.query({ text, query_timeout: FOR_EVER } as pg.QueryConfig);
      const readableSince = Number(/^-- readable since (\d+)$/m.exec(text)?.[1] ?? file.number);
      await transaction.query('insert into migration (number, name, readable_since) values ($1, $2, $3)', [
        file.number,
        file.name,
        readableSince,
      ]);
    });
  }
  await refuseNewerSchema(pool);
}

/**
 * A newer Surety has been here: its tables may mean something this one does not know. A migration that says since when it
 * can be read (`-- readable since 1`) leaves older ones running, so that they can be replaced one by one.
 */
export async function refuseNewerSchema(pool: pg.Pool): Promise<void> {
  const known = (await migrationFiles()).at(-1)?.number ?? 0;
  const found = await pool.query<{ number: number; name: string }>(
    `select number, name from migration where coalesce((to_jsonb(migration) ->> 'readable_since')::int, number) > $1
     order by number desc limit 1`,
    [known],
  );
  const [newest] = found.rows;
  if (newest !== undefined) {
    throw new Problem(
      `The database has schema version ${newest.number} (${newest.name}); this Surety knows versions up to ${known}.`,
      'Run the newer Surety, or restore the backup that was taken before the upgrade. Nothing was changed.',
    );
  }
}

async function migrationFiles(): Promise<{ number: number; name: string; url: URL }[]> {
  const names = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();
  return names.map((name) => ({ number: Number.parseInt(name, 10), name, url: new URL(name, MIGRATIONS) }));
}
