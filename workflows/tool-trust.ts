import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  proxyActivities,
  proxyLocalActivities,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { absorb, settle, visible } from '../src/domain/trust/absorb.ts';
import type { Memory } from '../src/domain/trust/absorb.ts';
import { dueOf, headline } from '../src/domain/trust/describe.ts';
import type { PartEffect } from '../src/domain/trust/draft.ts';
import type { OrderName } from '../src/domain/trust/event.ts';
import { isPlain, nextDue, scopeOfPart, strictest } from '../src/domain/trust/parts.ts';
import type { Subject } from '../src/domain/trust/parts.ts';
import { readReported } from '../src/domain/trust/reported.ts';
import type { IdentifiedOutcome } from '../src/domain/trust/reported.ts';
import { createAlarm } from './alarm.ts';
import type { Carried } from './carried.ts';
import { viewOf } from './carried.ts';
import * as messages from './messages.ts';
import type { OrderRequest, QueuedOrder, TrustView } from './messages.ts';
import { showDetails, showInLists } from './operator-view.ts';

/** Short enough that a cold worker replays it in a blink. */
const LONGEST_HISTORY = 400;

// Reads and marks are short and may run twice: one marker each in the history. While the ledger is away the loop waits.
const ledger = proxyLocalActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  retry: { maximumAttempts: 3, initialInterval: '100 milliseconds' },
});
// What gates will see is in the history before it is written: a projection is never ahead of its workflow.
const world = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '30 seconds' },
});

export interface ToolTrustInput extends Subject {
  readonly carried?: Carried;
}

/**
 * The trust of one tool or server, for ever. Handlers only queue. One loop pulls what is new from the ledger, applies
 * the pure transition, projects what changed, and sleeps until the next bell or the next deadline.
 */
export async function toolTrust(input: ToolTrustInput): Promise<void> {
  const subject = subjectOf(input);
  let memory = input.carried?.memory;
  let rejected = input.carried?.rejected ?? 0;
  let rejectedTold = rejected;
  let rung = true;
  let reported: IdentifiedOutcome[] = [...(input.carried?.reported ?? [])];
  let orders: QueuedOrder[] = [];
  const unfinished = new Set<string>();
  const alarm = createAlarm();

  setHandler(messages.ledgerAdvanced, () => {
    rung = true;
  });
  setHandler(messages.outcomesReported, (payload) => {
    const read = readReported(payload);
    // An id of our own keeps what came without one from being appended twice.
    reported.push(...read.outcomes.map((outcome) => ({ ...outcome, id: outcome.id ?? uuid4() })));
    rejected += read.rejected;
    rung = true;
  });
  setDefaultSignalHandler(() => {
    rejected += 1;
    rung = true;
  });
  setHandler(messages.trust, () => viewOf(subject, memory, rejected));
  const queue =
    (order: OrderName) =>
    async (request: OrderRequest): Promise<TrustView> => {
      const id = uuid4();
      unfinished.add(id);
      orders.push({ ...request, id, order });
      await condition(() => !unfinished.has(id));
      return viewOf(subject, memory, rejected);
    };
  setHandler(messages.reset, queue('reset'), { description: 'Trust it again; nothing before counts.' });
  setHandler(messages.block, queue('block'), { description: 'Deny every call until a reset.' });
  setHandler(messages.recover, queue('recover'), { description: 'End an escalation now and let a probe try.' });

  if (memory !== undefined) {
    showDetails(memory, rejected);
    alarm.set(dueOf(subject, memory.parts, memory.rules), Date.now());
  }
  for (let failures = 0; ;) {
    await condition(() => rung || alarm.ringing() || orders.length > 0);
    rung = false;
    alarm.silence();
    const taken = { reported, orders };
    [reported, orders] = [[], []];
    try {
      const turned = await turn(subject, memory, taken);
      failures = 0;
      if (turned !== undefined) {
        memory = turned.memory;
        rejected += turned.refused;
        if (rejected !== rejectedTold || turned.unmarked) {
          rejectedTold = rejected;
          await ledger.acknowledge(workflowInfo().workflowId, memory.watermark.seq, rejected);
        }
        showDetails(memory, rejected);
        alarm.set(dueOf(subject, memory.parts, memory.rules), turned.now);
      }
      for (const { id } of taken.orders) unfinished.delete(id);
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      // Appending again what was appended already is harmless: rows are known by their ids.
      [reported, orders, rung] = [[...taken.reported, ...reported], [...taken.orders, ...orders], true];
      failures += 1;
      await sleep(Math.min(60, 2 ** failures) * 1000, { summary: 'waiting for the ledger' });
    }
    if (!workflowInfo().continueAsNewSuggested && workflowInfo().historyLength <= LONGEST_HISTORY) continue;
    await condition(() => allHandlersFinished() || orders.length > 0);
    // Nothing may be awaited between this look at the queue and continuing: what has arrived is carried along.
    if (orders.length > 0) continue;
    const carried = memory === undefined ? {} : { carried: { memory, rejected, reported } };
    await continueAsNew<typeof toolTrust>({ ...subject, ...carried });
  }
}

interface Taken {
  readonly reported: readonly IdentifiedOutcome[];
  readonly orders: readonly QueuedOrder[];
}

interface Turned {
  readonly memory: Memory;
  /** The ledger's clock. */
  readonly now: number;
  readonly refused: number;
  /** Rows were applied that changed nothing anybody sees: they are still to be marked as applied. */
  readonly unmarked: boolean;
}

/** Reads the ledger to its end and shows what came of it. Undefined where the ledger knows nothing of the subject yet. */
async function turn(
  subject: Subject,
  before: Memory | undefined,
  { reported, orders }: Taken,
): Promise<Turned | undefined> {
  const key = workflowInfo().workflowId;
  const refused = reported.length > 0 ? await world.appendOutcomes(key, subject, reported) : 0;
  if (orders.length > 0) await world.appendOrders(key, subject, orders);
  let memory = before;
  let now: number;
  let projectedVersion: number;
  const effects: PartEffect[] = [];
  const remarks: string[] = [];
  for (;;) {
    const pulled = await ledger.pull({
      key,
      since: memory?.watermark ?? null,
      version: memory?.version ?? 0,
      rulesVersion: memory?.rules.version ?? -1,
      scopes: Object.keys(memory?.parts ?? {}).map(scopeOfPart),
      fold: isPlain(memory?.parts ?? {}),
    });
    if (pulled === undefined) return undefined;
    const absorbed = absorb(memory, pulled);
    ({ memory } = absorbed);
    ({ now, projectedVersion } = pulled);
    effects.push(...absorbed.effects);
    remarks.push(...absorbed.remarks);
    if (!absorbed.unread) break;
  }
  const settled = settle(memory, now);
  memory = settled.memory;
  effects.push(...settled.effects);
  const changed =
    effects.length > 0 ||
    remarks.length > 0 ||
    projectedVersion < memory.version ||
    visible(memory) !== (before === undefined ? '' : visible(before));
  if (changed) memory = await show({ ...memory, version: memory.version + 1 }, effects, remarks);
  return { memory, now, refused, unmarked: !changed && memory.watermark.seq !== before?.watermark.seq };
}

async function show(memory: Memory, effects: readonly PartEffect[], remarks: readonly string[]): Promise<Memory> {
  const { subject, parts, rules, version, watermark } = memory;
  const { state } = strictest(parts);
  showInLists(memory);
  await world.project.executeWithOptions({ summary: headline(subject, parts).slice(0, 200) }, [
    {
      key: workflowInfo().workflowId,
      version,
      seq: watermark.seq,
      rulesVersion: rules.version,
      status: state.status,
      reason: state.status === 'TRUSTED' ? (effects.at(-1)?.reason ?? '') : state.reason,
      dueAt: nextDue(subject, parts, rules)?.at ?? null,
      parts,
      effects,
      remarks,
    },
  ]);
  return memory;
}

/** Anybody with access to the namespace may start this workflow, with anything. */
function subjectOf(input: unknown): Subject {
  const { kind, server, name } = (typeof input === 'object' ? (input ?? {}) : {}) as Partial<Record<string, unknown>>;
  if (typeof server === 'string' && server !== '' && (kind === 'server' || (typeof name === 'string' && name !== ''))) {
    return { kind: kind === 'server' ? 'server' : 'tool', server, name: kind === 'server' ? '' : String(name) };
  }
  throw ApplicationFailure.nonRetryable('toolTrust is started with { "server": "…", "name": "…" }', 'InvalidInput');
}
