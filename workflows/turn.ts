import { patched, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { absorb, concerns, lagOf, settle, visible } from '../src/domain/trust/absorb.ts';
import type { Memory, Pulled } from '../src/domain/trust/absorb.ts';
import { headline } from '../src/domain/trust/describe.ts';
import type { PartEffect } from '../src/domain/trust/draft.ts';
import { isPlain, nextDue, ruleOfPart, scopeOfPart, strictest } from '../src/domain/trust/parts.ts';
import type { Subject } from '../src/domain/trust/parts.ts';
import { calmOf } from '../src/domain/trust/calm.ts';
import { patienceOf } from '../src/domain/trust/patience.ts';
import type { IdentifiedOutcome } from '../src/domain/trust/reported.ts';
import type { Rest } from '../src/postgres/project.ts';
import type { QueuedOrder } from './messages.ts';
import { showInLists } from './operator-view.ts';

// What one activity is given, or one run hands to the next, must stay below the two megabytes that a payload may have.
export const MOST_APPENDED = 100;
const MOST_EFFECTS = 500;
/** What one task has read is sent as one message, which may have four megabytes. */
const MOST_PAGES = 8;

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

export interface Taken {
  readonly reported: readonly IdentifiedOutcome[];
  readonly orders: readonly QueuedOrder[];
}

export const NOTHING: Taken = { reported: [], orders: [] };

/** What the ledger was told by this run: how far it has been applied, and how much was not understood. */
export interface Told {
  readonly seq: number;
  readonly rejected: number;
}

/** A row that is applied and not marked so would be rung for until the next one comes. */
export async function tell(seq: number, rejected: number, rest: Rest | null, told: Told): Promise<Told> {
  if (seq !== told.seq || rejected !== told.rejected) {
    await ledger.acknowledge(workflowInfo().workflowId, seq, rejected, rest);
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
  /** When the next failure is to be told; null for the next one. */
  readonly rest: Rest | null;
  /** Another run of this workflow, ended since, has projected something else: it is to be taken up from there. */
  readonly overtaken: boolean;
}

/** Appends what was taken, reads the ledger to its end and shows what came of it. */
export async function turn(subject: Subject, before: Memory | undefined, { reported, orders }: Taken): Promise<Turned> {
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
  for (let pages = 0; unread && pages < MOST_PAGES && effects.length < MOST_EFFECTS; pages += 1) {
    const calm = memory === undefined ? undefined : calmOf(memory.subject, memory.parts, memory.rules);
    pulled = await ledger.pull({
      key,
      ...(memory === undefined ? {} : { subject: memory.subject }),
      since: memory?.watermark ?? null,
      version: memory?.version ?? 0,
      rulesVersion: memory?.rules.version ?? -1,
      rulesShape: memory?.rules.shape ?? 0,
      scopes: Object.keys(memory?.parts ?? {}).map(scopeOfPart),
      fold: isPlain(memory?.parts ?? {}),
      ...(calm === undefined ? {} : { calm }),
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
    effects.length > 0 ||
    remarks.length > 0 ||
    visible(memory) !== (before === undefined ? '' : visible(before)) ||
    (concerns(memory) !== concerns(before ?? { parts: {} }) && patched('security is shown'));
  if (changed) memory = { ...memory, version: memory.version + 1 };
  const overtaken = changed && !(await show(memory, effects, remarks));
  const { now, rejected: rejectedBefore = 0 } = pulled;
  const rest = unread ? null : restOf(memory, pulled);
  return { memory, now, rejectedBefore, shown: changed, unread, rest, overtaken };
}

function restOf({ subject, parts, rules }: Memory, { now, failures }: Pulled): Rest | null {
  const patience = failures === undefined ? undefined : patienceOf(subject, parts, rules, now);
  if (patience === undefined || failures === undefined) return null;
  return { ...patience, failures: failures + patience.failures, rulesVersion: rules.version };
}

async function show(memory: Memory, effects: readonly PartEffect[], remarks: readonly string[]): Promise<boolean> {
  const { subject, parts, rules, version, watermark } = memory;
  const { state } = strictest(parts);
  showInLists(memory);
  const isShown: unknown = await world.project.executeWithOptions({ summary: headline(subject, parts).slice(0, 200) }, [
    {
      key: workflowInfo().workflowId,
      version,
      seq: watermark.seq,
      rulesVersion: rules.version,
      status: state.status,
      reason: state.status === 'TRUSTED' ? (effects.at(-1)?.reason ?? '') : state.reason,
      dueAt: nextDue(subject, parts, rules)?.at ?? null,
      parts,
      effects: effects.map((effect) =>
        ruleOfPart(subject, rules, effect.part).notify ? effect : { ...effect, silent: true },
      ),
      remarks,
    },
  ]);
  // Histories from before it answered have nothing here.
  return isShown !== false;
}
