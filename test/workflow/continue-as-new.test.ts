import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SuretyDueAt, SuretyReason, SuretyState, SuretyTool } from '../../src/temporal/search-attributes.ts';
import type { Gate } from '../../src/gate/index.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import {
  countOf,
  eventsOf,
  fail,
  failedTasks,
  failure,
  headOf,
  keyOf,
  projected,
  ringUntilNewRun,
  runsOf,
  success,
  temporal,
  typeOf,
  untilApplied,
  untilStatus,
  viewOf,
} from './support.ts';

const BELL = 'workflow_execution_signaled';

let installation: Installation;
let gate: Gate;

/** With calls that go well in between, every failure is rung for and none is held against the tool. */
const EACH_RINGS = { consecutiveThreshold: 3 };

beforeAll(async () => {
  installation = await createInstallation({ toolRules: { seething: EACH_RINGS, trickling: EACH_RINGS } });
  await installation.startWorker();
  gate = await installation.connect();
});
afterAll(() => installation.close());

/** What an operator sees on the workflow's page. */
async function detailsOf(key: string): Promise<string> {
  const shown = await temporal(installation, 'workflow', 'metadata', '--workflow-id', key, '--output', 'json');
  const { queryResult } = JSON.parse(shown) as { queryResult: [{ currentDetails: string }] };
  return queryResult[0].currentDetails;
}

describe('continuing as new', () => {
  test('keeps state, deadline, what was rejected, and what the operator sees', async () => {
    const key = keyOf('enduring');
    await gate.report(success('enduring'));
    await fail(gate, 'enduring', 3, { scope: 'host:api.example.com' });
    await untilStatus(installation, key, 'ESCALATED');
    const handle = installation.client.workflow.getHandle(key);
    for (let i = 0; i < 7; i += 1) await handle.signal('nonsense', i);
    await eventually(async () => expect(await headOf(installation, key)).toMatchObject({ rejected: 7 }));
    const before = await viewOf(installation, key);
    const details = await detailsOf(key);
    expect(details).toContain('ESCALATED');
    expect(details).toContain('7 reports could not be understood');
    const listed = (await handle.describe()).typedSearchAttributes;
    expect(listed.get(SuretyState)).toBe('ESCALATED');

    await ringUntilNewRun(installation, key);

    expect(await viewOf(installation, key)).toEqual(before);
    expect(await detailsOf(key)).toBe(details);
    const { typedSearchAttributes, memo, runId } = await handle.describe();
    for (const attribute of [SuretyTool, SuretyState, SuretyReason]) {
      expect(typedSearchAttributes.get(attribute)).toBe(listed.get(attribute));
    }
    expect(typedSearchAttributes.get(SuretyDueAt)).toEqual(listed.get(SuretyDueAt));
    expect(memo).toMatchObject({ subject: 'enduring' });
    const events = await eventsOf(installation, key, runId);
    expect(countOf(events, 'timer_started')).toBe(1);
    // Nothing is projected anew: what gates know has not changed.
    expect(countOf(events, 'activity_task_scheduled')).toBe(0);

    await gate.report(failure('enduring', { scope: 'host:api.example.com' }));
    await untilApplied(installation, key);
    const after = await projected(installation, key);
    expect(after.parts['host:api.example.com']).toMatchObject({ status: 'ESCALATED', failures: 1 });
    expect(after.version).toBe(before.version + 1);
  });

  test('loses no outcome and no order that arrives meanwhile, and keeps histories short', async () => {
    const key = keyOf('busy');
    await fail(gate, 'busy', 1);
    await untilApplied(installation, key);
    const handle = installation.client.workflow.getHandle(key);
    let signalled = 0;
    let ordered = 0;
    for (let i = 0; i < 80; i += 1) {
      // Orders and outcomes that come with a few bells fall on either side of the end of a run. A crowd of them would make the server
      // give up a task, which is another story: docs/decisions/stuck-workflows.md.
      await Promise.all([
        ...Array.from({ length: 5 }, () => handle.signal('ledgerAdvanced')),
        handle.signal('outcomesReported', { outcomes: [{ id: `s${i}`, success: true }, { nonsense: true }] }),
        ...(i % 8 === 0 ? [handle.executeUpdate('recover', { args: [{ by: 'ann' }] })] : []),
      ]);
      signalled += 1;
      ordered += i % 8 === 0 ? 1 : 0;
    }
    await eventually(async () =>
      expect(await headOf(installation, key)).toMatchObject({
        outcomes: 1 + signalled,
        seq: 1 + signalled + ordered,
        rejected: signalled,
      }),
    );
    const runs = await runsOf(installation, key);
    expect(runs.length).toBeGreaterThan(1);
    for (const { events } of runs) expect(events.length).toBeLessThan(700);
    const orders = await installation.pool.query('select 1 from ledger where kind = 5');
    expect(orders.rowCount).toBe(ordered);
  });
});

describe('events in the history', () => {
  test('of a hot tool: at most 30 for 1,000 outcomes', async () => {
    const key = keyOf('seething');
    await fail(gate, 'seething', 1);
    await untilApplied(installation, key);
    const { length } = await eventsOf(installation, key);
    for (let batch = 0; batch < 6; batch += 1) {
      await Promise.all(
        Array.from({ length: 500 }, (_, i) => gate.report(i % 5 === 0 ? failure('seething') : success('seething'))),
      );
    }
    await untilApplied(installation, key);
    const runs = await runsOf(installation, key);
    const events = runs.flatMap((run) => run.events).length - length;
    expect(events / 3).toBeLessThanOrEqual(30);
  });

  test('of a trickle of successes: none', async () => {
    const key = keyOf('quiet');
    await gate.report(failure('quiet'));
    await untilApplied(installation, key);
    // Applied is what the task says before it is itself completed.
    await viewOf(installation, key);
    const { length } = await eventsOf(installation, key);
    for (let i = 0; i < 20; i += 1) await gate.report(success('quiet'));
    await eventually(async () => expect(await headOf(installation, key)).toMatchObject({ outcomes: 21 }));
    expect((await eventsOf(installation, key)).length).toBe(length);
  });

  test('of a trickle of failures: at most 6 for each doorbell', async () => {
    const key = keyOf('trickling');
    await gate.report(failure('trickling'));
    await untilApplied(installation, key);
    const before = await eventsOf(installation, key);
    for (let i = 0; i < 10; i += 1) {
      await gate.report(success('trickling'));
      await gate.report(failure('trickling'));
      await untilApplied(installation, key);
    }
    const added = (await eventsOf(installation, key)).slice(before.length).map((event) => typeOf(event));
    // From the first bell up to the last.
    const rung = added.slice(added.indexOf(BELL), added.lastIndexOf(BELL));
    const bells = rung.filter((type) => type === BELL).length;
    expect(bells).toBeGreaterThanOrEqual(5);
    expect(rung.length / bells, rung.join(' ')).toBeLessThanOrEqual(6);
  });
});

test('no workflow task has failed on the way', async () => {
  expect((await failedTasks(installation)).join('\n')).toBe('');
});
