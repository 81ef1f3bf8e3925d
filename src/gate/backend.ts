import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import type { Asked, Asking } from '../postgres/approval-ask.ts';
import type { Consumed } from '../postgres/grants.ts';
import type { Places } from './reporter.ts';
import type { ProbeRequest } from '../postgres/probes.ts';

export interface Approvals {
  ask(question: Omit<Asking, 'subject'>): Promise<Asked>;
  read(id: string): Promise<Asked | undefined>;
  withdraw(id: string, by: string, reason: string): Promise<void>;
  consume(grant: string, callId: string): Promise<Consumed | undefined>;
  /** Says what a tool says it is; what was granted to another definition ends. */
  define(tool: { readonly key: string }, definition: string): Promise<void>;
}

/** Where outcomes become durable and probes are leased: the ledger, or this process when trust is kept per session. */
export interface Backend {
  /** Resolves when every outcome is durable, with a place by subject that none of its rows lies behind. */
  append(outcomes: readonly LedgerOutcome[]): Promise<Places>;
  /** What was appended has been judged by the time that is known. */
  readonly judgesAtOnce: boolean;
  /** Whether any outcome of the tool was ever recorded. */
  isKnown(key: string): Promise<boolean>;
  acquireProbe(request: ProbeRequest): Promise<string | undefined>;
  renewProbe(token: string, leaseSeconds: number): Promise<boolean>;
  releaseProbe(token: string): Promise<void>;
  /** Where people are asked; absent where trust is kept in this process and there is nobody to ask. */
  readonly approvals?: Approvals;
  close(): Promise<void>;
}
