import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readPending } from '../../src/postgres/read-approvals.ts';
import { pruneDeliveries, readEnded, replayDeliveries } from '../../src/postgres/webhook-deliveries.ts';
import { addWebhook, listWebhooks, removeWebhook } from '../../src/postgres/webhooks.ts';
import type { NewWebhook } from '../../src/postgres/webhooks.ts';
import type { Gate } from '../../src/gate/index.ts';
import { decideAs } from '../support/decide-as.ts';
import { createInstallation, eventually, PUBLIC_URL, TASK_QUEUE } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import type { RunningWorker } from '../../src/temporal/start-worker.ts';
import { startReceiver } from '../support/webhook-receiver.ts';
import { fail, failedTasks, keyOf, pause, success, untilStatus } from './support.ts';

let installation: Installation;
let worker: RunningWorker;
let gate: Gate;
let receiver: Awaited<ReturnType<typeof startReceiver>>;

beforeAll(async () => {
  installation = await createInstallation({
    toolRules: {
      quick: { escalationDurationSeconds: 1, cooldownSeconds: 0, successCountToRecover: 2 },
      quiet: { notify: false },
      held_a: { approval: { expiresAfterSeconds: 3, remindAt: [0.3], approvers: [['ann']] } },
      held_b: { approval: { expiresAfterSeconds: 60, remindAt: [0.9], approvers: [['ann']] } },
    },
  });
  worker = await installation.startWorker();
  gate = await installation.connect({ agent: 'builder' });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await installation.close();
});

afterEach(async () => {
  receiver.answers((_, response) => response.writeHead(204).end());
  for (const { id } of await listWebhooks(installation.pool)) await removeWebhook(installation.pool, id, 'test');
});

const add = (path: string, more: Partial<NewWebhook> = {}) =>
  addWebhook(installation.pool, {
    ...{ url: `${receiver.url}${path}`, events: [], allowPrivate: true, retrySeconds: 60, by: 'ann', ...more },
  });
const escalate = async (tool: string) => {
  await fail(gate, tool, 3);
  await untilStatus(installation, keyOf(tool), 'ESCALATED');
};
interface Row {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly answer: number | null;
  readonly error: string | null;
  readonly run: number;
}
const deliveriesOf = async (webhook: string): Promise<Row[]> =>
  (await installation.pool.query<Row>('select * from webhook_delivery where webhook = $1 order by id', [webhook])).rows;
const untilDelivery = (webhook: string, expected: object, withinMs = 30_000) =>
  eventually(async () => {
    const [row] = await deliveriesOf(webhook);
    expect(row).toMatchObject(expected);
    return row as Row;
  }, withinMs);

describe('a receiver', () => {
  test('is told of a tool that escalates, is blocked and recovers, signed so that it can verify it', async () => {
    const { id, secret } = await add('/tools', { events: ['tool.escalated', 'tool.blocked', 'tool.recovered'] });
    await escalate('quick');
    await untilStatus(installation, keyOf('quick'), 'RECOVERING');
    for (let i = 0; i < 2; i += 1) await gate.report(success('quick'));
    await untilStatus(installation, keyOf('quick'), 'TRUSTED');
    const handle = installation.client.workflow.getHandle(keyOf('quick'));
    await handle.executeUpdate('block', { args: [{ by: 'ann', reason: 'looks bad' }] });
    await receiver.until('/tools', 3);
    const messages = receiver.verified('/tools', secret);
    const told = Object.fromEntries(messages.map((message) => [message.type, message]));
    expect(Object.keys(told).toSorted()).toEqual(['tool.blocked', 'tool.escalated', 'tool.recovered']);
    expect(told['tool.escalated']?.data).toMatchObject({
      ...{ kind: 'tool', name: 'quick', server: 'local', change: 'escalated' },
      url: `${PUBLIC_URL}/#/tools/${encodeURIComponent(keyOf('quick'))}`,
    });
    expect(told['tool.blocked']?.data).toMatchObject({ reason: expect.stringContaining('looks bad') as string });
    await eventually(async () =>
      expect((await deliveriesOf(id)).map(({ status }) => status)).toEqual(['delivered', 'delivered', 'delivered']),
    );
    // Another secret, other bytes or an old time: refused by whoever verifies.
    const [one] = receiver.received.filter(({ path }) => path === '/tools');
    if (one === undefined) throw new Error('nothing came');
    const { secret: other } = await add('/other');
    expect(() => new Webhook(other).verify(one.body, one.headers)).toThrow('No matching signature');
    expect(() => new Webhook(secret).verify(`${one.body} `, one.headers)).toThrow('No matching signature');
    const old = String(Number(one.headers['webhook-timestamp']) - 600);
    expect(() => new Webhook(secret).verify(one.body, { ...one.headers, 'webhook-timestamp': old })).toThrow('too old');
  });

  test('is told of a question, of reminders and of how it ended, without arguments', async () => {
    const { secret } = await add('/questions', {
      events: ['approval.asked', 'approval.reminded', 'approval.decided'],
    });
    await escalate('held_a');
    await escalate('held_b');
    const args = { to: 'production', note: 'the argument itself' };
    const expiring = gate.guard('held_a', () => 'ran')(args);
    const approved = gate.guard('held_b', () => 'ran')(args);
    await Promise.all([expect(expiring).rejects.toThrow(), approvedBy('held_b', 'ann'), approved]);
    await receiver.until('/questions', 5);
    await eventually(() => {
      const messages = receiver.verified('/questions', secret);
      const of = (tool: string) =>
        messages
          .filter(({ data }) => data['tool'] === tool)
          .map(({ type, data }) => `${type} ${String(data['status'])}`);
      expect(new Set(of('held_a'))).toEqual(
        new Set(['approval.asked pending', 'approval.reminded pending', 'approval.decided expired']),
      );
      expect(of('held_b')).toContain('approval.decided approved');
    });
    const messages = receiver.verified('/questions', secret);
    const asked = messages.find(({ type }) => type === 'approval.asked');
    expect(asked?.data).toMatchObject({ agent: 'builder', approvers: ['ann'], risk: 'write' });
    expect(asked?.data['url']).toBe(`${PUBLIC_URL}/#/approvals/${String(asked?.data['approval'])}`);
    expect(messages.find(({ data }) => data['status'] === 'approved')?.data).toMatchObject({ by: 'ann' });
    expect(messages.find(({ data }) => data['status'] === 'expired')?.data).toMatchObject({ by: null });
    expect(JSON.stringify(receiver.received)).not.toContain('the argument itself');
  });

  test('hears only of what it wants, and nothing of a rule that is silent', async () => {
    const { id } = await add('/some', { events: ['tool.blocked'] });
    await escalate('unwanted');
    await escalate('quiet');
    const { id: all } = await add('/all');
    await installation.client.workflow.getHandle(keyOf('quiet')).executeUpdate('block', { args: [{ by: 'ann' }] });
    expect(await deliveriesOf(id)).toEqual([]);
    expect(await deliveriesOf(all)).toEqual([]);
  });
});

async function approvedBy(tool: string, by: string): Promise<void> {
  const id = await eventually(async () => {
    const found = (await readPending(installation.pool, 100)).find((one) => one.tool === tool);
    if (found === undefined) throw new Error('not asked yet');
    return found.id;
  });
  await decideAs(installation.pool, { approval: id, verb: 'approve', by, reason: 'fine' });
}

describe('a receiver that fails', () => {
  test('is tried again once it is up, with the id it was tried with before', async () => {
    const { id } = await add('/down');
    receiver.answers((_, response) => response.writeHead(503).end());
    await escalate('down_then_up');
    await receiver.until('/down', 2);
    await untilDelivery(id, { status: 'pending', answer: 503, error: 'answered 503' });
    receiver.answers((_, response) => response.writeHead(200).end());
    const { id: delivery } = await untilDelivery(id, { status: 'delivered', answer: 200, error: null });
    const ids = receiver.received.filter(({ path }) => path === '/down').map((one) => one.id);
    expect(new Set(ids)).toEqual(new Set([delivery]));
    expect(ids.length).toBeGreaterThanOrEqual(3);
    const times = receiver.received
      .filter(({ path }) => path === '/down')
      .map((one) => one.headers['webhook-timestamp']);
    // Each attempt is signed anew, or the last of a day's attempts would be too old to be believed.
    expect(new Set(times).size).toBeGreaterThan(1);
  });

  test('for as long as it is tried is given up, listed, and sent again by a replay', async () => {
    const { id, secret } = await add('/broken', { retrySeconds: 3 });
    receiver.answers((_, response) => response.writeHead(500).end());
    await escalate('broken');
    const { id: delivery, attempts } = await untilDelivery(id, { status: 'dead', error: 'answered 500' });
    expect(attempts).toBeGreaterThanOrEqual(2);
    expect(await readEnded(installation.pool, { status: 'dead', limit: 5 })).toMatchObject([{ id: delivery }]);
    receiver.answers((_, response) => response.writeHead(200).end());
    const before = receiver.received.length;
    expect(await replayDeliveries(installation.pool, 'dead', 'ann')).toEqual([delivery]);
    await untilDelivery(id, { status: 'delivered', run: 2, attempts: 1 });
    // Delivered ones can be replayed too, each time as one message under its own id.
    expect(await replayDeliveries(installation.pool, [delivery], 'ann')).toEqual([delivery]);
    await untilDelivery(id, { status: 'delivered', run: 3 });
    expect(receiver.received.slice(before).map((one) => one.id)).toEqual([delivery, delivery]);
    expect(receiver.verified('/broken', secret)[0]?.type).toBe('tool.escalated');
  });

  test('with 410 is given up at once, with 404 after five attempts', async () => {
    const { id: gone } = await add('/gone');
    receiver.answers((_, response) => response.writeHead(410).end());
    await escalate('gone');
    expect(await untilDelivery(gone, { status: 'dead' })).toMatchObject({ attempts: 1, error: 'answered 410' });
    await removeWebhook(installation.pool, gone, 'test');
    const { id: missing } = await add('/missing');
    receiver.answers((_, response) => response.writeHead(404, { 'retry-after': '1' }).end());
    await escalate('missing');
    expect(await untilDelivery(missing, { status: 'dead' })).toMatchObject({ attempts: 5, error: 'answered 404' });
  });

  test('is given the time it asks for', async () => {
    const { id } = await add('/later');
    const times: number[] = [];
    receiver.answers((_, response) => {
      times.push(Date.now());
      response.writeHead(times.length === 1 ? 429 : 200, { 'retry-after': '4' }).end();
    });
    await escalate('later');
    await untilDelivery(id, { status: 'delivered' });
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(3900);
  });

  test('by redirecting inwards is not followed', async () => {
    const { id } = await add('/redirect', { retrySeconds: 2 });
    const inward = await startReceiver();
    receiver.answers((_, response) => response.writeHead(307, { location: `${inward.url}/latest/meta-data` }).end());
    await escalate('redirected');
    const { error } = await untilDelivery(id, { status: 'dead' });
    expect(error).toBe('answered 307, and redirects are not followed');
    expect(inward.received).toEqual([]);
    await inward.close();
  });

  test('by hanging keeps nobody else waiting', async () => {
    const { id } = await add('/hangs', { retrySeconds: 5 });
    receiver.answers((request, response) => {
      if (request.url !== '/hangs') response.writeHead(204).end();
    });
    // More than are delivered at the same time.
    await installation.pool.query(
      `insert into webhook_delivery (id, webhook, type, at, data, link)
       select gen_random_uuid(), $1, 'tool.escalated', clock_timestamp(), '{}', '' from generate_series(1, 60)`,
      [id],
    );
    await receiver.until('/hangs', 50);
    const started = Date.now();
    await escalate('not_kept_waiting');
    expect(Date.now() - started).toBeLessThan(5000);
    await eventually(async () => {
      const dead = (await deliveriesOf(id)).filter(({ status }) => status === 'dead');
      expect(dead.length).toBeGreaterThanOrEqual(60);
    }, 60_000);
  });
});

describe('a target inside', () => {
  test('is refused when it is sent to, whatever it was when it was added', async () => {
    const { id } = await add('/inside', { allowPrivate: false });
    const before = receiver.received.length;
    await escalate('inside');
    const { error } = await untilDelivery(id, { status: 'dead', attempts: 1 });
    expect(error).toBe('refused: 127.0.0.1 is a loopback address');
    expect(receiver.received).toHaveLength(before);
  });
});

describe('between what happened and who is told of it', () => {
  test('the worker may stop, and nothing is lost', async () => {
    const { id } = await add('/restart');
    receiver.answers((_, response) => response.writeHead(503).end());
    await escalate('restart');
    await receiver.until('/restart', 1);
    await worker.stop();
    // Written with nobody there to deliver: the question is in the outbox of its own transaction.
    const waiting = gate.guard('restart', () => 'ran')({});
    waiting.catch(() => undefined);
    await eventually(async () => expect(await deliveriesOf(id)).toHaveLength(2));
    receiver.answers((_, response) => response.writeHead(200).end());
    worker = await installation.startWorker();
    await eventually(
      async () => expect((await deliveriesOf(id)).map(({ status }) => status)).toEqual(['delivered', 'delivered']),
      60_000,
    );
    const seen = receiver.received.filter(({ path }) => path === '/restart').map((one) => one.id);
    expect(new Set(seen).size).toBe(2);
  });

  test('a workflow that somebody has ended by hand is started again', async () => {
    const { id } = await add('/terminated');
    receiver.answers((_, response) => response.writeHead(503).end());
    await escalate('terminated');
    const { id: delivery } = await untilDelivery(id, { answer: 503 });
    await installation.client.workflow.getHandle(`webhook:${delivery}/1`).terminate();
    receiver.answers((_, response) => response.writeHead(200).end());
    await installation.pool.query(
      "update webhook_delivery set started_at = clock_timestamp() - interval '2 minutes' where id = $1",
      [delivery],
    );
    await worker.stop();
    worker = await installation.startWorker();
    await untilDelivery(id, { status: 'delivered' });
  });

  test('what has just been delivered is not sent again by a workflow that is started twice', async () => {
    const { id } = await add('/once');
    await escalate('once');
    const { id: delivery } = await untilDelivery(id, { status: 'delivered' });
    // The row says so before the workflow has ended.
    await installation.client.workflow.getHandle(`webhook:${delivery}/1`).result();
    await installation.client.workflow.execute('webhookDelivery', {
      workflowId: `webhook:${delivery}/1`,
      taskQueue: TASK_QUEUE,
      args: [{ id: delivery, run: 1, retrySeconds: 5, title: 'again' }],
    });
    expect(receiver.received.filter(({ path }) => path === '/once')).toHaveLength(1);
  });

  test('a webhook that is removed is told no more', async () => {
    const { id } = await add('/removed');
    receiver.answers((_, response) => response.writeHead(503).end());
    await escalate('removed');
    await receiver.until('/removed', 1);
    await removeWebhook(installation.pool, id, 'ann');
    await untilDelivery(id, { status: 'dead', error: 'its webhook was removed' });
    const stored = await installation.pool.query('select secret from webhook where id = $1', [id]);
    expect(stored.rows).toEqual([{ secret: null }]);
    await pause(500);
    const count = receiver.received.length;
    await pause(3000);
    expect(receiver.received).toHaveLength(count);
    expect(await replayDeliveries(installation.pool, 'dead', 'ann')).toEqual([]);
  });
});

test('what has ended long ago is forgotten, what is under way is kept', async () => {
  const { id } = await add('/old');
  await escalate('old');
  await untilDelivery(id, { status: 'delivered' });
  await pruneDeliveries(installation.pool, 7);
  expect(await deliveriesOf(id)).toHaveLength(1);
  await installation.pool.query(
    "update webhook_delivery set ended_at = ended_at - interval '8 days' where webhook = $1",
    [id],
  );
  await pruneDeliveries(installation.pool, 7);
  expect(await deliveriesOf(id)).toEqual([]);
});

test('a workflow that is started by hand with anything says so', async () => {
  const run = installation.client.workflow.execute('webhookDelivery', {
    ...{ workflowId: 'webhook:garbage', taskQueue: TASK_QUEUE, args: ['garbage'] },
  });
  await expect(run).rejects.toThrow();
});

test('no secret, no path and no body is in any history or in the audit', async () => {
  const { id, secret } = await add('/path-that-is-a-credential?token=abc123def456ghi7');
  await escalate('secretive');
  await untilDelivery(id, { status: 'delivered' });
  const histories: string[] = [];
  for await (const { workflowId, runId, type } of installation.client.workflow.list()) {
    if (type !== 'webhookDelivery') continue;
    const handle = installation.client.workflow.getHandle(workflowId, runId);
    const { events } = await handle.fetchHistory();
    histories.push(JSON.stringify(events, readable));
  }
  const audit = JSON.stringify((await installation.pool.query('select * from audit')).rows);
  const all = histories.join('\n');
  expect(histories.length).toBeGreaterThan(10);
  // The look is a look: what may be there is found.
  expect(all.includes('tool.escalated to 127.0.0.1')).toBe(true);
  for (const hidden of [
    secret,
    secret.slice(6),
    'abc123def456ghi7',
    'path-that-is',
    'upstream exploded',
    '/#/tools/',
  ]) {
    expect(all.includes(hidden), `${hidden} in a history`).toBe(false);
  }
  for (const hidden of [secret.slice(6), 'whsec_', 'abc123def456ghi7']) {
    expect(audit.includes(hidden), `${hidden} in the audit`).toBe(false);
  }
  expect(await failedTasks(installation)).toEqual([]);
});

/** Payloads are base64 in JSON: as text they can be searched. */
function readable(key: string, value: unknown): unknown {
  return key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value;
}
