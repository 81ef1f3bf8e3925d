import type { Client } from '@temporalio/client';
import { codeOf } from '../problem.ts';
import { NOT_FOUND } from '../temporal/grpc-status.ts';

/** Tasks that fail for a reason that passes, such as more signals at once than one takes, are over by the next one. */
const FAILED_TASKS = 3;
const LIVED_MS = 60_000;

/**
 * A workflow whose history its code cannot follow fails one task after the other, for ever. It comes to that if the server gives up
 * a task while the worker still reads the ledger for it (docs/decisions/stuck-workflows.md), or if workers of two releases took turns. It is
 * set back to the beginning of its run: what it knew then is its argument, the rest is in the ledger, and signals and orders
 * that came meanwhile are handed to it once more and known by their ids. True if it was.
 *
 * One that lives for less than a minute is left alone, so that one which cannot be helped is not set back all the time.
 */
export async function setBackIfStuck(client: Client, workflowId: string, livedMs = LIVED_MS): Promise<boolean> {
  const { workflowService } = client;
  const { namespace } = client.options;
  const described = await workflowService
    .describeWorkflowExecution({ namespace, execution: { workflowId } })
    .catch((error: unknown) => {
      // Temporal has lost it, or never had it: whoever rings starts it.
      if (codeOf(error) === NOT_FOUND) return undefined;
      throw error;
    });
  if ((described?.pendingWorkflowTask?.attempt ?? 0) < FAILED_TASKS) return false;
  const info = described?.workflowExecutionInfo;
  if (Date.now() - Number(info?.startTime?.seconds ?? 0) * 1000 < livedMs) return false;
  const execution = { workflowId, runId: info?.execution?.runId ?? '' };
  const { history } = await workflowService.getWorkflowExecutionHistory({
    namespace,
    execution,
    maximumPageSize: 1000,
  });
  const first = history?.events?.find(({ workflowTaskCompletedEventAttributes: completed }) => completed != null);
  // It has never got anywhere: there is nothing to set it back to.
  if (first?.eventId == null) return false;
  await workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: execution,
    workflowTaskFinishEventId: first.eventId,
    reason: 'its tasks failed one after the other: it reads the ledger again',
    // Whoever else notices the same asks for the same.
    requestId: `set back ${execution.runId}`,
  });
  return true;
}
