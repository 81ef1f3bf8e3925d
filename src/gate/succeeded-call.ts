import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { newOutcomeId } from '../postgres/outcome-id.ts';
import type { Places, Waiting } from './reporter.ts';
import type { ToolGate } from './tool-gate.ts';

/** A call that nothing was held against and that went well. */
export interface PlainSuccess {
  readonly tool: ToolGate;
  readonly scope: string | undefined;
  readonly startedAt: number;
  readonly at: number;
}

/** Made on the way of every guarded call, so it only keeps what it is given; the row is made when the buffer is sent. */
export class SucceededCall implements Waiting {
  readonly #call: PlainSuccess;
  readonly #identity: { readonly agent?: string; readonly session?: string };
  readonly #done: (error?: Error) => void;
  #outcome: LedgerOutcome | undefined;

  constructor(call: PlainSuccess, identity: { agent?: string; session?: string }, done: (error?: Error) => void) {
    this.#call = call;
    this.#identity = identity;
    this.#done = done;
  }

  get outcome(): LedgerOutcome {
    return (this.#outcome ??= this.#made());
  }

  settled(_: Places | undefined, error?: Error): void {
    this.#done(error);
  }

  #made(): LedgerOutcome {
    const { tool, scope, startedAt, at } = this.#call;
    return {
      kind: 'success',
      server: tool.server,
      name: tool.name,
      at,
      startedAt,
      callId: newOutcomeId(),
      ...(scope === undefined ? {} : { scope }),
      ...this.#identity,
    };
  }
}
