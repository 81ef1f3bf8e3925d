import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import {
  auditOf,
  countOf,
  eventsOf,
  fail,
  keyOf,
  pause,
  projected,
  ring,
  ringUntilNewRun,
  runsOf,
  success,
  typeOf,
  untilStatus,
  viewOf,
} from './support.ts';

// The audit holds when each change took place by the ledger's clock: on a busy machine a state may pass unseen.

const QUICK = { escalationDurationSeconds: 2, cooldownSeconds: 0, blockAfterRelapses: null };

const RULES = {
  defaultRule: QUICK,
  toolRules: {
    cooling: { ...QUICK, cooldownSeconds: 4 },
    manual: { ...QUICK, autoRecovery: false },
    sentenced: { ...QUICK, escalationDurationSeconds: 600, blockDurationSeconds: 2 },
    patient: { ...QUICK, escalationDurationSeconds: 15 },
    rung: { ...QUICK, escalationDurationSeconds: 4 },
  },
};

/** When each change took place, epoch milliseconds, oldest first. */
async function changesOf(installation: Installation, tool: string): Promise<{ action: string; at: number }[]> {
  return (await auditOf(installation, keyOf(tool))).map(({ action, at }) => ({ action, at }));
}

async function changed(installation: Installation, tool: string, ...actions: string[]): Promise<number[]> {
  return eventually(async () => {
    const changes = await changesOf(installation, tool);
    expect(changes.map(({ action }) => action)).toEqual(actions);
    return changes.map(({ at }) => at);
  }, 40_000);
}

describe.concurrent('deadlines', () => {
  let installation: Installation;
  let gate: Gate;

  beforeAll(async () => {
    installation = await createInstallation(RULES);
    await installation.startWorker();
    gate = await installation.connect({ agent: 'a1' });
  });
  afterAll(() => installation.close());

  test('an escalation ends by a durable timer while nobody calls', async ({ task }) => {
    const tool = `idle-${task.result?.retryCount ?? 0}`;
    await fail(gate, tool, 3);
    const [escalated = 0, recovering] = await changed(installation, tool, 'escalated', 'recovering');
    expect(recovering).toBe(escalated + 2000);
    const events = await eventsOf(installation, keyOf(tool));
    const fired = events.findIndex((event) => typeOf(event) === 'timer_fired');
    expect(fired).toBeGreaterThan(0);
    // It was the timer that woke it: the last bell is older.
    expect(events.slice(fired).some((event) => typeOf(event) === 'workflow_execution_signaled')).toBe(false);
    const timer = events.find((event) => typeOf(event) === 'timer_started');
    expect(Buffer.from(timer?.userMetadata?.summary?.data ?? []).toString()).toBe(`"escalation of ${tool} ends"`);
  });

  test('a cooldown that ends later than the escalation decides', async () => {
    await fail(gate, 'cooling', 3);
    await pause(300);
    await fail(gate, 'cooling', 1);
    const [escalated = 0, recovering = 0] = await changed(installation, 'cooling', 'escalated', 'recovering');
    const { parts } = await projected(installation, keyOf('cooling'));
    const last = parts['']?.tally.lastFailureAt ?? 0;
    expect(last).toBeGreaterThan(escalated + 250);
    expect(recovering).toBe(last + 4000);
  });

  test('each relapse doubles the escalation', async () => {
    await fail(gate, 'relapsing', 3);
    await untilStatus(installation, keyOf('relapsing'), 'RECOVERING', 40_000);
    await fail(gate, 'relapsing', 1);
    const first = ['escalated', 'recovering', 'relapsed', 'recovering'];
    const [, , relapsed = 0, recovering] = await changed(installation, 'relapsing', ...first);
    expect(recovering).toBe(relapsed + 4000);
    await fail(gate, 'relapsing', 1);
    const [again = 0] = (await changed(installation, 'relapsing', ...first, 'relapsed')).slice(-1);
    expect((await projected(installation, keyOf('relapsing'))).dueAt).toBe(again + 8000);
  });

  test('with auto-recovery off only a person ends an escalation', async () => {
    await fail(gate, 'manual', 3);
    const { dueAt } = await untilStatus(installation, keyOf('manual'), 'ESCALATED');
    expect(dueAt).toBeNull();
    await pause(2500);
    expect(await projected(installation, keyOf('manual'))).toMatchObject({ status: 'ESCALATED' });
    expect(countOf(await eventsOf(installation, keyOf('manual')), 'timer_started')).toBe(0);
    await installation.client.workflow.getHandle(keyOf('manual')).executeUpdate('recover', { args: [{ by: 'ann' }] });
    expect(await projected(installation, keyOf('manual'))).toMatchObject({ status: 'RECOVERING' });
    for (let i = 0; i < 3; i += 1) await gate.report(success('manual'));
    await untilStatus(installation, keyOf('manual'), 'TRUSTED');
  });

  test('a block ends by itself where the rule says how long it lasts', async () => {
    await fail(gate, 'sentenced', 3);
    await untilStatus(installation, keyOf('sentenced'), 'ESCALATED');
    const order = { by: 'ann', reason: 'leaks' };
    await installation.client.workflow.getHandle(keyOf('sentenced')).executeUpdate('block', { args: [order] });
    const changes = await changed(installation, 'sentenced', 'escalated', 'blocked', 'recovering');
    expect(changes[2]).toBe((changes[1] ?? 0) + 2000);
  });

  test('a deadline set before continue-as-new is kept after it', async () => {
    await fail(gate, 'patient', 3);
    const { dueAt } = await untilStatus(installation, keyOf('patient'), 'ESCALATED');
    await ringUntilNewRun(installation, keyOf('patient'));
    expect(Date.parse((await viewOf(installation, keyOf('patient'))).dueAt ?? '')).toBe(dueAt);
    const [, recovering] = await changed(installation, 'patient', 'escalated', 'recovering');
    expect(recovering).toBe(dueAt);
    const runs = await runsOf(installation, keyOf('patient'));
    const last = runs.at(-1)?.events ?? [];
    expect(runs.length).toBeGreaterThan(1);
    expect(countOf(last, 'timer_started')).toBe(1);
    expect(countOf(last, 'timer_fired')).toBe(1);
  });

  test('a deadline that passes under a stream of bells is seen at the next of them', async () => {
    await fail(gate, 'rung', 3);
    const { dueAt } = await untilStatus(installation, keyOf('rung'), 'ESCALATED');
    const ringing = new AbortController();
    const bells = (async () => {
      while (!ringing.signal.aborted) await Promise.all([ring(installation, keyOf('rung')), pause(30)]);
    })();
    try {
      const { updatedAt } = await untilStatus(installation, keyOf('rung'), 'RECOVERING');
      expect(updatedAt - (dueAt ?? 0)).toBeLessThan(4000);
    } finally {
      ringing.abort();
      await bells;
    }
  });
});

test('a deadline that passes while no worker runs is kept when one starts', async () => {
  const installation = await createInstallation({ defaultRule: { ...QUICK, escalationDurationSeconds: 5 } });
  try {
    const worker = await installation.startWorker();
    const gate = await installation.connect();
    await fail(gate, 'idle', 3);
    const { dueAt } = await untilStatus(installation, keyOf('idle'), 'ESCALATED');
    await worker.stop();
    expect(Date.now()).toBeLessThan(dueAt ?? 0);
    await pause((dueAt ?? 0) + 500 - Date.now());
    expect(await projected(installation, keyOf('idle'))).toMatchObject({ status: 'ESCALATED' });
    await installation.startWorker();
    // It ended when it was due, not when somebody looked.
    const [, recovering] = await changed(installation, 'idle', 'escalated', 'recovering');
    expect(recovering).toBe(dueAt);
  } finally {
    await installation.close();
  }
});
