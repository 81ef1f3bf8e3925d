import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { SuretyState } from '../../src/temporal/search-attributes.ts';
import { trust } from '../../workflows/messages.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, untilStatus } from './support.ts';

let installation: Installation;
let gate: Gate;

beforeAll(async () => {
  installation = await createInstallation({
    toolRules: { trickle: { countThreshold: 1000 }, hot: { countThreshold: 1_000_000 } },
  });
  await installation.startWorker();
  gate = await installation.connect();
});
afterAll(() => installation.close());

async function applied(key: string): Promise<void> {
  await eventually(async () => {
    const found = await installation.pool.query('select 1 from subject where key = $1 and applied_seq = seq', [key]);
    expect(found.rowCount).toBe(1);
  });
}

async function eventsOf(key: string): Promise<string[]> {
  const history = await installation.client.workflow.getHandle(key).fetchHistory();
  return (history.events ?? []).map(({ eventType }) => String(eventType));
}

test('a run continues as new within a few hundred events; state, deadline and the operator’s view come along', async () => {
  const key = 'tool:local/long';
  await fail(gate, 'long', 3);
  const before = await untilStatus(installation, key, 'ESCALATED');
  const handle = installation.client.workflow.getHandle(key);
  const { runId } = await handle.describe();
  await handle.signal('nobodyKnowsThis');
  for (let i = 0; i < 80; i += 1) {
    await gate.report({ tool: 'long', severity: 'not_found', error: 'not here' });
    await applied(key);
  }
  const description = await handle.describe();
  expect(description.runId).not.toBe(runId);
  expect(description.historyLength).toBeLessThan(410);
  expect(await handle.query(trust)).toMatchObject({
    status: 'ESCALATED',
    rejected: 1,
    dueAt: new Date(before.dueAt ?? 0).toISOString(),
  });
  expect(description.typedSearchAttributes.get(SuretyState)).toBe('ESCALATED');
  const metadata = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  expect(metadata.currentDetails).toContain('long is ESCALATED: 3 failures in 1 h');
  const events = (await handle.fetchHistory()).events ?? [];
  expect(events.some(({ timerStartedEventAttributes }) => timerStartedEventAttributes != null)).toBe(true);
});

test('a doorbell of a trickle of failures costs six events, and a trickle of successes none', async () => {
  const key = 'tool:local/trickle';
  await fail(gate, 'trickle', 1, { severity: 'crash' });
  await applied(key);
  const before = (await eventsOf(key)).length;
  for (let i = 0; i < 10; i += 1) {
    await fail(gate, 'trickle', 1, { severity: 'crash' });
    await applied(key);
  }
  const after = (await eventsOf(key)).length;
  expect(after - before).toBeLessThanOrEqual(60);
  for (let i = 0; i < 20; i += 1) await gate.report({ tool: 'trickle', success: true });
  expect((await eventsOf(key)).length).toBe(after);
});

test('a thousand outcomes of a hot tool, five in a hundred failures, cost at most thirty events', async () => {
  const key = 'tool:local/hot';
  await fail(gate, 'hot', 1);
  await applied(key);
  const before = (await eventsOf(key)).length;
  const reports = Array.from({ length: 1000 }, (_, index) =>
    gate.report(index % 20 === 0 ? { tool: 'hot', severity: 'crash', error: 'x' } : { tool: 'hot', success: true }),
  );
  await Promise.all(reports);
  await eventually(async () => {
    const found = await installation.pool.query('select 1 from subject where key = $1 and applied_seq >= ring_seq', [
      key,
    ]);
    expect(found.rowCount).toBe(1);
  });
  expect((await eventsOf(key)).length - before).toBeLessThanOrEqual(30);
});
