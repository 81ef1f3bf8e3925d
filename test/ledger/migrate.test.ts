import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { migrate } from '../../src/postgres/migrate.ts';
import { createPartitions, dropPartitions } from '../../src/postgres/partitions.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { lowestIdAt, newOutcomeId } from '../../src/postgres/outcome-id.ts';
import { withDatabase } from '../support/global-setup.ts';
import { append, outcome } from './support.ts';
import { Names, Subjects } from '../../src/postgres/intern.ts';

const name = `surety_${randomUUID().slice(0, 8)}`;
const admin = createPool(inject('servers').databaseUrl, { max: 1 });
const pool = createPool(withDatabase(inject('servers').databaseUrl, name));
const DAY = 86_400_000;

beforeAll(() => admin.query(`create database ${name}`));
afterAll(async () => {
  await pool.end();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});

test('an empty database is migrated by whoever comes first, and by nobody twice', async () => {
  await Promise.all(Array.from({ length: 5 }, () => migrate(pool)));
  await migrate(pool);
  const applied = await pool.query('select number from migration order by number');
  expect(new Set(applied.rows).size).toBe(applied.rowCount);
  expect(applied.rowCount).toBeGreaterThan(0);
});

test('a newer schema is refused with the way out, and not touched', async () => {
  await pool.query("insert into migration (number, name) values (9999, '9999-from-the-future.sql')");
  await expect(migrate(pool)).rejects.toMatchObject({
    name: 'Problem',
    message: expect.stringContaining('9999-from-the-future.sql') as string,
    wayOut: expect.stringContaining('newer Surety') as string,
  });
  await pool.query('delete from migration where number = 9999');
});

test('rows of a clock that ran ahead are moved once their week has a partition', async () => {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  const ahead = Date.now() + 60 * DAY;
  const id = lowestIdAt(ahead).slice(0, 13) + newOutcomeId().slice(13);
  await append(ledger, [outcome({ callId: id })]);
  const home = async () =>
    (await pool.query<{ home: string }>('select tableoid::regclass::text as home from ledger where id = $1', [id]))
      .rows[0]?.home;
  expect(await home()).toBe('ledger_stray');
  await Promise.all([createPartitions(pool, ahead), createPartitions(pool, ahead)]);
  expect(await home()).toMatch(/^ledger_w\d+$/);
  await append(ledger, [outcome({ callId: id })]);
  expect((await pool.query('select 1 from ledger where id = $1', [id])).rowCount).toBe(1);
});

test('a partition is dropped only past retention, and only when every tool has applied it', async () => {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  const past = Date.now() - 100 * DAY;
  await createPartitions(pool, past);
  const id = lowestIdAt(past).slice(0, 13) + newOutcomeId().slice(13);
  await append(ledger, [
    {
      ...outcome({ name: 'old', callId: id }),
      kind: 'failure',
      severity: 'server_error',
      category: 'quality',
      evidence: 'text',
    },
  ]);
  const kept = await dropPartitions(pool, Date.now(), 30);
  expect((await pool.query('select 1 from ledger where id = $1', [id])).rowCount).toBe(1);
  await pool.query('update subject set applied_seq = seq');
  const dropped = await dropPartitions(pool, Date.now(), 30);
  expect(dropped.length + kept.length).toBeGreaterThan(0);
  expect((await pool.query('select 1 from ledger where id = $1', [id])).rowCount).toBe(0);
  expect(await dropPartitions(pool, Date.now(), 3650)).toEqual([]);
});
