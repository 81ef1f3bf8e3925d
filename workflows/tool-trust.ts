import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  currentUpdateInfo,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { dueOf } from '../src/domain/trust/describe.ts';
import type { OrderName } from '../src/domain/trust/event.ts';
import type { Subject } from '../src/domain/trust/parts.ts';
import { readReported } from '../src/domain/trust/reported.ts';
import type { IdentifiedOutcome } from '../src/domain/trust/reported.ts';
import { createAlarm } from './alarm.ts';
import type { Carried } from './carried.ts';
import { viewOf } from './carried.ts';
import * as messages from './messages.ts';
import type { OrderRequest, QueuedOrder, TrustView } from './messages.ts';
import { showDetails } from './operator-view.ts';
import { refuseMalformed } from './order-request.ts';
import { MOST_APPENDED, NOTHING, tell, turn } from './turn.ts';
import type { Taken, Told } from './turn.ts';

/** Short enough that a cold worker replays it in a blink. */
const LONGEST_HISTORY = 400;
/** In bytes: with one more projection of a tool of very many scopes it still fits into one message, which are four megabytes. */
const LARGEST_HISTORY = 2_500_000;

export interface ToolTrustInput extends Subject {
  readonly carried?: Carried;
}

/**
 * The trust of one tool or server, for ever. Handlers only queue. One loop pulls what is new from the ledger, applies
 * the pure transition, projects what changed, and sleeps until the next bell or the next deadline.
 */
export async function toolTrust(input: ToolTrustInput): Promise<void> {
  const subject = subjectOf(input);
  // Only a run before this one can have carried something; whoever starts by hand gets what the ledger knows.
  const carried = workflowInfo().continuedFromExecutionRunId === undefined ? undefined : input.carried;
  let memory = carried?.memory;
  let rejected = carried?.rejected ?? 0;
  let knowsRejectedBefore = memory !== undefined;
  let told: Told = { seq: -1, rejected: -1 };
  let rung = true;
  let reported: IdentifiedOutcome[] = [...(carried?.reported ?? [])];
  let unnamed = carried?.unnamed ?? 0;
  let orders: QueuedOrder[] = [];
  const unfinished = new Set<string>();
  const refusedOrders = new Set<string>();
  const alarm = createAlarm();

  setHandler(messages.ledgerAdvanced, () => {
    rung = true;
  });
  setHandler(messages.outcomesReported, (payload) => {
    const read = readReported(payload);
    // An id of our own keeps what came without one from being appended twice, also if this run is set back and hears it again.
    for (const outcome of read.outcomes) {
      reported.push({ ...outcome, id: outcome.id ?? `${workflowInfo().firstExecutionRunId} ${(unnamed += 1)}` });
    }
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
    async (request?: OrderRequest | null): Promise<TrustView> => {
      // The same one in whatever run it arrives: a client that sends it again after this run has ended orders it once.
      const id = `${order} ${currentUpdateInfo()?.id ?? uuid4()}`;
      unfinished.add(id);
      orders.push({ ...request, id, order });
      await condition(() => !unfinished.has(id));
      if (refusedOrders.delete(id)) {
        const why = `${workflowInfo().workflowId} is not the key of a tool or server; nothing was ordered`;
        throw ApplicationFailure.nonRetryable(why, 'NotRecorded');
      }
      return viewOf(subject, memory, rejected);
    };
  const handle = (name: OrderName, description: string) =>
    setHandler(messages[name], queue(name), { description, validator: refuseMalformed });
  handle('reset', 'Trust it again; nothing before counts.');
  handle('block', 'Deny every call until a reset.');
  handle('recover', 'End an escalation now and let a probe try.');

  if (memory !== undefined) {
    showDetails(memory, rejected);
    alarm.set(dueOf(subject, memory.parts, memory.rules), Date.now());
  }
  for (let failures = 0; ;) {
    await condition(() => rung || alarm.ringing() || orders.length > 0);
    rung = false;
    alarm.silence();
    let taken: Taken = { reported, orders };
    [reported, orders] = [[], []];
    try {
      const turned = await turn(subject, memory, taken);
      rejected += turned.refused;
      for (const id of turned.refusedOrders) refusedOrders.add(id);
      for (const { id } of taken.orders) unfinished.delete(id);
      taken = NOTHING;
      if (turned.read !== undefined) {
        if (!knowsRejectedBefore) rejected += turned.read.rejectedBefore;
        knowsRejectedBefore = true;
        if (turned.read.overtaken) {
          [memory, rung] = [undefined, true];
          continue;
        }
        ({ memory } = turned.read);
        showDetails(memory, rejected);
        alarm.set(dueOf(subject, memory.parts, memory.rules), turned.read.now);
        if (turned.read.shown) told = { ...told, seq: memory.watermark.seq };
        told = await tell(memory.watermark.seq, rejected, turned.read.rest, told);
        if (turned.read.unread) {
          rung = true;
          // A timer ends the task: what was read is sent, and the history's size is known anew.
          await sleep(1, { summary: 'reading on' });
        }
      }
      failures = 0;
    } catch (error) {
      // What a local activity failed with arrives bare, what an ordinary one failed with in an envelope.
      if (!(error instanceof ActivityFailure || error instanceof ApplicationFailure)) throw error;
      // Appending again what was appended already is harmless: rows are known by their ids.
      [reported, orders, rung] = [[...taken.reported, ...reported], [...taken.orders, ...orders], true];
      failures += 1;
      await sleep(Math.min(60, 2 ** failures) * 1000, { summary: 'waiting for the ledger' });
    }
    const { continueAsNewSuggested, historyLength, historySize } = workflowInfo();
    if (!continueAsNewSuggested && historyLength <= LONGEST_HISTORY && historySize <= LARGEST_HISTORY) continue;
    await condition(() => allHandlersFinished() || orders.length > 0);
    // Nothing may be awaited between this look at the queue and continuing: what has arrived is carried along.
    if (orders.length > 0 || reported.length > MOST_APPENDED) continue;
    const state = { ...(memory === undefined ? {} : { memory }), rejected, reported, unnamed };
    await continueAsNew<typeof toolTrust>({ ...subject, carried: state });
  }
}

/** Anybody with access to the namespace may start this workflow, with anything. */
function subjectOf(input: unknown): Subject {
  const { kind, server, name } = (typeof input === 'object' ? (input ?? {}) : {}) as Partial<Record<string, unknown>>;
  if (typeof server === 'string' && server !== '' && (kind === 'server' || (typeof name === 'string' && name !== ''))) {
    return { kind: kind === 'server' ? 'server' : 'tool', server, name: kind === 'server' ? '' : String(name) };
  }
  throw ApplicationFailure.nonRetryable('toolTrust is started with { "server": "…", "name": "…" }', 'InvalidInput');
}
