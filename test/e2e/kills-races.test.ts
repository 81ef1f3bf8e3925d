import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serverKey, toolKey } from '../../src/domain/key/tool-key.ts';
import type { LedgerOutcome } from '../../src/domain/outcome/ledger-outcome.ts';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { appendOutcomes } from '../../src/postgres/append.ts';
import type { Ledger } from '../../src/postgres/append.ts';
import { Names, Subjects } from '../../src/postgres/intern.ts';
import { acquireProbe } from '../../src/postgres/probes.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';

// What the kills have brought to light, each race by itself.

let installation: Installation;
let ledger: Ledger;

beforeAll(async () => {
  installation = await createInstallation();
  const { pool } = installation;
  ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
});
afterAll(() => installation.close());

const published = { rules: parseRules({}), version: 1 };
const success = (tool: string, more: Partial<LedgerOutcome> = {}): LedgerOutcome => ({
  server: 'remote',
  name: tool,
  kind: 'success',
  at: Date.now(),
  callId: randomUUID(),
  ...more,
});
const unreachable = { kind: 'failure', severity: 'server_error', category: 'reachability' } as const;
const write = (...outcomes: LedgerOutcome[]) => appendOutcomes(ledger, outcomes, published);

test('a head that changed while a flush waited for it is advanced all the same', async () => {
  const { pool } = installation;
  // Enough subjects for the planner to look heads up one by one.
  await pool.query(
    `insert into subject (key, kind, server, name)
     select 'tool:local/' || n, 'tool', 'local', n::text from generate_series(1, 500) n`,
  );
  await write(success('search', unreachable));
  await pool.query('analyze subject');
  for (const outcome of [success('search'), success('search', unreachable)]) {
    const bell = await pool.connect();
    await bell.query('begin');
    await bell.query('update subject set rung_at = now(), attentive = true where key = $1', [serverKey('remote')]);
    const writing = write(outcome);
    await eventually(async () => {
      const waiting = await pool.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      expect(waiting.rowCount).toBeGreaterThan(0);
    });
    await bell.query('commit');
    bell.release();
    await writing;
  }
  const heads = await pool.query('select key, seq, outcomes from subject where server = $1 order by key', ['remote']);
  expect(heads.rows).toEqual([
    { key: serverKey('remote'), seq: 3, outcomes: 3 },
    { key: toolKey('remote', 'search'), seq: 3, outcomes: 3 },
  ]);
});

test('of two rows of a tool the later one is not the older one, however long it waited for its place', async () => {
  const { pool } = installation;
  const writers = Array.from({ length: 6 }, async () => {
    for (let i = 0; i < 30; i += 1) await write(success('busy'), success('busier'));
  });
  await Promise.all(writers);
  const backwards = await pool.query(
    `select 1 from (select received_at < lag(received_at) over (partition by subject order by seq) as back from ledger) l
     where back`,
  );
  expect(backwards.rowCount).toBe(0);
});

test('whoever takes a lapsed lease and the late report of its holder do not wait for each other for ever', async () => {
  const { pool } = installation;
  const key = toolKey('remote', 'leased');
  await write(success('leased'));
  const take = () =>
    acquireProbe(pool, {
      parts: [{ key, part: '' }],
      toolKey: key,
      callId: randomUUID(),
      trustVersion: 0,
      leaseSeconds: 1,
    });
  for (let i = 0; i < 60; i += 1) {
    const token = (await take()) ?? '';
    await pool.query("update probe set expires_at = clock_timestamp() - interval '1 second'");
    const report = write(success('leased', { probe: token }));
    const [, first, second] = await Promise.all([report, take(), take()]);
    expect([first, second].filter((taken) => taken !== undefined)).toHaveLength(1);
    await pool.query('delete from probe');
  }
  const found = await pool.query('select deadlocks from pg_stat_database where datname = current_database()');
  expect(found.rows).toEqual([{ deadlocks: 0 }]);
});
