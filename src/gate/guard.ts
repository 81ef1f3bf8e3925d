import type { Decision } from '../domain/gate/decision.ts';
import type { Rule } from '../domain/rules/rules.schema.ts';
import { scopeOf } from '../domain/key/scope.ts';
import { judge } from '../domain/outcome/detect.ts';
import { argumentsDigest } from '../domain/outcome/digest.ts';
import type { Report } from '../domain/outcome/report.schema.ts';
import { newOutcomeId, outcomeId } from '../postgres/outcome-id.ts';
import type { Consumed } from '../postgres/grants.ts';
import { admitted, keepRenewed } from './admission.ts';
import type { Backend } from './backend.ts';
import { CallDenied } from './errors.ts';
import { dropQuestion } from './held.ts';
import type { HeldCall } from './held.ts';
import type { PlainSuccess } from './succeeded-call.ts';
import { NOTHING_HELD } from './tool-gate.ts';
import type { CallContext, Permission, ToolGate } from './tool-gate.ts';
import type { View } from './view.ts';

export interface GuardContext extends Omit<CallContext, 'definition'> {
  readonly callId?: string;
  /** Who has called does not wait for a person any more; a question that is still open is taken back. */
  readonly stopped?: AbortSignal;
}

export interface GuardOptions<Args> {
  /** The host application's own permission; asked before every call, and the stricter answer holds. */
  readonly permission?: (args: Args) => Permission | undefined | Promise<Permission | undefined>;
  /** How long to wait for a person to decide; the gate's own by default. */
  readonly approvalWaitMs?: number;
  /** What the tool says it is, as an MCP server lists it. Another definition ends what was granted to the old one. */
  readonly definition?: unknown;
  /** What the tool may do at worst, as it says itself: asked about as such, unless a rule that names the tool says more. */
  readonly risk?: Rule['risk'];
}

/** Every guard has its own, whatever others of the same tool are told. */
type GuardTerms<Args> = Omit<GuardOptions<Args>, 'definition' | 'risk'> & { readonly definition?: string };

/** By whose leave a call runs: a person's, a probe's, or nobody's where none was needed. */
export interface Leave {
  readonly grant?: Pick<Consumed, 'id' | 'kind' | 'by'>;
  readonly isProbe: boolean;
}

const NONE_NEEDED: Leave = { isProbe: false };

export type Guarded<Args, Result> = (args: Args, leave: Leave) => Result | Promise<Result>;

interface GuardNeeds {
  readonly tool: ToolGate;
  readonly backend: Backend;
  readonly view: View;
  /** Throws InvalidReport where the ledger could not be told of the call. */
  readonly refuseUnreportable: (report: Report) => void;
  /** Resolves when durable. */
  readonly report: (report: Report) => Promise<unknown>;
  /** Resolves when the report is in the buffer; what becomes of it later is announced. */
  readonly enqueue: (report: Report) => Promise<unknown>;
  /** Resolves when the report is durable, or is known to be lost and announced. */
  readonly settle: (report: Report) => Promise<unknown>;
  /** The same for a call of which there is nothing to say but that it went well; a promise only while there is no room. */
  readonly succeeded: (call: PlainSuccess) => Promise<void> | undefined;
  readonly identity: { readonly agent?: string; readonly session?: string };
  readonly approvalWaitMs: number;
}

/** Wraps a function: it runs only if the gate lets it, and what becomes of it is reported. */
export function createGuard<Args, Result>(
  needs: GuardNeeds,
  run: Guarded<Args, Result>,
  options: GuardOptions<Args> = {},
): (args: Args, context?: GuardContext) => Promise<Result> {
  const { tool } = needs;
  const { definition, risk, ...others } = options;
  if (risk !== undefined) tool.declareRisk(risk);
  const terms = definition === undefined ? others : { ...others, definition: argumentsDigest(definition) };
  return (args, context) => {
    const isPlain = context === undefined && options.permission === undefined;
    return isPlain && tool.check(args) === NOTHING_HELD
      ? plainly(needs, run, args)
      : carefully(needs, run, terms, args, context ?? {});
  };
}

/** Nothing is held against the tool and nobody else is to be asked: all that is left is to run and to say how it went. */
async function plainly<Args, Result>(
  { tool, enqueue, succeeded }: GuardNeeds,
  run: Guarded<Args, Result>,
  args: Args,
): Promise<Result> {
  const startedAt = Date.now();
  const call = { tool: tool.name, server: tool.server, args, startedAt };
  let result: Result;
  try {
    result = await run(args, NONE_NEEDED);
  } catch (error) {
    await enqueue({ ...call, success: false, error });
    throw error;
  }
  if (judge({ tool: tool.name, args, result }).kind === 'success') {
    const full = succeeded({ tool, scope: scopeOf(tool.name, args), startedAt, at: Date.now() });
    if (full !== undefined) await full;
  } else {
    await enqueue({ ...call, result });
  }
  return result;
}

async function carefully<Args, Result>(
  needs: GuardNeeds,
  run: Guarded<Args, Result>,
  terms: GuardTerms<Args>,
  args: Args,
  context: GuardContext,
): Promise<Result> {
  const { tool, report, enqueue, settle, refuseUnreportable } = needs;
  const { definition } = terms;
  const permission = context.permission ?? (await terms.permission?.(args));
  const asked = {
    ...context,
    ...(permission === undefined ? {} : { permission }),
    ...(definition === undefined ? {} : { definition }),
  };
  const check = () => tool.check(args, asked, held.isOfUnknown);
  const { tokenAgent } = needs.view;
  const call = {
    ...needs.identity,
    ...callOf(context),
    ...(tokenAgent === undefined ? {} : { agent: tokenAgent }),
    callId: context.callId ?? newOutcomeId(),
  };
  // What could not be reported afterwards is refused before anything has run.
  refuseUnreportable({ tool: tool.name, server: tool.server, ...call });
  const until = Date.now() + (terms.approvalWaitMs ?? needs.approvalWaitMs);
  const { approvals } = needs.backend;
  const ledgerId = outcomeId(call.callId, tool.server, tool.name, call.agent);
  const { closing } = needs.view;
  const { stopped } = context;
  const over = stopped === undefined ? closing.signal : AbortSignal.any([closing.signal, stopped]);
  const held: HeldCall = { tool, view: needs.view, approvals, args, call, ledgerId, check, until, over, definition };
  const { decision, probe, grant } = await admitted(needs.backend, held).catch(async (error: unknown) => {
    if (stopped?.aborted === true) await dropQuestion(held, 'whoever asked has gone');
    throw error;
  });
  // What the person has seen is what runs, unless the gate or the application denies it.
  const given = grant?.edited ? (grant.edited.args as Args) : args;
  if (grant?.edited) await refuseDenied(tool, given, context, terms);
  const base = {
    tool: tool.name,
    server: tool.server,
    args: given,
    startedAt: Date.now(),
    ...call,
    ...(decision.trustVersion === undefined ? {} : { trustVersion: decision.trustVersion }),
    ...grantOf(decision, grant),
  };
  const leave = { ...leaveOf(needs, decision, grant), isProbe: probe !== undefined };
  const runIt = () => run(given, leave);
  // Until the ledger knows that it has run, the same call would be given its grant again, as after a crash.
  if (probe === undefined) return ran(runIt, base, grant?.kind === 'once' ? settle : enqueue);
  const renewal = keepRenewed(needs.backend, probe);
  try {
    return await ran(runIt, { ...base, probe: probe.token }, report);
  } finally {
    renewal.stop();
  }
}

async function refuseDenied<Args>(
  tool: ToolGate,
  args: Args,
  { permission: given, ...context }: GuardContext,
  terms: GuardTerms<Args>,
): Promise<void> {
  const permission = given ?? (await terms.permission?.(args));
  const decision = tool.check(args, { ...context, ...(permission === undefined ? {} : { permission }) });
  if (decision.decision === 'deny') throw new CallDenied(decision);
}

async function ran<Result>(
  run: () => Result | Promise<Result>,
  base: Report,
  report: (report: Report) => Promise<unknown>,
): Promise<Result> {
  let result: Result;
  try {
    result = await run();
  } catch (error) {
    await report({ ...base, success: false, error });
    throw error;
  }
  await report({ ...base, result });
  return result;
}

/** What a person has granted beforehand lets a call through without being used up. */
function leaveOf({ tool, view }: GuardNeeds, decision: Decision, consumed: Consumed | undefined): Pick<Leave, 'grant'> {
  const standing = decision.decision === 'allow' && decision.grant !== undefined ? decision.grant : undefined;
  const grant = consumed ?? (standing === undefined ? undefined : view.grants.named(tool.key, standing));
  return grant === undefined ? {} : { grant: { id: grant.id, kind: grant.kind, by: grant.by } };
}

/** What the outcome is to be seen together with. */
function grantOf(decision: Decision, consumed: Consumed | undefined): { grant?: string } {
  const grant = consumed?.id ?? (decision.decision === 'allow' ? decision.grant : undefined);
  return grant === undefined ? {} : { grant };
}

function callOf({ agent, session, scope }: GuardContext): { agent?: string; session?: string; scope?: string } {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
    ...(scope === undefined ? {} : { scope }),
  };
}
