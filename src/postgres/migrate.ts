import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { Problem } from '../problem.ts';
import { inTransaction, SCHEMA } from './pool.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);
// Any constant will do; it only has to be the same for everyone who migrates.
const LOCK = 7_264_011_305;

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
  } finally {
    await client.query('select pg_advisory_unlock($1)', [LOCK]).finally(() => client.release());
  }
  for (const file of files) {
    await inTransaction(pool, async (transaction) => {
      await transaction.query('select pg_advisory_xact_lock($1)', [LOCK]);
      const applied = await transaction.query('select 1 from migration where number = $1', [file.number]);
      if (applied.rowCount !== 0) return;
      await transaction.query(await readFile(file.url, 'utf8'));
      await transaction.query('insert into migration (number, name) values ($1, $2)', [file.number, file.name]);
    });
  }
  await refuseNewerSchema(pool);
}

/** A newer Surety has been here: its tables may mean something this one does not know. */
export async function refuseNewerSchema(pool: pg.Pool): Promise<void> {
  const known = (await migrationFiles()).at(-1)?.number ?? 0;
  const found = await pool.query<{ number: number; name: string }>(
    'select number, name from migration order by number desc limit 1',
  );
  const newest = found.rows[0];
  if (newest !== undefined && newest.number > known) {
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
