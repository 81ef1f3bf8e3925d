import type { WorkflowUpdateFailedError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import type { TrustView } from '../../workflows/messages.ts';
import { createInstallation, eventually, TASK_QUEUE } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { auditOf, fail, failedTasks, keyOf, projected, success, untilStatus, viewOf } from './support.ts';

let installation: Installation;
let gate: Gate;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  gate = await installation.connect();
});
afterAll(() => installation.close());

const orderAt = (key: string, name: string, ...args: unknown[]) =>
  installation.client.workflow.getHandle(key).executeUpdate<TrustView, [unknown]>(name, { args: args as [unknown] });
const order = (tool: string, name: string, ...args: unknown[]) => orderAt(keyOf(tool), name, ...args);
const refusal = (answer: Promise<unknown>) =>
  answer.then(
    () => undefined,
    (error: unknown) => (error as WorkflowUpdateFailedError).cause,
  );

const ordersOf = async (tool: string) => {
  const found = await installation.pool.query<{ kind: number; by: string; reason: string; scope: string | null }>(
    `select l.kind, l.detail ->> 'by' as by, l.detail ->> 'reason' as reason, n.text as scope
     from ledger l join subject s on s.id = l.subject left join name n on n.id = l.scope
     where s.key = $1 and l.kind >= 3 order by l.seq`,
    [keyOf(tool)],
  );
  return found.rows;
};

const countedOf = async (tool: string) =>
  (await installation.pool.query<{ outcomes: number }>('select outcomes from subject where key = $1', [keyOf(tool)]))
    .rows[0]?.outcomes;

describe('orders given to the workflow', () => {
  test('count once, also where a client sends one again to the next run', async () => {
    await gate.report(success('again'));
    const send = () =>
      installation.client.workflow
        .getHandle(keyOf('again'))
        .executeUpdate('block', { args: [{ by: 'ann', reason: 'once' }], updateId: 'sent twice' });
    await fail(gate, 'again', 1);
    await eventually(send);
    await installation.client.workflow.getHandle(keyOf('again')).terminate('by hand');
    await fail(gate, 'again', 1);
    await eventually(send);
    expect(await ordersOf('again')).toHaveLength(1);
  });

  test('return when they are in the ledger, applied, and visible to every gate', async () => {
    await fail(gate, 'ordered', 3);
    await untilStatus(installation, keyOf('ordered'), 'ESCALATED');

    const recovering = await order('ordered', 'recover', { by: 'ann', reason: 'fixed upstream' });
    expect(recovering.status).toBe('RECOVERING');
    expect(await projected(installation, keyOf('ordered'))).toMatchObject({
      status: 'RECOVERING',
      version: recovering.version,
    });

    const blocked = await order('ordered', 'block', { by: 'bob', reason: 'leaks keys' });
    expect(blocked).toMatchObject({ status: 'BLOCKED', reason: 'leaks keys (by bob (unverified))' });
    expect(await projected(installation, keyOf('ordered'))).toMatchObject({ status: 'BLOCKED' });

    const trusted = await order('ordered', 'reset', { by: 'ann' });
    expect(trusted.status).toBe('TRUSTED');
    expect(await projected(installation, keyOf('ordered'))).toMatchObject({ status: 'TRUSTED' });

    expect(await ordersOf('ordered')).toEqual([
      { kind: 5, by: 'ann (unverified)', reason: 'fixed upstream', scope: null },
      { kind: 4, by: 'bob (unverified)', reason: 'leaks keys', scope: null },
      { kind: 3, by: 'ann (unverified)', reason: '', scope: null },
    ]);
    expect(await countedOf('ordered')).toBe(3);
    expect((await auditOf(installation, keyOf('ordered'))).map(({ action }) => action)).toEqual([
      'escalated',
      'recovering',
      'blocked',
      'reset',
    ]);
  });

  test('reach every gate', async () => {
    await fail(gate, 'seen', 3);
    await untilStatus(installation, keyOf('seen'), 'ESCALATED');
    await order('seen', 'block', { by: 'ann' });
    await eventually(() => expect(gate.check({ tool: 'seen' })).toMatchObject({ decision: 'deny' }));
    await order('seen', 'reset', { by: 'ann' });
    await eventually(() => expect(gate.check({ tool: 'seen' })).toMatchObject({ decision: 'allow' }));
  });

  test('may be aimed at one scope', async () => {
    await gate.report(success('scoped'));
    await fail(gate, 'scoped', 1);
    await eventually(() => viewOf(installation, keyOf('scoped')));
    const view = await order('scoped', 'block', { by: 'ann', scope: 'https://API.example.com/x' });
    expect(Object.entries(view.parts).map(([part, state]) => [part, state.status])).toEqual(
      expect.arrayContaining([['host:api.example.com', 'BLOCKED']]),
    );
    expect(await ordersOf('scoped')).toMatchObject([{ scope: 'host:api.example.com' }]);
  });

  test('given together are all applied, in the order of the ledger', async () => {
    await fail(gate, 'busy', 3);
    await untilStatus(installation, keyOf('busy'), 'ESCALATED');
    const views = await Promise.all(
      Array.from({ length: 9 }, (_, i) => order('busy', i % 2 === 0 ? 'block' : 'reset', { by: `p${i}` })),
    );
    expect(views).toHaveLength(9);
    const rows = await ordersOf('busy');
    expect(rows).toHaveLength(9);
    expect((await projected(installation, keyOf('busy'))).status).toBe(rows.at(-1)?.kind === 4 ? 'BLOCKED' : 'TRUSTED');
  });

  test('without any argument are given by somebody', async () => {
    await fail(gate, 'anonymous', 3);
    await untilStatus(installation, keyOf('anonymous'), 'ESCALATED');
    expect((await order('anonymous', 'reset')).status).toBe('TRUSTED');
    expect(await ordersOf('anonymous')).toMatchObject([{ by: 'somebody (unverified)', reason: '' }]);
  });
});

test('malformed orders are refused and harm nothing', async () => {
  await fail(gate, 'abused', 3);
  await untilStatus(installation, keyOf('abused'), 'ESCALATED');
  const malformed: unknown[] = [
    'ann',
    42,
    true,
    [],
    ['ann'],
    { by: 5 },
    { by: {} },
    { by: '' },
    { reason: 5 },
    { reason: ['x'] },
    { scope: 5 },
    { scope: null },
    { scope: '' },
    { by: 'x'.repeat(1000) },
    { reason: 'x'.repeat(100_000) },
    { scope: 'x'.repeat(100_000) },
    { by: 'ann', raeson: 'a misspelt key must not be dropped' },
  ];
  for (const name of ['reset', 'block', 'recover']) {
    for (const argument of malformed) {
      const refused = await refusal(order('abused', name, argument));
      expect(refused, `${name} ${JSON.stringify(argument).slice(0, 60)}`).toMatchObject({ type: 'InvalidOrder' });
    }
  }
  await expect(order('abused', 'destroy', { by: 'ann' })).rejects.toThrow();
  expect(await ordersOf('abused')).toEqual([]);
  expect(await projected(installation, keyOf('abused'))).toMatchObject({ status: 'ESCALATED' });
  expect((await order('abused', 'reset', { by: 'ann', reason: 'strange \0 \ud800 text' })).status).toBe('TRUSTED');
  expect((await failedTasks(installation)).join('\n')).toBe('');
});

test('an order that cannot be recorded is refused, not swallowed', async () => {
  // A workflow started by hand under an id that is not its tool's has no ledger to write to.
  await installation.client.workflow.start('toolTrust', {
    workflowId: 'stray',
    taskQueue: TASK_QUEUE,
    args: [{ server: 'local', name: 'someone_else' }],
  });
  expect(await refusal(orderAt('stray', 'block', { by: 'ann' }))).toMatchObject({ type: 'NotRecorded' });
});

test('a tool nobody has reported yet can be blocked beforehand', async () => {
  const { client } = installation;
  await client.workflow.start('toolTrust', {
    workflowId: keyOf('beforehand'),
    taskQueue: TASK_QUEUE,
    args: [{ server: 'local', name: 'beforehand' }],
  });
  expect((await order('beforehand', 'block', { by: 'ann', reason: 'not vetted' })).status).toBe('BLOCKED');
  await eventually(() => expect(gate.check({ tool: 'beforehand' })).toMatchObject({ decision: 'deny' }));

  // A server's trust is ordered the same way.
  await client.workflow.start('toolTrust', {
    workflowId: 'server:github',
    taskQueue: TASK_QUEUE,
    args: [{ kind: 'server', server: 'github' }],
  });
  expect((await orderAt('server:github', 'block', { by: 'ann' })).status).toBe('BLOCKED');
  await eventually(() => expect(gate.check({ server: 'github', tool: 'x' })).toMatchObject({ decision: 'deny' }));
});
