import { scopesOf } from '../key/scope.ts';
import { serverOf, shownName, type ToolRef } from '../key/tool-key.ts';
import { judge } from './detect.ts';
import { argumentsDigest } from './digest.ts';
import type { Failure } from './outcome.ts';
import { plainCopy } from './plain.ts';
import { redactText } from './redact.ts';
import type { Report } from './report.schema.ts';
import { summarise } from './summary.ts';

/** Whose call it was, and when. */
interface Call extends ToolRef {
  readonly scope?: string;
  readonly callId?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly turn?: number;
  /** Epoch milliseconds, as are all times here. */
  readonly at?: number;
  readonly startedAt?: number;
  readonly trustVersion?: number;
  readonly probe?: string;
  readonly grant?: string;
}

/** What is kept of a failure besides its classification, for whoever looks into it later. */
interface FailureDetail {
  readonly recoverable: boolean;
  readonly retryCount?: number;
  readonly wasTransient?: boolean;
  readonly argumentSummary: Readonly<Record<string, string>>;
  readonly argumentsDigest: string;
  readonly traceback?: string;
  /** JSON, redacted and cut. */
  readonly context?: string;
}

/** One outcome as the ledger keeps it: no credentials, no raw arguments, and of a success nothing but that it happened. */
export type OutcomeRecord =
  (Call & { readonly kind: 'success' }) | (Call & { readonly kind: 'unknown' }) | (Call & Failure & FailureDetail);

const MOST_TRACEBACK = 2048;
const MOST_CONTEXT = 1024;

/** What stands in for what a report leaves open. */
export interface Open {
  readonly callId?: string;
  readonly now?: number;
  readonly agent?: string | undefined;
  readonly session?: string | undefined;
}

const NOTHING: Open = {};

/** Judges a report and keeps what may be kept of it. */
export function recordOf(report: Report, open: Open = NOTHING): OutcomeRecord {
  const verdict = judge(report);
  const call = callOf(report, verdict.kind, open);
  return verdict.kind === 'failure' ? Object.assign(call, verdict, detailOf(report)) : (call as OutcomeRecord);
}

/** Assigned one by one: this runs for every success, where copies would cost more than judging it. */
function callOf(report: Report, kind: OutcomeRecord['kind'], open: Open): Call {
  const call: { -readonly [K in keyof Call]: Call[K] } & { kind: OutcomeRecord['kind'] } = {
    kind,
    server: shownName(serverOf(report)),
    name: shownName(report.tool),
  };
  const [scope] = scopesOf(report.tool, report.args, report.scope);
  const { callId = open.callId, agent = open.agent, session = open.session } = report;
  const at = milliseconds(report.at) ?? open.now;
  const startedAt = milliseconds(report.startedAt);
  if (callId !== undefined) call.callId = callId;
  if (at !== undefined) call.at = at;
  if (agent !== undefined) call.agent = agent;
  if (session !== undefined) call.session = session;
  if (scope !== undefined) call.scope = scope;
  if (report.turn !== undefined) call.turn = report.turn;
  if (startedAt !== undefined) call.startedAt = startedAt;
  if (report.trustVersion !== undefined) call.trustVersion = report.trustVersion;
  if (report.probe !== undefined) call.probe = report.probe;
  if (report.grant !== undefined) call.grant = report.grant;
  return call;
}

function detailOf(report: Report): FailureDetail {
  const detail: { -readonly [K in keyof FailureDetail]: FailureDetail[K] } = {
    recoverable: report.recoverable ?? true,
    argumentSummary: summarise(report.tool, report.args),
    argumentsDigest: argumentsDigest(report.args),
  };
  if (report.retryCount !== undefined) detail.retryCount = report.retryCount;
  if (report.wasTransient !== undefined) detail.wasTransient = report.wasTransient;
  if (report.traceback !== undefined) detail.traceback = redactText(report.traceback, MOST_TRACEBACK);
  if (report.context !== undefined) detail.context = contextText(report.context);
  return detail;
}

function contextText(context: unknown): string {
  return redactText(JSON.stringify(plainCopy(context, { depth: 6, nodes: 100, characters: 400 })), MOST_CONTEXT);
}

function milliseconds(time: number | Date | undefined): number | undefined {
  const value = time instanceof Date ? time.getTime() : time;
  return Number.isFinite(value) ? value : undefined;
}
