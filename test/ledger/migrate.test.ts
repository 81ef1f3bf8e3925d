import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { migrate } from '../../src/postgres/migrate.ts';
import { createPartitions, dropPartitions } from '../../src/postgres/partitions.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { lowestIdAt, newOutcomeId } from '../../src/postgres/outcome-id.ts';
import { withDatabase } from '../support/global-setup.ts';
import { append, failure, outcome } from './support.ts';
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

describe('a partition is dropped only past retention, and only when every tool and server has applied it', () => {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  const past = Date.now() - 100 * DAY;
  const old = () => ({ callId: lowestIdAt(past).slice(0, 13) + newOutcomeId().slice(13) });
  const isKept = async ({ callId }: { callId: string }) =>
    (await pool.query('select 1 from ledger where id = $1', [callId])).rowCount === 1;
  const wantsBell = async (key: string) =>
    (await pool.query('select 1 from subject where key = $1 and ring_seq > applied_seq', [key])).rowCount === 1;

  beforeEach(() => createPartitions(pool, past));

  test('a success that never rang is rung for, and goes once it has been seen', async () => {
    const success = outcome({ name: 'quiet', ...old() });
    await append(ledger, [success]);
    await dropPartitions(pool, Date.now(), 30);
    expect(await isKept(success)).toBe(true);
    expect(await wantsBell('tool:local/quiet')).toBe(true);
    await pool.query('update subject set applied_seq = seq');
    expect(await dropPartitions(pool, Date.now(), 30)).not.toEqual([]);
    expect(await isKept(success)).toBe(false);
    expect(await dropPartitions(pool, Date.now(), 3650)).toEqual([]);
  });

  test('a row that only the server has not applied keeps it, too', async () => {
    const unreached = failure({ server: 'mcp', name: 'gone', category: 'reachability', severity: 'timeout', ...old() });
    await append(ledger, [unreached]);
    await pool.query("update subject set applied_seq = seq where kind = 'tool'");
    await dropPartitions(pool, Date.now(), 30);
    expect(await isKept(unreached)).toBe(true);
    expect(await wantsBell('server:mcp')).toBe(true);
  });
});
