import { authorise } from '../domain/execution/authorisation.ts';
import type { ErrorCategory } from '../domain/execution/errors.ts';
import type { FileRules } from '../domain/files/file-rules.ts';
import { trustLevelOf } from '../domain/policy/policy.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import type { Status } from '../domain/trust/trust.ts';
import type { KillSwitch } from '../postgres/kill-switch.ts';
import type { QuotaAnswer, QuotaRequest } from '../postgres/execution-quota.ts';
import { reasonOf } from '../problem.ts';
import type { ClaimedCall, Executor, Refusal, Stage, ToolCall } from './call.ts';
import type { TouchedPath } from './paths.ts';
import type { ExecutionRules } from './rules.ts';
import type { Sandbox } from './sandbox.ts';

/** What all processes share; absent where there is no ledger. */
export interface Controls {
  killSwitch(): Promise<KillSwitch | undefined>;
  takeQuota(request: QuotaRequest): Promise<QuotaAnswer>;
}

/** What the reason of such a refusal begins with. */
export const SWITCH_UNREAD = 'nobody can tell whether the kill switch is on';

/** A switch that cannot be read may be on. */
export async function refusedByKillSwitch(controls: Controls | undefined): Promise<Refusal | undefined> {
  if (controls === undefined) return undefined;
  try {
    const state = await controls.killSwitch();
    if (state?.isOn !== true) return undefined;
    return blocked('kill_switch', `the kill switch is on, thrown by ${state.by}: ${state.reason}`);
  } catch (error) {
    return blocked('kill_switch', `${SWITCH_UNREAD}: ${reasonOf(error)}`);
  }
}

export function claimedBy(executor: Executor, call: ToolCall): ClaimedCall | Refusal {
  const claim = executor.claim(call);
  if (claim === undefined) {
    const names = executor.tools.map(({ name }) => name).join(', ');
    const wanted = call.server === LOCAL ? call.tool : `${call.server}/${call.tool}`;
    const because = `there is no tool ${JSON.stringify(wanted)}; there are ${names}`;
    return { stage: 'claim', category: 'tool_not_found', because };
  }
  return claim.kind === 'claimed' ? claim.call : { stage: 'claim', category: claim.category, because: claim.because };
}

/** The rules about who may call what, and whether the operating system must confine it. */
export function refusedByAuthorisation(
  { authorization, runner, files }: ExecutionRules,
  call: ToolCall,
  { intent }: ClaimedCall,
  paths: readonly TouchedPath[],
  sandbox: Sandbox,
): Refusal | undefined {
  const { tool, server, caller } = call;
  const { roots, ignoreCase } = files.rules;
  const called = { tool, server, caller, paths, roots, ignoreCase };
  const { effect, because, requiresSandbox } = authorise(authorization, called);
  if (effect === 'deny') return blocked('authorisation', because);
  if (intent.command === undefined || sandbox.kind !== 'none') return undefined;
  if (requiresSandbox || runner.sandbox === 'required') {
    return blocked('authorisation', `a sandbox is required, and there is none: ${sandbox.because}`);
  }
  // Without a sandbox nothing would hold a command to it.
  if (!runner.network) return blocked('authorisation', `network is off, which takes a sandbox: ${sandbox.because}`);
  return undefined;
}

/** The same rules for what a call finds below the paths that it names. Undefined where they say nothing of paths. */
export function authorisedPaths(
  { authorization, files }: ExecutionRules,
  { tool, server, caller }: ToolCall,
): FileRules['unauthorised'] {
  if (!authorization.enabled || authorization.rules.every(({ paths }) => paths === undefined)) return undefined;
  const { roots, ignoreCase } = files.rules;
  return (access, path, byRule) => {
    const paths = [{ path, access, known: true }];
    const called = { tool, server, caller, paths, roots, ignoreCase };
    const { effect, because, isByRule } = authorise(authorization, called);
    return effect === 'deny' && (isByRule || byRule !== true) ? because : undefined;
  };
}

export interface Circumstances {
  /** Of the tool, as far as anybody knows. */
  readonly status: Status;
  /** An operator lets everything through but what nobody can. */
  readonly isGlassBroken: boolean;
}

export type PolicyAnswer =
  /** `by`: who has lifted what would have been denied or asked. */
  | { readonly verdict: 'allow'; readonly by?: string }
  | { readonly verdict: 'ask'; readonly because: string }
  | { readonly verdict: 'deny'; readonly because: string; readonly category: ErrorCategory };

const ALLOWED: PolicyAnswer = { verdict: 'allow' };
const BY_BROKEN_GLASS: PolicyAnswer = { verdict: 'allow', by: 'break glass' };

/** Roots and the unconditional blocklist hold whoever approves; the rest of the policy yields to broken glass. */
export function judgedByPolicy(
  { shell }: ExecutionRules,
  { intent }: ClaimedCall,
  paths: readonly TouchedPath[],
  { status, isGlassBroken }: Circumstances,
): PolicyAnswer {
  const outside = paths.find(({ refusal }) => refusal !== undefined);
  if (outside?.refusal !== undefined) return { verdict: 'deny', ...outside.refusal };
  if (intent.refusal !== undefined) return denied(intent.refusal);
  const trust = trustLevelOf(status, shell.current.rules.trust);
  const unasked = isGlassBroken && status !== 'TRUSTED' ? BY_BROKEN_GLASS : ALLOWED;
  if (intent.command === undefined) {
    if (intent.question === undefined || trust === 'trusted') return unasked;
    return isGlassBroken ? BY_BROKEN_GLASS : { verdict: 'ask', because: intent.question };
  }
  const judgement = shell.judge(intent.command, { trust });
  const because = judgement.reasons
    .filter(({ verdict }) => verdict === judgement.verdict)
    .map((reason) => reason.because)
    .join('; ');
  if (judgement.unconditional) return denied(because);
  const question = paths.map(questionOf).find((each) => each !== undefined);
  if (judgement.verdict === 'allow' && question === undefined) return unasked;
  if (isGlassBroken) return BY_BROKEN_GLASS;
  if (judgement.verdict === 'deny') return denied(because);
  return { verdict: 'ask', because: judgement.verdict === 'ask' ? because : (question ?? because) };
}

function questionOf({ known, access, question }: TouchedPath): string | undefined {
  return known ? question : `nobody can tell before it runs which file it will ${access}`;
}

function denied(because: string): PolicyAnswer {
  return { verdict: 'deny', because, category: 'policy_blocked' };
}

/** Counts the call, whatever becomes of it. Where there is a limit and nobody to count, nothing runs. */
export async function refusedByQuota(
  { maxToolCallsPerSession: most, quotaWindowSecs }: ExecutionRules,
  { agent = '', session = '' }: ToolCall,
  controls: Controls | undefined,
): Promise<Refusal | undefined> {
  if (most === null) return undefined;
  const quota = { stage: 'quota', category: 'policy_blocked', code: 'quota_blocked' } as const;
  if (controls === undefined)
    return { ...quota, because: `calls are limited to ${most}, and there is no ledger to count` };
  try {
    const request = { agent, session, most, windowSeconds: quotaWindowSecs };
    const { allowed, used, resetsAt } = await controls.takeQuota(request);
    if (allowed) return undefined;
    const until = new Date(resetsAt).toISOString();
    return { ...quota, because: `quota_blocked: ${used} of ${most} calls are used until ${until}`, retryAt: resetsAt };
  } catch (error) {
    return { ...quota, because: `quota_blocked: nobody can tell how many calls are used: ${reasonOf(error)}` };
  }
}

function blocked(stage: Stage, because: string): Refusal {
  return { stage, category: 'policy_blocked', because };
}
