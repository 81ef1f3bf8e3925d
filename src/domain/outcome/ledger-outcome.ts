import type { ToolRef } from '../key/tool-key.ts';
import type { Category, Evidence, Severity } from './outcome.ts';
import { recordOf } from './record.ts';
import type { Report } from './report.schema.ts';

/** An outcome on its way to the ledger, whoever made it: judged by us, or classified by a client. */
export interface LedgerOutcome extends ToolRef {
  readonly kind: 'success' | 'failure' | 'unknown';
  readonly at: number;
  readonly startedAt?: number;
  /** Given before the first attempt to record it, so that every further attempt meets the first. */
  readonly callId: string;
  readonly scope?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly turn?: number;
  readonly trustVersion?: number;
  readonly probe?: string;
  readonly severity?: Severity;
  readonly category?: Category;
  readonly evidence?: Evidence;
  readonly recoverable?: boolean;
  readonly errorType?: string;
  readonly message?: string;
  readonly httpStatus?: number;
  readonly exitCode?: number;
  readonly retryCount?: number;
  readonly wasTransient?: boolean;
  readonly argumentSummary?: Readonly<Record<string, string>>;
  readonly argumentsDigest?: string;
  readonly traceback?: string;
  readonly context?: string;
}

/** Judges a report. `callId` and `now` stand in for what it leaves open. */
export function outcomeOf(report: Report, open: { callId: string; now: number }): LedgerOutcome {
  const record = recordOf(report);
  return Object.assign(record, { callId: record.callId ?? open.callId, at: record.at ?? open.now });
}
