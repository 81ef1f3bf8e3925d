import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { decideAs } from '../support/decide-as.ts';
import type { ShownApproval } from '../../src/postgres/read-approvals.ts';
import type { ApprovalResult } from '../../workflows/approval.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { escalateTool, openQuestion, pause } from './support.ts';

let installation: Installation;
let gate: Gate;

beforeAll(async () => {
  installation = await createInstallation({
    toolRules: { 'close-*': { approval: { expiresAfterSeconds: 2, remindAt: [] } } },
  });
  await installation.startWorker();
  gate = await installation.connect({ agent: 'builder', session: 's1' });
});
afterAll(() => installation.close());

const escalated = (tool: string) => escalateTool(installation, gate, tool);

const open = (tool: string) => openQuestion(installation, tool);

const say = (approval: ShownApproval, verb: 'approve' | 'deny', by: string) =>
  decideAs(installation.pool, { approval: approval.id, verb, by, reason: 'looked at it' });

interface Row {
  readonly workflow: string;
  readonly status: string;
  readonly by: string | null;
  readonly endedAt: number;
  readonly grants: number;
  readonly consumed: number;
}

/** What the row, the grant, the audit, the decisions and the workflow say of one question, once it is over. */
async function endOf(id: string) {
  const { pool, client } = installation;
  const row = await eventually(async () => {
    const found = await pool.query<Row>(
      `select 'approval:' || identity || '/' || ordinal as workflow, status, ended_by as by,
         (extract(epoch from ended_at) * 1000)::float8 as "endedAt",
         (select count(*)::int from approval_grant g where g.approval = a.id) as grants,
         (select count(*)::int from approval_grant g where g.approval = a.id and g.consumed_by is not null) as consumed
       from approval a where id = $1 and status <> 'pending'
         and not exists (select 1 from approval_decision d where d.approval = a.id and d.outcome is null)`,
      [id],
    );
    expect(found.rows).toHaveLength(1);
    return found.rows[0] as Row;
  });
  const ends = await pool.query<{ action: string; actor: string }>(
    `select action, actor from audit where detail ->> 'approval' = $1
       and action in ('approval approved', 'approval denied', 'approval expired', 'approval withdrawn')`,
    [id],
  );
  const taken = await pool.query<{ verb: string; by: string }>(
    "select verb, by from approval_decision where approval = $1 and outcome = 'taken'",
    [id],
  );
  const result = (await client.workflow.getHandle(row.workflow).result()) as ApprovalResult;
  return { row, audit: ends.rows, taken: taken.rows, result };
}

type Ended = Awaited<ReturnType<typeof endOf>>;

/** One end, and everybody tells the same of it. */
function expectOneEnd({ row, audit, taken, result }: Ended): void {
  const { status, by, endedAt, grants } = row;
  expect(audit).toEqual([{ action: `approval ${status}`, actor: by ?? 'surety' }]);
  expect(result).toMatchObject({ status, end: { by, at: endedAt } });
  expect(grants).toBe(status === 'approved' ? 1 : 0);
  const verbs: Record<string, string[]> = { approved: ['approve'], denied: ['deny'], expired: [] };
  expect(taken.map(({ verb }) => verb)).toEqual(verbs[status]);
  if (status === 'expired') expect(by).toBeNull();
  else expect(taken[0]?.by).toBe(by);
}

describe('one question has one end', () => {
  test('when two decide at once', async () => {
    const tools = Array.from({ length: 10 }, (_, n) => `contested-${n}`);
    for (const tool of tools) await escalated(tool);
    const seen = new Set<string>();
    for (const tool of tools) {
      let ran = 0;
      const waiting = gate
        .guard(
          tool,
          () => (ran += 1),
        )({})
        .catch((error: unknown) => error);
      const question = await open(tool);
      await Promise.all([say(question, 'approve', 'alice'), say(question, 'deny', 'bob')]);
      const result = await waiting;
      const end = await endOf(question.id);
      expectOneEnd(end);
      expect(['approved', 'denied']).toContain(end.row.status);
      seen.add(end.row.status);
      expect([ran, end.row.consumed]).toEqual(end.row.status === 'approved' ? [1, 1] : [0, 0]);
      if (end.row.status === 'denied')
        expect(result).toMatchObject({ name: 'NotApproved', status: 'denied', by: 'bob' });
    }
    expect(seen.size).toBeGreaterThan(0);
  });

  test('when two approve at once: one grant, one run', async () => {
    await escalated('twice');
    let ran = 0;
    const waiting = gate.guard('twice', () => (ran += 1))({});
    const question = await open('twice');
    await Promise.all(['alice', 'bob', 'carol'].map((by) => say(question, 'approve', by)));
    await waiting;
    const end = await endOf(question.id);
    expectOneEnd(end);
    expect([ran, end.row.status]).toEqual([1, 'approved']);
  });

  test('when it is decided in the second in which it expires', async () => {
    const tools = Array.from({ length: 12 }, (_, n) => `close-${n}`);
    for (const tool of tools) await escalated(tool);
    const ends = await Promise.all(
      tools.map(async (tool, n) => {
        let ran = 0;
        const waiting = gate
          .guard(
            tool,
            () => (ran += 1),
          )({})
          .catch((error: unknown) => error);
        const question = await open(tool);
        // From half a second before to a tenth after.
        await pause(Math.max(0, question.expiresAt - Date.now() - 500 + n * 50));
        const decision = await say(question, 'approve', 'alice');
        const result = await waiting;
        return { end: await endOf(question.id), question, decision, result, ran };
      }),
    );
    for (const { end, question, decision, result, ran } of ends) {
      expectOneEnd(end);
      const told = await installation.pool.query<{ outcome: string; wasInTime: boolean }>(
        'select outcome, at < to_timestamp($2::float8 / 1000) as "wasInTime" from approval_decision where id = $1',
        [decision, question.expiresAt],
      );
      // Who was in time is a fact, and not a matter of who was heard first.
      expect(end.row.status).toBe(told.rows[0]?.wasInTime === true ? 'approved' : 'expired');
      expect(told.rows[0]?.outcome).toBe(end.row.status === 'approved' ? 'taken' : 'refused');
      expect([ran, end.row.consumed]).toEqual(end.row.status === 'approved' ? [1, 1] : [0, 0]);
      if (end.row.status === 'expired') expect(result).toMatchObject({ name: 'NotApproved', status: 'expired' });
    }
    expect(new Set(ends.map(({ end }) => end.row.status))).toEqual(new Set(['approved', 'expired']));
  });
});
