import { isQualityFailure } from '../domain/execution/errors.ts';
import type { ToolError } from '../domain/execution/errors.ts';
import { newOutcomeId } from '../postgres/outcome-id.ts';
import type { Executed, Refusal, RunContext, ToolCall, ToolDescription } from './call.ts';
import { callDigest, takeConfirmed } from './confirmation.ts';
import type { ConfirmedCall } from './confirmation.ts';
import { enter } from './entrance.ts';
import type { CallRequest } from './entrance.ts';
import { CallInOrder } from './in-order.ts';
import type { ExecutionParts, Preview } from './in-order.ts';

export interface ExecuteOptions {
  readonly stopped?: AbortSignal;
  readonly onOutput?: RunContext['onOutput'];
  /** How long to wait where a person has to be asked. 0: not at all, the question stays open. */
  readonly approvalWaitMs?: number;
  /** Writes arguments anew that did not fit. Asked once; what it gives takes the whole way again. */
  readonly reformat?: (error: ToolError, call: ToolCall) => Promise<unknown>;
}

/**
 * The two ways to run a tool. They make the same checks, but for the question that has been answered already, and take
 * different values: neither can stand in for the other, in a wrapper or anywhere else.
 */
export interface Execution {
  readonly tools: readonly ToolDescription[];
  readonly execute: (call: CallRequest, options?: ExecuteOptions) => Promise<Executed>;
  /** What `execute` would be answered by rules and policy; nothing runs. */
  readonly preview: (call: CallRequest) => Promise<Preview>;
  readonly executeConfirmed: (confirmed: ConfirmedCall, options?: ExecuteOptions) => Promise<Executed>;
}

export function createExecution(parts: ExecutionParts): Execution {
  // Those that were counted when they asked: run with somebody's yes, each is still one call. Known by our own copy.
  const counted = new WeakSet<ToolCall>();
  return {
    tools: parts.terms.current.executor.tools,
    execute: async (request, options = {}) => {
      const entered = enter(request);
      const { call } = entered;
      const first = await new CallInOrder(parts, entered, options, { counted }).inOrder();
      if (options.reformat === undefined || first.status === 'done' || !isQualityFailure(first.error.category))
        return first;
      const args = await options.reformat(first.error, call);
      if (args === undefined) return first;
      const again = enter({ ...call, args, callId: newOutcomeId() });
      return new CallInOrder(parts, again, options, { counted, isCounted: counted.delete(call) }).inOrder();
    },
    preview: (request) => new CallInOrder(parts, enter(request), {}, { counted }).preview(),
    executeConfirmed: async (confirmed, options = {}) => {
      const { call: asked, approval, by, digest, isUsed } = takeConfirmed(confirmed);
      const entered = enter(asked);
      const isCounted = !isUsed && counted.delete(asked);
      const made = new CallInOrder(parts, entered, options, { counted, isCounted, confirmedBy: by });
      if (isUsed) return made.refuse(unconfirmed('the confirmation has been used already'));
      if (digest !== callDigest(entered.call))
        return made.refuse(unconfirmed('the confirmation is for another call than this'));
      const executed = await made.inOrder();
      // What was answered here is no question at the gate any more.
      if (approval !== undefined && executed.status !== 'refused' && executed.status !== 'ask')
        await parts.gate?.withdraw(approval, `${by} has answered it where it was asked`);
      return executed;
    },
  };
}

function unconfirmed(because: string): Refusal {
  return { stage: 'policy', category: 'confirmation_required', because };
}
