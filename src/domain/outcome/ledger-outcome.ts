import type { ToolRef } from '../key/tool-key.ts';
import type { Category, Evidence, Severity } from './outcome.ts';
import { recordOf } from './record.ts';
import type { Open, OutcomeRecord } from './record.ts';
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
  /** What a person had granted. */
  readonly grant?: string;
}

/** Judges a report whose call and time are known, or stood in for. */
export function outcomeOf(report: Report, open: Open & { callId: string; now: number }): LedgerOutcome {
  return recordOf(report, open) as OutcomeRecord & typeof open & { at: number };
}
