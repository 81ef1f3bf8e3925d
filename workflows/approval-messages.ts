import { defineQuery, defineSignal } from '@temporalio/workflow';
import type { ApprovalState } from '../src/domain/approval/approval.ts';

/**
 * What people say about a question: `{ "decision": "<id>" }` names what was written down by the command line, the API or
 * the console. Anything else is somebody's word: `{ "by", "reason", "grant", "seconds", "expectedVersion" }`.
 */
export const approve = defineSignal<[unknown]>('approve');
export const deny = defineSignal<[unknown]>('deny');
export const extend = defineSignal<[unknown]>('extend');
export const withdraw = defineSignal<[unknown]>('withdraw');

export const approvalState = defineQuery<ApprovalState>('approval');
