import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import type { Places } from './reporter.ts';
import type { ProbeRequest } from '../postgres/probes.ts';

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
  close(): Promise<void>;
}
