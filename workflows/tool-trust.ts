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
import { absorb, lagOf, settle, visible } from '../src/domain/trust/absorb.ts';
import type { Memory, Pulled } from '../src/domain/trust/absorb.ts';
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
import { refuseMalformed } from './order-request.ts';

/** Short enough that a cold worker replays it in a blink. */
const LONGEST_HISTORY = 400;

// What one activity is given, or one run hands to the next, must stay below the two megabytes that a payload may have.
const MOST_APPENDED = 100;
const MOST_EFFECTS = 500;

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
  // Only a run before this one can have carried something; whoever starts by hand gets what the ledger knows.
  const carried = workflowInfo().continuedFromExecutionRunId === undefined ? undefined : input.carried;
  let memory = carried?.memory;
  let rejected = carried?.rejected ?? 0;
  let told: Told = { seq: -1, rejected: -1 };
  let rung = true;
  let reported: IdentifiedOutcome[] = [...(carried?.reported ?? [])];
  let orders: QueuedOrder[] = [];
  const unfinished = new Set<string>();
  const refusedOrders = new Set<string>();
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
    async (request?: OrderRequest | null): Promise<TrustView> => {
      const id = uuid4();
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
        if (memory === undefined) rejected += turned.read.rejectedBefore;
        ({ memory } = turned.read);
        showDetails(memory, rejected);
        alarm.set(dueOf(subject, memory.parts, memory.rules), turned.read.now);
        if (turned.read.unread) rung = true;
        if (turned.read.shown) told = { ...told, seq: memory.watermark.seq };
        told = await tell(memory.watermark.seq, rejected, told);
      }
      failures = 0;
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
    if (orders.length > 0 || reported.length > MOST_APPENDED) continue;
    const state = { ...(memory === undefined ? {} : { memory }), rejected, reported };
    await continueAsNew<typeof toolTrust>({ ...subject, carried: state });
  }
}

interface Taken {
  readonly reported: readonly IdentifiedOutcome[];
  readonly orders: readonly QueuedOrder[];
}

const NOTHING: Taken = { reported: [], orders: [] };

/** What the ledger was told by this run: how far it has been applied, and how much was not understood. */
interface Told {
  readonly seq: number;
  readonly rejected: number;
}

/** A row that is applied and not marked so would be rung for until the next one comes. */
async function tell(seq: number, rejected: number, told: Told): Promise<Told> {
  if (seq !== told.seq || rejected !== told.rejected) {
    await ledger.acknowledge(workflowInfo().workflowId, seq, rejected);
  }
  return { seq, rejected };
}

interface Turned {
  /** Outcomes that found no place in the ledger, and orders. */
  readonly refused: number;
  readonly refusedOrders: readonly string[];
  /** Undefined where the ledger knows nothing of the subject yet. */
  readonly read?: Read;
}

interface Read {
  readonly memory: Memory;
  /** The ledger's clock. */
  readonly now: number;
  /** What the ledger had counted as rejected before this workflow knew anything. */
  readonly rejectedBefore: number;
  /** It was projected, which marks what was read as applied. */
  readonly shown: boolean;
  /** The rest of the ledger is for the next turn. */
  readonly unread: boolean;
}

/** Appends what was taken, reads the ledger to its end and shows what came of it. */
async function turn(subject: Subject, before: Memory | undefined, { reported, orders }: Taken): Promise<Turned> {
  const key = workflowInfo().workflowId;
  let refused = 0;
  for (let from = 0; from < reported.length; from += MOST_APPENDED) {
    refused += await world.appendOutcomes(key, subject, reported.slice(from, from + MOST_APPENDED));
  }
  const refusedOrders = orders.length > 0 ? await world.appendOrders(key, subject, orders) : [];
  const read = await readOn(key, before);
  return { refused, refusedOrders, ...(read === undefined ? {} : { read }) };
}

async function readOn(key: string, before: Memory | undefined): Promise<Read | undefined> {
  let memory = before;
  let pulled: Pulled | undefined;
  let unread = true;
  const effects: PartEffect[] = [];
  const remarks: string[] = [];
  while (unread && effects.length < MOST_EFFECTS) {
    pulled = await ledger.pull({
      key,
      since: memory?.watermark ?? null,
      version: memory?.version ?? 0,
      rulesVersion: memory?.rules.version ?? -1,
      scopes: Object.keys(memory?.parts ?? {}).map(scopeOfPart),
      fold: isPlain(memory?.parts ?? {}),
    });
    if (pulled === undefined) return undefined;
    const absorbed = absorb(memory, pulled);
    ({ memory, unread } = absorbed);
    effects.push(...absorbed.effects);
    remarks.push(...absorbed.remarks);
  }
  if (memory === undefined || pulled === undefined) return undefined;
  // What is still unread happened before now: time is not to overtake it.
  if (!unread) {
    const settled = settle(memory, pulled.now);
    memory = settled.memory;
    effects.push(...settled.effects);
  }
  if (remarks.length === 0) remarks.push(...lagOf(before, pulled));
  const changed =
    effects.length > 0 || remarks.length > 0 || visible(memory) !== (before === undefined ? '' : visible(before));
  if (changed) memory = await show({ ...memory, version: memory.version + 1 }, effects, remarks);
  const { now, rejected: rejectedBefore = 0 } = pulled;
  return { memory, now, rejectedBefore, shown: changed, unread };
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
