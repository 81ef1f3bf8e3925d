import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { createInstallation } from '../support/installation.ts';
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
  untilApplied,
  untilStatus,
  viewOf,
} from './support.ts';

const QUICK = { escalationDurationSeconds: 1, cooldownSeconds: 0, blockAfterRelapses: null };

const RULES = {
  defaultRule: QUICK,
  toolRules: {
    cooling: { ...QUICK, cooldownSeconds: 3 },
    manual: { ...QUICK, autoRecovery: false },
    sentenced: { ...QUICK, blockDurationSeconds: 1 },
    patient: { ...QUICK, escalationDurationSeconds: 10 },
    rung: { ...QUICK, escalationDurationSeconds: 3 },
  },
};

/** A part that must be in a state which has these fields. */
async function facts(installation: Installation, tool: string): Promise<{ since: number; lastFailureAt: number }> {
  const { parts } = await projected(installation, keyOf(tool));
  return parts[''] as unknown as { since: number; lastFailureAt: number };
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

  test('an escalation ends by a durable timer while nobody calls', async () => {
    await fail(gate, 'idle', 3);
    const escalated = await untilStatus(installation, keyOf('idle'), 'ESCALATED');
    const { since } = await facts(installation, 'idle');
    expect(escalated.dueAt).toBe(since + 1000);
    const bells = countOf(await eventsOf(installation, keyOf('idle')), 'workflow_execution_signaled');
    await untilStatus(installation, keyOf('idle'), 'RECOVERING');
    const events = await eventsOf(installation, keyOf('idle'));
    expect(countOf(events, 'timer_fired')).toBe(1);
    expect(countOf(events, 'workflow_execution_signaled')).toBe(bells);
    const timer = events.find((event) => typeOf(event) === 'timer_started');
    expect(Buffer.from(timer?.userMetadata?.summary?.data ?? []).toString()).toBe('"escalation of idle ends"');
  });

  test('a cooldown that ends later than the escalation decides', async () => {
    await fail(gate, 'cooling', 3);
    await untilStatus(installation, keyOf('cooling'), 'ESCALATED');
    await pause(300);
    await fail(gate, 'cooling', 1);
    await untilApplied(installation, keyOf('cooling'));
    const { since, lastFailureAt } = await facts(installation, 'cooling');
    const { dueAt } = await viewOf(installation, keyOf('cooling'));
    expect(lastFailureAt).toBeGreaterThan(since + 250);
    expect(Date.parse(dueAt ?? '')).toBe(lastFailureAt + 3000);
    await pause(since + 1700 - Date.now());
    expect(await projected(installation, keyOf('cooling'))).toMatchObject({ status: 'ESCALATED' });
    await untilStatus(installation, keyOf('cooling'), 'RECOVERING');
    const ended = (await auditOf(installation, keyOf('cooling'))).find(({ action }) => action === 'recovering');
    expect(ended?.at).toBe(lastFailureAt + 3000);
  });

  test('each relapse doubles the escalation', async () => {
    await fail(gate, 'relapsing', 3);
    for (const lasts of [1000, 2000, 4000]) {
      const { dueAt } = await untilStatus(installation, keyOf('relapsing'), 'ESCALATED');
      expect(dueAt).toBe((await facts(installation, 'relapsing')).since + lasts);
      if (lasts === 4000) break;
      await untilStatus(installation, keyOf('relapsing'), 'RECOVERING');
      await fail(gate, 'relapsing', 1);
    }
    const changes = (await auditOf(installation, keyOf('relapsing'))).map(({ action }) => action);
    expect(changes).toEqual(['escalated', 'recovering', 'relapsed', 'recovering', 'relapsed']);
  });

  test('with auto-recovery off only a person ends an escalation', async () => {
    await fail(gate, 'manual', 3);
    const { dueAt } = await untilStatus(installation, keyOf('manual'), 'ESCALATED');
    expect(dueAt).toBeNull();
    await pause(1500);
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
    await installation.client.workflow
      .getHandle(keyOf('sentenced'))
      .executeUpdate('block', { args: [{ by: 'ann', reason: 'leaks' }] });
    const { dueAt } = await untilStatus(installation, keyOf('sentenced'), 'BLOCKED');
    expect(dueAt).toBe((await facts(installation, 'sentenced')).since + 1000);
    await untilStatus(installation, keyOf('sentenced'), 'RECOVERING');
  });

  test('a deadline set before continue-as-new is kept after it', async () => {
    await fail(gate, 'patient', 3);
    const { dueAt } = await untilStatus(installation, keyOf('patient'), 'ESCALATED');
    await ringUntilNewRun(installation, keyOf('patient'));
    expect(Date.parse((await viewOf(installation, keyOf('patient'))).dueAt ?? '')).toBe(dueAt);
    await untilStatus(installation, keyOf('patient'), 'RECOVERING');
    const runs = await runsOf(installation, keyOf('patient'));
    const last = runs.at(-1)?.events ?? [];
    expect(runs.length).toBeGreaterThan(1);
    expect(countOf(last, 'timer_started')).toBe(1);
    expect(countOf(last, 'timer_fired')).toBe(1);
    const ended = (await auditOf(installation, keyOf('patient'))).find(({ action }) => action === 'recovering');
    expect(ended?.at).toBe(dueAt);
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
      expect(updatedAt - (dueAt ?? 0)).toBeLessThan(2000);
    } finally {
      ringing.abort();
      await bells;
    }
  });
});

test('a deadline that passes while no worker runs is kept when one starts', async () => {
  const installation = await createInstallation(RULES);
  try {
    const worker = await installation.startWorker();
    const gate = await installation.connect();
    await fail(gate, 'idle', 3);
    await fail(gate, 'cooling', 3);
    const { dueAt } = await untilStatus(installation, keyOf('idle'), 'ESCALATED');
    await untilStatus(installation, keyOf('cooling'), 'ESCALATED');
    await worker.stop();
    await pause((dueAt ?? 0) + 500 - Date.now());
    expect(await projected(installation, keyOf('idle'))).toMatchObject({ status: 'ESCALATED' });
    await installation.startWorker();
    await untilStatus(installation, keyOf('idle'), 'RECOVERING');
    const ended = (await auditOf(installation, keyOf('idle'))).find(({ action }) => action === 'recovering');
    // It ended when it was due, not when somebody looked.
    expect(ended?.at).toBe(dueAt);
    await untilStatus(installation, keyOf('cooling'), 'RECOVERING');
  } finally {
    await installation.close();
  }
});
