import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { Gate } from 'surety';
import type { createPool } from '../src/postgres/pool.ts';
import { row } from './measure.ts';
import type { Budget, Row } from './measure.ts';
import type { Peer } from './peer-client.ts';
import { until, untilApplied } from './stack.ts';
import { FAILED, send, WORKED } from './traffic.ts';
import type { Traffic } from './traffic.ts';

/** What outcomes leave behind in the histories of their workflows. */
export async function historyCost(
  { client }: Peer,
  pool: ReturnType<typeof createPool>,
  gate: Gate,
  label: string,
  name: string,
  traffic: Traffic,
  budget: number | null,
): Promise<readonly Row[]> {
  const keys = Array.from({ length: traffic.tools }, (_, i) => `tool:local/${name}-${i}`);
  // Each has failed once and has its workflow: beginning one is not what a thousand outcomes cost.
  await send(gate, name, { ...traffic, outcomes: traffic.tools * traffic.failing });
  await untilApplied(pool);
  const before = await historyOf(client, keys);
  const begin = performance.now();
  await send(gate, name, traffic);
  await untilApplied(pool);
  const perSecond = traffic.outcomes / ((performance.now() - begin) / 1000);
  const after = await historyOf(client, keys);
  const [events, signals, bytes] = [
    after.events - before.events,
    after.signals - before.signals,
    after.bytes - before.bytes,
  ];
  const per = 1000 / traffic.outcomes;
  return [
    row(`history events per 1,000 outcomes, ${label}`, 'events', [events * per], null, atMost(budget)),
    row(`outcomes per second until all that rang is judged, ${label}`, 'per s', [perSecond]),
    row(`signals per 1,000 outcomes, ${label}`, 'signals', [signals * per]),
    row(`history bytes per 1,000 outcomes, ${label}`, 'bytes', [bytes * per]),
  ];
}

/** How many calls a trickle has, with the one that its workflow begins with. */
export const TRICKLE = 21;
const PAUSE_MS = 150;

/** One call at a time, each judged before the next: what a tool costs that is used now and then. */
export async function trickle(
  { client }: Peer,
  pool: ReturnType<typeof createPool>,
  gate: Gate,
  what: 'successes' | 'failures',
  how: string,
  budget: number | null,
): Promise<readonly Row[]> {
  const tool = `trickle-${what}${how === '' ? '' : '-otherwise'}`;
  const key = `tool:local/${tool}`;
  await gate.report({ tool, ...FAILED });
  await untilApplied(pool);
  const before = await historyOf(client, [key]);
  const calls = TRICKLE - 1;
  for (let i = 0; i < calls; i += 1) {
    await gate.report({ tool, ...(what === 'failures' ? FAILED : WORKED) });
    await untilApplied(pool);
    await sleep(PAUSE_MS);
  }
  const after = await historyOf(client, [key]);
  const [events, signals, bytes] = [
    after.events - before.events,
    after.signals - before.signals,
    after.bytes - before.bytes,
  ];
  const per = 1000 / calls;
  const label = `a trickle of ${what}${how === '' ? '' : `, ${how}`}`;
  const perBell = row(`history events per doorbell, ${label}`, 'events', [events / signals], null, atMost(budget));
  const isOfBells = what === 'failures';
  return [
    ...(isOfBells ? [perBell] : []),
    row(
      `history events per 1,000 outcomes, ${label}`,
      'events',
      [events * per],
      null,
      isOfBells ? null : atMost(budget),
    ),
    row(`signals per 1,000 outcomes, ${label}`, 'signals', [signals * per]),
    row(`history bytes per 1,000 outcomes, ${label}`, 'bytes', [bytes * per]),
  ];
}

function atMost(budget: number | null): Budget {
  return budget === null ? null : { atMost: budget };
}

/** Over all runs of the workflows, from the newest back: one that continues names the one before it. */
async function historyOf(client: Peer['client'], keys: readonly string[]) {
  const sum = { events: 0, signals: 0, bytes: 0 };
  for (const key of keys) {
    // What a task has done shows a moment before the task ends, which is an event, too.
    const isAtRest = async () => (await client.workflow.getHandle(key).describe()).raw.pendingWorkflowTask == null;
    await until(isAtRest, `${key} is at rest`);
    let run: string | null | undefined;
    do {
      const handle: WorkflowHandle = client.workflow.getHandle(key, run ?? undefined);
      sum.bytes += (await handle.describe()).historySize ?? 0;
      const { events } = await handle.fetchHistory();
      for (const event of events ?? []) {
        sum.events += 1;
        if (event.workflowExecutionSignaledEventAttributes) sum.signals += 1;
      }
      run = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    } while (run);
  }
  return sum;
}
