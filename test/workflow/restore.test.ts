import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { claimInstallation } from '../../src/installation.ts';
import { writeInstallation } from '../../src/temporal/namespace.ts';
import type { RunningWorker } from '../../src/temporal/start-worker.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, projected, untilStatus } from './support.ts';

// One of the two memories goes back in time; the stricter state holds, the audit says so, and life goes on.

let installation: Installation;
let gate: Gate;
let worker: RunningWorker;
const key = 'tool:local/t';

beforeEach(async () => {
  installation = await createInstallation();
  worker = await installation.startWorker();
  gate = await installation.connect();
});
afterEach(() => installation.close());

async function disagreements(): Promise<string[]> {
  const found = await installation.pool.query<{ reason: string }>(
    "select reason from audit where action = 'disagreement' order by id",
  );
  return found.rows.map(({ reason }) => reason);
}

async function appliedEverything(): Promise<void> {
  await eventually(async () => {
    const found = await installation.pool.query('select 1 from subject where ring_seq > applied_seq');
    expect(found.rowCount).toBe(0);
  });
}

/** Takes the ledger and the projection back to before `seq`, as a restored backup would. */
async function restoreLedgerBefore(seq: number): Promise<void> {
  // As whoever restores does: nobody is about to say how far it has read.
  await worker.stop();
  await installation.pool.query('delete from ledger where seq >= $1', [seq]);
  await installation.pool.query('delete from trust');
  await installation.pool.query(
    'update subject set seq = $1, ring_seq = $1, applied_seq = $1, attentive = false, due_at = null, rung_at = null',
    [seq - 1],
  );
  worker = await installation.startWorker();
}

test('an older ledger under a newer workflow: the workflow’s distrust holds', async () => {
  await fail(gate, 't', 3);
  await untilStatus(installation, key, 'ESCALATED');
  await restoreLedgerBefore(2);
  await fail(gate, 't', 1, { severity: 'crash' });
  await untilStatus(installation, key, 'ESCALATED');
  expect((await disagreements())[0]).toMatch(/^ledger is behind: the workflow had read up to 3/);
  await fail(gate, 't', 1);
  await appliedEverything();
});

test('what a restored ledger has never heard of is held again by the next leader, with nobody calling', async () => {
  await gate.report({ tool: 't', success: true });
  await fail(gate, 't', 3);
  await untilStatus(installation, key, 'ESCALATED');
  await installation.client.workflow.getHandle(key).executeUpdate('block', { args: [{ by: 'ann', reason: 'fraud' }] });
  await restoreLedgerBefore(2);
  await untilStatus(installation, key, 'BLOCKED');
  const late = await installation.connect();
  expect(late.check({ tool: 't' }).decision).toBe('deny');
  expect((await disagreements())[0]).toMatch(/^ledger is behind/);
});

test('an empty ledger learns what the workflows remember', async () => {
  await fail(gate, 't', 3);
  await untilStatus(installation, key, 'ESCALATED');
  await worker.stop();
  await installation.pool.query(
    'truncate ledger, trust, audit, probe, approval, approval_decision, approval_grant, subject',
  );
  await installation.pool.query('update installation set generation = gen_random_uuid()');
  await installation.startWorker();
  await untilStatus(installation, key, 'ESCALATED');
  expect((await disagreements())[0]).toMatch(/^other generation/);
});

test('a gate that lived through a restore records under the numbers of the restored ledger', async () => {
  await gate.report({ tool: 'first', success: true });
  await gate.report({ tool: 'second', success: true });
  // As from a backup in which the two had come the other way round.
  await installation.pool.query(
    'truncate ledger, trust, audit, probe, approval, approval_decision, approval_grant, subject, name restart identity',
  );
  const other = await installation.connect();
  await other.report({ tool: 'second', success: true });
  await fail(gate, 'first', 1);
  const found = await installation.pool.query(
    'select s.name, l.kind from ledger l join subject s on s.id = l.subject order by s.name',
  );
  expect(found.rows).toEqual([
    { name: 'first', kind: 1 },
    { name: 'second', kind: 0 },
  ]);
});

test('of many that claim a new installation at once, all agree whose it is', async () => {
  const { pool, temporal, client } = installation;
  const connection = client.connection as Parameters<typeof claimInstallation>[1];
  await worker.stop();
  await pool.query('truncate installation');
  await writeInstallation(connection, temporal, '');
  await Promise.all([1, 2, 3].map(() => claimInstallation(pool, connection, temporal, { adopt: true })));
  await expect(claimInstallation(pool, connection, temporal)).resolves.toEqual([]);
});

test('a ledger that was restored and has grown again is recognised by its rows', async () => {
  await fail(gate, 't', 3);
  await untilStatus(installation, key, 'ESCALATED');
  await worker.stop();
  await restoreLedgerBefore(2);
  await fail(gate, 't', 5, { severity: 'not_found' });
  await fail(gate, 't', 1);
  await installation.startWorker();
  await untilStatus(installation, key, 'ESCALATED');
  expect((await disagreements())[0]).toMatch(/^ledger was rewritten/);
});

test('another generation of the ledger', async () => {
  await fail(gate, 't', 3);
  await untilStatus(installation, key, 'ESCALATED');
  await installation.pool.query('update installation set generation = gen_random_uuid()');
  await fail(gate, 't', 1);
  await eventually(async () => expect((await disagreements())[0]).toMatch(/^other generation/));
  expect((await projected(installation, key)).status).toBe('ESCALATED');
});

test('a newer projection over an older workflow: what was projected holds, and what is new is applied', async () => {
  await fail(gate, 't', 1);
  await appliedEverything();
  await installation.pool.query(
    `insert into trust (subject, version, seq, rules_version, status, reason, parts)
     select id, 9, 1, 1, 'BLOCKED', 'by eva', $1 from subject where key = $2`,
    [
      JSON.stringify({
        '': { status: 'BLOCKED', tally: { consecutive: 0, failures: [] }, since: 1, reason: 'by eva' },
      }),
      key,
    ],
  );
  await fail(gate, 't', 1);
  await eventually(async () => expect((await projected(installation, key)).version).toBeGreaterThan(9));
  expect(await projected(installation, key)).toMatchObject({ status: 'BLOCKED', reason: 'by eva' });
  expect((await disagreements())[0]).toMatch(/^workflow is behind/);
});

test('a workflow that was terminated adopts the projection and goes on', async () => {
  await fail(gate, 't', 3);
  const before = await untilStatus(installation, key, 'ESCALATED');
  await installation.client.workflow.getHandle(key).terminate('by hand');
  await fail(gate, 't', 1);
  await eventually(async () => {
    const { parts } = await projected(installation, key);
    expect(parts['']).toMatchObject({
      status: 'ESCALATED',
      failures: 1,
      since: before.parts['']?.status === 'ESCALATED' ? before.parts[''].since : 0,
    });
  });
});

test('what a run projected that was ended meanwhile is taken up by the next, and nothing is judged twice', async () => {
  await fail(gate, 't', 3);
  await untilStatus(installation, key, 'ESCALATED');
  const ended = await installation.pool.connect();
  await ended.query('begin');
  await ended.query(
    `update trust set version = version + 1, parts = jsonb_set(parts, '{"",reason}', '"by a run that was ended"')`,
  );
  await fail(gate, 't', 1);
  await eventually(async () => {
    const waits = await installation.pool.query("select 1 from pg_stat_activity where wait_event_type = 'Lock'");
    expect(waits.rowCount).toBeGreaterThan(0);
  });
  await ended.query('commit');
  ended.release();
  await eventually(async () => {
    const { parts } = await projected(installation, key);
    expect(parts['']).toMatchObject({ status: 'ESCALATED', failures: 1, reason: 'by a run that was ended' });
  });
  expect(await disagreements()).toEqual([]);
});

test('a database and a namespace of different installations are refused; an empty database is adopted only on request', async () => {
  const { pool, temporal, client } = installation;
  const connection = client.connection as Parameters<typeof claimInstallation>[1];
  await pool.query('update installation set id = gen_random_uuid()');
  await expect(claimInstallation(pool, connection, temporal)).rejects.toThrow(
    /belongs to installation .* namespace .* to /,
  );
  await pool.query('delete from installation');
  await expect(claimInstallation(pool, connection, temporal)).rejects.toThrow(/this database is empty/);
  await claimInstallation(pool, connection, temporal, { adopt: true });
  await expect(claimInstallation(pool, connection, temporal)).resolves.toEqual([]);
});
