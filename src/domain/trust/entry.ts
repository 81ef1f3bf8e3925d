import type { Category, Evidence, Severity } from '../outcome/outcome.ts';
import type { OrderName } from './event.ts';

/** One row of the ledger as trust reads it. `receivedAt` is the ledger's clock and decides what is due; `at` is the event's own time. */
export type Entry = CallEntry | OrderEntry;

interface Row {
  readonly seq: number;
  readonly at: number;
  readonly receivedAt: number;
  readonly scope?: string;
}

export interface CallEntry extends Row {
  readonly kind: 'success' | 'failure' | 'unknown';
  readonly startedAt?: number | undefined;
  readonly trustVersion?: number | undefined;
  readonly agent?: string;
  /** Set when the call was a probe: whether its lease was alive when the outcome was recorded. */
  readonly probe?: 'live' | 'lapsed';
  readonly severity?: Severity | undefined;
  readonly category?: Category | undefined;
  readonly evidence?: Evidence | undefined;
  readonly recoverable?: boolean | undefined;
  /** Set on folded calls, even on one: how many it stands for. It reaches only parts that are trusted. */
  readonly count?: number;
  /** Of folded failures: when the latest of them were, oldest first, as many as are remembered. */
  readonly times?: readonly number[];
}

export interface OrderEntry extends Row {
  readonly kind: OrderName;
  readonly by: string;
  readonly reason: string;
}

export function isOrder(entry: Entry): entry is OrderEntry {
  return entry.kind === 'reset' || entry.kind === 'block' || entry.kind === 'recover';
}

export const LOCAL = 'local';

/**
 * Whom a failure to reach something is held against. With a server in between it is the server, unless the call names
 * the host it went to: then that host was out of reach, and the server that said so is well.
 */
export function countsOnServer(server: string, scope: string | undefined, category: Category | undefined): boolean {
  return category === 'reachability' && server !== LOCAL && !(scope?.startsWith('host:') ?? false);
}
