import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPartitions, dropPartitions, pruneForeign } from '../../src/postgres/partitions.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { append, failure, ledgerOf, outcome } from './support.ts';

let installation: Installation;
const WEEK = 7 * 86_400_000;
const past = Date.now() - 20 * WEEK;

beforeAll(async () => {
  installation = await createInstallation();
});
afterAll(() => installation.close());

test('a partition that cannot be dropped does not keep a bell from being rung', async () => {
  const { pool } = installation;
  await createPartitions(pool, past);
  await pool.query(`create view somebodys as select 1 from ledger_w${Math.floor(past / WEEK)}`);
  await append(
    ledgerOf(installation),
    [1, 2, 3].map(() => failure({ name: 'rung' })),
  );
  const worker = await installation.startWorker();
  await eventually(async () => {
    const found = await pool.query(
      "select status from trust t join subject s on s.id = t.subject where s.name = 'rung'",
    );
    expect(found.rows).toEqual([{ status: 'ESCALATED' }]);
  });
  await worker.stop();
  await pool.query('drop view somebodys');
});

test('a long read makes housekeeping wait, not everybody who reports', async () => {
  const { pool } = installation;
  await createPartitions(pool, past);
  const reader = await pool.connect();
  await reader.query('begin');
  await reader.query('select count(*) from ledger');
  const dropping = dropPartitions(pool, Date.now(), 30);
  await expect(dropping).rejects.toThrow(/lock timeout/);
  await append(ledgerOf(installation), [outcome({ name: 'meanwhile' })]);
  await reader.query('rollback');
  reader.release();
  expect(await dropPartitions(pool, Date.now(), 30)).not.toEqual([]);
});

test('rows under ids of the callers are pruned when they are past retention and applied', async () => {
  const { pool } = installation;
  await append(
    ledgerOf(installation),
    ['a', 'b'].map((callId) => outcome({ name: 'foreign', callId })),
  );
  await pool.query("update ledger_foreign set received_at = now() - interval '60 days'");
  expect(await pruneForeign(pool, 30)).toBe(0);
  await pool.query("update subject set applied_seq = 1 where name = 'foreign'");
  expect(await pruneForeign(pool, 30)).toBe(1);
});
