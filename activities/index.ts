import type pg from 'pg';
import { appendGivenOrders, appendReported } from './append.ts';
import { deliverWebhook } from './deliver-webhook.ts';
import type { Deliverer } from './deliver-webhook.ts';
import {
  bareSignalsCount,
  readDecision,
  refuseDecision,
  unheardDecisions,
  writeApproval,
} from '../src/postgres/approval-end.ts';
import type { ApprovalChange, Refusal } from '../src/postgres/approval-end.ts';
import { Names, Subjects } from '../src/postgres/intern.ts';
import { acknowledge, project } from '../src/postgres/project.ts';
import type { ProjectionOrder, Rest } from '../src/postgres/project.ts';
import { pull } from '../src/postgres/pull.ts';
import type { PullRequest } from '../src/postgres/pull.ts';
import { buryDelivery } from '../src/postgres/webhook-deliveries.ts';
import type { DeliveryRun } from '../src/postgres/webhook-deliveries.ts';
import type { Subject } from '../src/domain/trust/parts.ts';
import type { IdentifiedOutcome } from '../src/domain/trust/reported.ts';
import type { QueuedOrder } from '../workflows/messages.ts';

/** What workflows may do to the world. Each is safe to run twice; its own file says why. */
export function createActivities(pool: pg.Pool) {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  return {
    pull: (request: PullRequest) => pull(pool, request),
    project: (order: ProjectionOrder) => project(pool, order),
    acknowledge: (key: string, seq: number, rejected: number, rest?: Rest | null) =>
      acknowledge(pool, key, seq, rejected, rest),
    appendOutcomes: (key: string, subject: Subject, outcomes: readonly IdentifiedOutcome[]) =>
      appendReported(ledger, key, subject, outcomes),
    appendOrders: (key: string, subject: Subject, orders: readonly QueuedOrder[]) =>
      appendGivenOrders(ledger, key, subject, orders),
    readDecision: (approval: string, decision: string) => readDecision(pool, approval, decision),
    writeApproval: (change: ApprovalChange) => writeApproval(pool, change),
    refuseDecision: (refusal: Refusal) => refuseDecision(pool, refusal),
    bareSignalsCount: () => bareSignalsCount(pool),
    unheardDecisions: (approval: string) => unheardDecisions(pool, approval),
    buryDelivery: (delivery: DeliveryRun, because: string) => buryDelivery(pool, delivery, because),
  };
}

/** What waits for somebody else's server: apart from the rest, so that only its own kind waits with it. */
export function createDeliveries(deliverer: Deliverer) {
  return { deliverWebhook: (delivery: DeliveryRun) => deliverWebhook(deliverer, delivery) };
}

export type Activities = ReturnType<typeof createActivities>;
export type Deliveries = ReturnType<typeof createDeliveries>;
