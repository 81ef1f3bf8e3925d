import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { OrderName } from '../src/domain/trust/event.ts';
import type { Parts, Subject } from '../src/domain/trust/parts.ts';
import type { Status } from '../src/domain/trust/trust.ts';

/** The doorbell: there is something new in the ledger. Carries nothing; losing or doubling it is harmless. */
export const ledgerAdvanced = defineSignal('ledgerAdvanced');

/** Outcomes of any client in any language: `{ "outcomes": [{ "id", "success", "severity", "at", "scope", … }] }`. */
export const outcomesReported = defineSignal<[unknown]>('outcomesReported');

export interface OrderRequest {
  readonly by?: string;
  readonly reason?: string;
  readonly scope?: string;
}

/** An operator's order. Returns when it is in the ledger, applied, and visible to every gate. */
export const reset = defineUpdate<TrustView, [OrderRequest]>('reset');
export const block = defineUpdate<TrustView, [OrderRequest]>('block');
export const recover = defineUpdate<TrustView, [OrderRequest]>('recover');

export const trust = defineQuery<TrustView>('trust');

export interface TrustView {
  readonly subject: Subject;
  readonly status: Status;
  readonly reason: string;
  readonly version: number;
  /** How far the ledger has been applied. */
  readonly seq: number;
  readonly rulesVersion: number;
  readonly dueAt: string | null;
  readonly rejected: number;
  readonly parts: Parts;
}

export interface QueuedOrder extends OrderRequest {
  readonly id: string;
  readonly order: OrderName;
}
