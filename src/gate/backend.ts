import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import type { ProbeRequest } from '../postgres/probes.ts';

/** Where outcomes become durable and probes are leased: the ledger, or this process when trust is kept per session. */
export interface Backend {
  /** Resolves when every outcome is durable, with the place each took; known ones take none. */
  append(outcomes: readonly LedgerOutcome[]): Promise<readonly { readonly key: string; readonly seq: number }[]>;
  /** Whether any outcome of the tool was ever recorded. */
  isKnown(key: string): Promise<boolean>;
  acquireProbe(request: ProbeRequest): Promise<string | undefined>;
  renewProbe(token: string, leaseSeconds: number): Promise<boolean>;
  releaseProbe(token: string): Promise<void>;
  close(): Promise<void>;
}
