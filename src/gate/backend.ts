import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import type { Asked, Asking } from '../postgres/approval-ask.ts';
import type { Consumed, Definition } from '../postgres/grants.ts';
import type { Places } from './reporter.ts';
import type { ProbeRequest } from '../postgres/probes.ts';

/** A call that is to run under a grant; whoever hands it out judges by this whether the grant answers it. */
export interface RunningCall {
  /** As the ledger knows it. */
  readonly callId: string;
  /** As whoever makes it knows it: a server before the ledger finds out itself whose it is. */
  readonly givenId: string;
  readonly digest: string;
  readonly args: unknown;
  readonly scope: string | undefined;
  readonly session: string | undefined;
  readonly definition: string | undefined;
}

/** The same of a call that a person is asked about. */
type AskedCall = Omit<Asking, 'subject'> & Pick<RunningCall, 'givenId'> & { readonly claimedScope: string | undefined };

export interface Approvals {
  ask(question: AskedCall): Promise<Asked>;
  read(id: string): Promise<Asked | undefined>;
  withdraw(id: string, by: string, reason: string): Promise<void>;
  consume(grant: string, call: RunningCall): Promise<Consumed | undefined>;
  /** Says what a tool says it is; what the agent was granted to another definition ends. */
  define(definition: Definition): Promise<void>;
}

/** Resolves when every outcome is durable, with a place by subject that none of its rows lies behind. */
export type Append = () => Promise<Places>;

/** Where outcomes become durable and probes are leased: the ledger, or this process when trust is kept per session. */
export interface Backend {
  /** Whatever can be done for outcomes before it is their turn. */
  prepare(outcomes: readonly LedgerOutcome[]): Promise<Append>;
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
