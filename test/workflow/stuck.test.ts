import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectWorker } from '../../src/temporal/native-connection.ts';
import { setBackIfStuck } from '../../src/upkeep/stuck.ts';
import { createInstallation, eventually, TASK_QUEUE } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, headOf, keyOf, untilApplied, untilStatus } from './support.ts';

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation();
});
afterAll(() => installation.close());

const key = keyOf('stuck');
const outcomesReported = { outcomes: [{ success: true }, { success: true }, { success: false, severity: 'timeout' }] };

/** Begins the tool's workflow with code of another release, which the real one cannot follow. */
async function beginOtherwise(): Promise<void> {
  const connection = await connectWorker(installation.temporal);
  const worker = await Worker.create({
    connection,
    namespace: installation.temporal.namespace,
    taskQueue: TASK_QUEUE,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('./programs/other-release.ts', import.meta.url)),
    }),
  });
  const handle = await installation.client.workflow.start('toolTrust', {
    workflowId: key,
    taskQueue: TASK_QUEUE,
    args: [{ kind: 'tool', server: 'local', name: 'stuck' }],
  });
  await worker.runUntil(async () => {
    await handle.signal('outcomesReported', outcomesReported);
    await eventually(async () => {
      const { events } = await handle.fetchHistory();
      expect(events?.some(({ timerStartedEventAttributes: started }) => started != null)).toBe(true);
    });
  });
  await connection.close();
}

test('a workflow that is not there is not stuck', async () => {
  expect(await setBackIfStuck(installation.client, keyOf('nobody'), 0)).toBe(false);
});

test('a workflow that cannot go on is set back, and nothing that it was told is lost or counted twice', async () => {
  await beginOtherwise();
  await installation.startWorker();
  const gate = await installation.connect();
  expect(await setBackIfStuck(installation.client, key, 0)).toBe(false);
  await fail(gate, 'stuck', 1);
  // The server tries a failed task again after ten seconds.
  await eventually(async () => expect(await setBackIfStuck(installation.client, key, 0)).toBe(true), 90_000);
  await eventually(async () => expect(await headOf(installation, key)).toMatchObject({ outcomes: 4, rejected: 0 }));
  await fail(gate, 'stuck', 3);
  await untilStatus(installation, key, 'ESCALATED');

  // One that goes on is left alone; and should somebody set it back all the same, it knows what it has heard.
  expect(await setBackIfStuck(installation.client, key, 0)).toBe(false);
  const { workflowService, options } = installation.client;
  const { namespace } = options;
  const { raw } = await installation.client.workflow.getHandle(key).describe();
  const runId = raw.workflowExecutionInfo?.execution?.runId ?? '';
  const { history } = await workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId: key, runId },
  });
  const first = history?.events?.find(({ workflowTaskCompletedEventAttributes: completed }) => completed != null);
  await workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: key, runId },
    workflowTaskFinishEventId: first?.eventId ?? null,
    reason: 'a test',
    requestId: 'again',
  });
  await installation.client.workflow.getHandle(key).signal('outcomesReported', { outcomes: [{ success: true }] });
  await eventually(async () => expect((await headOf(installation, key)).outcomes).toBe(8));
  await untilApplied(installation, key);
  expect(await headOf(installation, key)).toMatchObject({ outcomes: 8 });
});
