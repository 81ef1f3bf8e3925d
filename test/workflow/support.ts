import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { temporal as proto } from '@temporalio/proto';
import { expect, inject } from 'vitest';
import { toolKey } from '../../src/domain/key/tool-key.ts';
import type { Parts } from '../../src/domain/trust/parts.ts';
import type { Gate, Report } from '../../src/gate/index.ts';
import { readPending } from '../../src/postgres/read-approvals.ts';
import type { ShownApproval } from '../../src/postgres/read-approvals.ts';
import type { TrustView } from '../../workflows/messages.ts';
import { eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';

export const keyOf = (tool: string): string => toolKey('local', tool);

export const failure = (tool: string, more: Partial<Report> = {}): Report => ({
  tool,
  success: false,
  severity: 'server_error',
  error: 'upstream exploded',
  ...more,
});

export const success = (tool: string, more: Partial<Report> = {}): Report => ({ tool, success: true, ...more });

export async function fail(gate: Gate, tool: string, times: number, more: Partial<Report> = {}): Promise<void> {
  for (let i = 0; i < times; i += 1) await gate.report(failure(tool, more));
}

/** Makes a tool one that asks. */
export async function escalateTool(installation: Installation, gate: Gate, tool: string): Promise<void> {
  await fail(gate, tool, 3);
  await untilStatus(installation, keyOf(tool), 'ESCALATED');
}

/** The open question about a tool, as soon as there is one. */
export const openQuestion = ({ pool }: Installation, tool: string): Promise<ShownApproval> =>
  eventually(async () => {
    const found = (await readPending(pool, 1000)).find((one) => one.tool === tool);
    if (found === undefined) throw new Error(`nobody asked about ${tool}`);
    return found;
  });

export interface Projected {
  readonly status: string;
  readonly reason: string;
  readonly version: number;
  readonly seq: number;
  readonly rulesVersion: number;
  readonly dueAt: number | null;
  readonly updatedAt: number;
  readonly parts: Parts;
}

/** What gates and people read of a tool; a tool without a projection is an error. */
export async function projected({ pool }: Installation, key: string): Promise<Projected> {
  const found = await pool.query<Projected>(
    `select status, reason, version, t.seq, rules_version as "rulesVersion", parts,
       extract(epoch from t.due_at)::float8 * 1000 as "dueAt", extract(epoch from updated_at)::float8 * 1000 as "updatedAt"
     from trust t join subject s on s.id = t.subject where s.key = $1`,
    [key],
  );
  const [row] = found.rows;
  if (row === undefined) throw new Error(`${key} has not been projected`);
  return row;
}

export async function untilStatus(
  installation: Installation,
  key: string,
  status: string,
  withinMs = 20_000,
): Promise<Projected> {
  return eventually(async () => {
    const row = await projected(installation, key);
    expect(row.status).toBe(status);
    return row;
  }, withinMs);
}

export interface AuditRow {
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly reason: string;
  readonly part: string | null;
}

export async function auditOf({ pool }: Installation, key: string): Promise<AuditRow[]> {
  const found = await pool.query<AuditRow>(
    `select extract(epoch from a.at)::float8 * 1000 as at, actor, action, a.reason, part
     from audit a join subject s on s.id = a.subject where s.key = $1 order by a.id`,
    [key],
  );
  return found.rows;
}

export interface HeadRow {
  readonly seq: number;
  readonly ring_seq: number;
  readonly applied_seq: number;
  readonly rejected: number;
  readonly outcomes: number;
  readonly failures: number;
  readonly attentive: boolean;
}

export async function headOf({ pool }: Installation, key: string): Promise<HeadRow> {
  const found = await pool.query<HeadRow>('select * from subject where key = $1', [key]);
  const [row] = found.rows;
  if (row === undefined) throw new Error(`${key} has no head row`);
  return row;
}

/** Waits until the workflow has applied everything the ledger holds. */
export async function untilApplied(installation: Installation, key: string): Promise<HeadRow> {
  return eventually(async () => {
    const head = await headOf(installation, key);
    expect(head.applied_seq).toBe(head.seq);
    return head;
  });
}

export function viewOf({ client }: Installation, key: string): Promise<TrustView> {
  return client.workflow.getHandle(key).query<TrustView>('trust');
}

export type HistoryEvent = proto.api.history.v1.IHistoryEvent;
const EventType = proto.api.enums.v1.EventType;

export const typeOf = (event: HistoryEvent): string =>
  (EventType[event.eventType ?? 0] ?? '').replace('EVENT_TYPE_', '').toLowerCase();

export async function eventsOf({ client }: Installation, key: string, runId?: string): Promise<HistoryEvent[]> {
  const history = await client.workflow.getHandle(key, runId).fetchHistory();
  return history.events ?? [];
}

/** The runs of one workflow, oldest first. */
export async function runsOf(
  installation: Installation,
  key: string,
): Promise<{ runId: string; events: HistoryEvent[] }[]> {
  const { runId: newest } = await installation.client.workflow.getHandle(key).describe();
  const runs: { runId: string; events: HistoryEvent[] }[] = [];
  for (let runId: string | undefined = newest; runId !== undefined && runId !== '';) {
    const events: HistoryEvent[] = await eventsOf(installation, key, runId);
    runs.unshift({ runId, events });
    runId = events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? undefined;
  }
  return runs;
}

export const countOf = (events: readonly HistoryEvent[], type: string): number =>
  events.filter((event) => typeOf(event) === type).length;

/** Rings a tool's doorbell as the upkeep would. */
export function ring({ client }: Installation, key: string): Promise<void> {
  return client.workflow.getHandle(key).signal('ledgerAdvanced');
}

/** Rings until the workflow has continued as new. */
export async function ringUntilNewRun(installation: Installation, key: string): Promise<void> {
  const handle = installation.client.workflow.getHandle(key);
  const { runId } = await handle.describe();
  for (let i = 0; i < 100; i += 1) {
    await Promise.all(Array.from({ length: 50 }, () => ring(installation, key)));
    // A query waits for what came before it: a stream without a pause would keep a run from ending.
    await viewOf(installation, key);
    if ((await handle.describe()).runId !== runId) return;
  }
  throw new Error(`${key} has not continued as new`);
}

export const pause = (ms: number): Promise<void> => sleep(ms);

/** The official command line, at this test's server and namespace. */
export async function temporal(installation: Installation, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    inject('servers').temporalBinary,
    [...args, '--address', installation.temporal.address, '--namespace', installation.temporal.namespace],
    { maxBuffer: 100_000_000, env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } },
  );
  return stdout;
}

const Cause = proto.api.enums.v1.WorkflowTaskFailedCause;
// Not ours: the server has a task done again when a signal arrives just as the run wants to continue as new, and when more
// than a hundred arrive during one task.
const BY_SERVER: readonly unknown[] = [
  Cause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND,
  Cause.WORKFLOW_TASK_FAILED_CAUSE_FORCE_CLOSE_COMMAND,
];

/** Every failed workflow task in any history of the namespace. */
export async function failedTasks({ temporal: { address, namespace } }: Installation): Promise<string[]> {
  // A history that was stuffed with large signals comes in large messages.
  const channelArgs = { 'grpc.max_receive_message_length': 100_000_000 };
  const connection = await Connection.connect({ address, channelArgs });
  try {
    const client = new Client({ connection, namespace });
    const complaints: string[] = [];
    for await (const { workflowId, runId } of client.workflow.list()) {
      const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      for (const { workflowTaskFailedEventAttributes: failed } of events ?? []) {
        if (failed == null || BY_SERVER.includes(failed.cause)) continue;
        complaints.push(`${workflowId}: ${Cause[failed.cause ?? 0] ?? ''} ${failed.failure?.message ?? ''}`);
      }
    }
    return complaints;
  } finally {
    await connection.close();
  }
}
