import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pruneApprovals } from '../../src/postgres/approval-end.ts';
import { consumeGrant } from '../../src/postgres/grants.ts';
import { newOutcomeId } from '../../src/postgres/outcome-id.ts';
import { readDecided } from '../../src/postgres/read-approvals.ts';
import type { ShownApproval } from '../../src/postgres/read-approvals.ts';
import type { Gate } from '../../src/gate/index.ts';
import { decideAs } from '../support/decide-as.ts';
import { createInstallation, eventually, TASK_QUEUE } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { escalateTool, failedTasks, openQuestion, temporal } from './support.ts';

let installation: Installation;
let gate: Gate;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  gate = await installation.connect({ agent: 'builder', session: 's1' });
});
afterAll(() => installation.close());

const escalated = (tool: string) => escalateTool(installation, gate, tool);

const open = (tool: string) => openQuestion(installation, tool);

const say = (approval: ShownApproval, verb: 'approve' | 'deny' | 'extend', more: object = {}) =>
  decideAs(installation.pool, { approval: approval.id, verb, by: 'alice', reason: 'looked at it', ...more });

const outcomeOf = (decision: string) =>
  eventually(async () => {
    const found = await installation.pool.query<{ outcome: string | null; because: string | null }>(
      'select outcome, because from approval_decision where id = $1',
      [decision],
    );
    expect(found.rows[0]?.outcome).not.toBeNull();
    return found.rows[0];
  });

const endOf = async (id: string) =>
  (await readDecided(installation.pool, 1000)).find((one) => one.id === id) as ShownApproval;

const workflowOf = async (id: string) => {
  const found = await installation.pool.query<{ id: string }>(
    "select 'approval:' || identity || '/' || ordinal as id from approval where id = $1",
    [id],
  );
  return found.rows[0]?.id ?? '';
};

describe('a decision', () => {
  test('of two the first counts, and the second is told so', async () => {
    await escalated('contested');
    const waiting = gate.guard('contested', () => 'ok')({});
    const question = await open('contested');
    const [yes, no] = [await say(question, 'approve'), await say(question, 'deny', { by: 'bob' })];
    expect(await waiting).toBe('ok');
    expect(await outcomeOf(yes)).toMatchObject({ outcome: 'taken' });
    expect(await outcomeOf(no)).toMatchObject({
      outcome: 'refused',
      because: expect.stringContaining('approved') as string,
    });
  });

  test('on something that has changed is refused with what changed', async () => {
    await escalated('changed');
    const waiting = gate.guard('changed', () => 'ok')({});
    const question = await open('changed');
    const extended = await decideAs(installation.pool, {
      ...{ approval: question.id, verb: 'extend', by: 'carol', reason: '', extendSeconds: 3600 },
    });
    await outcomeOf(extended);
    const stale = await say(question, 'approve', { expectedVersion: question.version });
    const { because } = (await outcomeOf(stale)) ?? {};
    expect(because).toContain('it has changed since version 1: now version 2, expires');
    await say(question, 'approve', { expectedVersion: 2 });
    expect(await waiting).toBe('ok');
  });

  test('by whoever asked is refused', async () => {
    await escalated('selfish');
    const waiting = gate.guard('selfish', () => 'ok')({});
    const question = await open('selfish');
    const own = await say(question, 'approve', { by: 'builder' });
    expect(await outcomeOf(own)).toMatchObject({ outcome: 'refused', because: 'builder has asked and cannot decide' });
    await say(question, 'approve');
    await waiting;
  });
});

test('a grant for one call is used by one of fifty racers, and again by the same', async () => {
  await escalated('raced');
  const impatient = await installation.connect({ agent: 'racer', approvalWaitMs: 0 });
  const error = await impatient
    .guard(
      'raced',
      () => 'ok',
    )({})
    .catch((caught: unknown) => caught);
  const question = await open('raced');
  expect(error).toMatchObject({ approval: question.id });
  await say(question, 'approve');
  await eventually(async () => expect((await endOf(question.id)).status).toBe('approved'));
  const calls = Array.from({ length: 50 }, () => newOutcomeId());
  const won = await Promise.all(calls.map((call) => consumeGrant(installation.pool, question.id, { callId: call })));
  const winners = calls.filter((_, index) => won[index] !== undefined);
  expect(winners).toHaveLength(1);
  expect(await consumeGrant(installation.pool, question.id, { callId: winners[0] ?? '' })).toMatchObject({
    kind: 'once',
  });
  expect(await consumeGrant(installation.pool, question.id, { callId: newOutcomeId() })).toBeUndefined();
});

describe('time', () => {
  test('reminds, and ends what nobody decided: expired, not denied', async () => {
    await installation.publish({
      toolRules: { slow: { approval: { expiresAfterSeconds: 3, remindAt: [0.3, 0.6] } } },
    });
    await escalated('slow');
    await eventually(() => expect(gate.check({ tool: 'slow' })).toMatchObject({ decision: 'ask' }));
    const waiting = gate.guard('slow', () => 'ok')({});
    const caught = expect(waiting).rejects.toMatchObject({ name: 'NotApproved', status: 'expired', by: null });
    const question = await open('slow');
    await caught;
    expect(await endOf(question.id)).toMatchObject({ status: 'expired', reminders: 2, endedBy: null });
    const summaries = await temporal(
      installation,
      'workflow',
      'show',
      '--workflow-id',
      await workflowOf(question.id),
      '-o',
      'json',
    );
    expect(summaries).toContain('TIMER_FIRED');
  });
});

describe('time and people', () => {
  test('the next approver is asked in time, and may decide only then', async () => {
    const approval = { approvers: [['ann'], ['bob']], nextApproverAfterSeconds: 2, expiresAfterSeconds: 60 };
    await installation.publish({ toolRules: { passed: { approval } } });
    await escalated('passed');
    await eventually(() => expect(gate.check({ tool: 'passed' })).toMatchObject({ decision: 'ask' }));
    const waiting = gate.guard('passed', () => 'ran')({});
    const question = await open('passed');
    const early = await outcomeOf(await say(question, 'approve', { by: 'bob' }));
    expect(early).toMatchObject({ outcome: 'refused', because: 'bob is not among those asked: ann' });
    await eventually(async () => expect((await open('passed')).level).toBe(1));
    await say(question, 'approve', { by: 'bob' });
    expect(await waiting).toBe('ran');
  });

  test('a question whose workflow was terminated is asked again where it stood', async () => {
    await escalated('lost');
    const waiting = gate.guard('lost', () => 'ran')({});
    const question = await open('lost');
    await outcomeOf(await say(question, 'extend', { extendSeconds: 3600 }));
    await installation.client.workflow.getHandle(await workflowOf(question.id)).terminate('by hand');
    await say(question, 'approve', { expectedVersion: 2 });
    expect(await waiting).toBe('ran');
    expect(await endOf(question.id)).toMatchObject({ status: 'approved', version: 3 });
  });

  test('what was decided long ago is forgotten, what still holds is kept', async () => {
    await escalated('ancient');
    const waiting = gate.guard('ancient', () => 'ran')({ n: 1 });
    const question = await open('ancient');
    await say(question, 'approve', { grant: { kind: 'always' } });
    await waiting;
    await installation.pool.query("update approval set ended_at = now() - interval '31 days'");
    await pruneApprovals(installation.pool, 30);
    const left = await readDecided(installation.pool, 1000);
    expect(left.map(({ tool }) => tool)).toContain('ancient');
    expect(left.map(({ tool }) => tool)).not.toContain('contested');
  });
});

test('garbage is no decision, and starts nothing', async () => {
  await escalated('garbage');
  const waiting = gate.guard('garbage', () => 'ran')({});
  const question = await open('garbage');
  const handle = installation.client.workflow.getHandle(await workflowOf(question.id));
  for (const payload of [7, 'yes', [], { by: 7 }, { args: {} }, { decision: 'none' }, { grant: {} }]) {
    await eventually(() => handle.signal('approve', payload));
  }
  await handle.signal('frobnicate', {});
  const made = await installation.client.workflow.start('approval', {
    ...{ workflowId: 'approval:made-up', taskQueue: TASK_QUEUE, args: [{ id: 'x' }] },
  });
  await expect(made.result()).rejects.toThrow();
  expect((await open('garbage')).status).toBe('pending');
  await say(question, 'deny');
  await expect(waiting).rejects.toThrow('denied by alice');
});

test('no workflow task has failed', async () => {
  expect(await failedTasks(installation)).toEqual([]);
});
