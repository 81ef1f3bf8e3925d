import { isQualityFailure, toolError } from '../domain/execution/errors.ts';
import type { ToolError } from '../domain/execution/errors.ts';
import type { Status } from '../domain/trust/trust.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import { ApprovalRequired, CallDenied, NotApproved } from '../gate/errors.ts';
import type { Gate } from '../gate/gate.ts';
import { newOutcomeId } from '../postgres/outcome-id.ts';
import type { Audit } from './audit/audit.ts';
import type { ClaimedCall, Executed, Executor, Refusal, RunContext, ToolCall, ToolDescription } from './call.ts';
import { callDigest, takeConfirmed } from './confirmation.ts';
import type { ConfirmedCall } from './confirmation.ts';
import { touchedPaths } from './paths.ts';
import { entryOf, requireAudit } from './record.ts';
import type { Ended } from './record.ts';
import type { ExecutionRules } from './rules.ts';
import { runClaimed } from './run-claimed.ts';
import type { Ran } from './run-claimed.ts';
import type { Confinement, Sandbox } from './sandbox.ts';
import { claimedBy, judgedByPolicy, refusedByAuthorisation, refusedByKillSwitch, refusedByQuota } from './stages.ts';
import type { Controls, PolicyAnswer } from './stages.ts';

/** A call as its maker gives it. */
export type CallRequest = Omit<ToolCall, 'server' | 'callId'> & Partial<Pick<ToolCall, 'server' | 'callId'>>;

export interface ExecuteOptions {
  readonly stopped?: AbortSignal;
  readonly onOutput?: RunContext['onOutput'];
  /** How long to wait where a person has to be asked. 0: not at all, the question stays open. */
  readonly approvalWaitMs?: number;
  /** Writes arguments anew that did not fit. Asked once; what it gives takes the whole way again. */
  readonly reformat?: (error: ToolError, call: ToolCall) => Promise<unknown>;
}

/**
 * The two ways to run a tool. They make the same checks, but for the question that has been answered already, and take
 * different values: neither can stand in for the other, in a wrapper or anywhere else.
 */
export interface Execution {
  readonly tools: readonly ToolDescription[];
  readonly execute: (call: CallRequest, options?: ExecuteOptions) => Promise<Executed>;
  readonly executeConfirmed: (confirmed: ConfirmedCall, options?: ExecuteOptions) => Promise<Executed>;
}

export interface ExecutionParts {
  readonly executor: Executor;
  readonly rules: ExecutionRules;
  readonly audit: Audit;
  readonly sandbox: Sandbox;
  readonly confinement: Confinement;
  /** Absent where there is no ledger: then trust is not consulted and nobody can be asked. */
  readonly gate: Gate | undefined;
  readonly controls: Controls | undefined;
}

export function createExecution(parts: ExecutionParts): Execution {
  return {
    tools: parts.executor.tools,
    execute: async (request, options = {}) => {
      const call: ToolCall = { ...request, server: request.server ?? LOCAL, callId: request.callId ?? newOutcomeId() };
      const first = await new Call(parts, call, call.callId, undefined, options).inOrder();
      if (options.reformat === undefined || first.status === 'done' || !isQualityFailure(first.error.category))
        return first;
      const args = await options.reformat(first.error, call);
      if (args === undefined) return first;
      const again = { ...call, args, callId: newOutcomeId() };
      return new Call(parts, again, call.callId, undefined, options).inOrder();
    },
    executeConfirmed: async (confirmed, options = {}) => {
      const { call, by, digest, isUsed } = takeConfirmed(confirmed);
      const made = new Call(parts, call, call.callId, by, options);
      if (isUsed) return made.refuse(unconfirmed('the confirmation has been used already'));
      if (digest !== callDigest(call))
        return made.refuse(unconfirmed('the confirmation is for another call than this'));
      return made.inOrder();
    },
  };
}

function unconfirmed(because: string): Refusal {
  return { stage: 'policy', category: 'confirmation_required', because };
}

/** One call on its way. */
class Call {
  readonly #parts: ExecutionParts;
  readonly #call: ToolCall;
  readonly #countedAs: string;
  /** Who has said yes to what the policy asks. */
  readonly #confirmedBy: string | undefined;
  readonly #options: ExecuteOptions;
  readonly #startedAt = performance.now();
  #claimed: ClaimedCall | undefined;
  #approvedBy = 'auto';

  constructor(
    parts: ExecutionParts,
    call: ToolCall,
    countedAs: string,
    confirmedBy: string | undefined,
    options: ExecuteOptions,
  ) {
    this.#parts = parts;
    this.#call = call;
    this.#countedAs = countedAs;
    this.#confirmedBy = confirmedBy;
    this.#options = options;
  }

  /** kill switch → authorisation → policy → quota → trust → run → audit → report; the first no ends it. */
  async inOrder(): Promise<Executed> {
    const { controls, executor, rules, audit, sandbox } = this.#parts;
    const stopped = await refusedByKillSwitch(controls);
    if (stopped !== undefined) return this.refuse(stopped);
    const claimed = claimedBy(executor, this.#call);
    if ('stage' in claimed) return this.refuse(claimed);
    this.#claimed = claimed;
    const paths = await touchedPaths(rules.files, claimed.intent.paths);
    const unauthorised = refusedByAuthorisation(rules, this.#call, claimed, paths, sandbox);
    if (unauthorised !== undefined) return this.refuse(unauthorised);
    const policy = judgedByPolicy(rules, claimed, paths, this.#circumstances());
    if (policy.verdict === 'deny')
      return this.refuse({ stage: 'policy', category: 'policy_blocked', because: policy.because });
    const overdrawn = await refusedByQuota(rules, this.#call, this.#countedAs, controls);
    if (overdrawn !== undefined) return this.refuse(overdrawn);
    await requireAudit(audit);
    return this.#underTrust(claimed, this.#answered(policy));
  }

  /** A question of the policy that somebody has answered is none any more. */
  #answered(policy: PolicyAnswer): PolicyAnswer {
    if (policy.verdict !== 'ask' || this.#confirmedBy === undefined) return policy;
    this.#approvedBy = this.#confirmedBy;
    return { verdict: 'allow' };
  }

  #circumstances() {
    return {
      status: this.#status(),
      isGlassBroken: this.#parts.gate !== undefined && this.#parts.gate.brokenGlassUntil !== null,
    };
  }

  #status(): Status {
    const { tool, server, args, agent } = this.#call;
    const decision = this.#parts.gate?.check({ tool, server, args, ...(agent === undefined ? {} : { agent }) });
    return decision?.escalation?.state ?? 'TRUSTED';
  }

  async #underTrust(claimed: ClaimedCall, policy: PolicyAnswer): Promise<Executed> {
    const { gate } = this.#parts;
    const because = policy.verdict === 'allow' ? '' : policy.because;
    if (gate === undefined) {
      if (policy.verdict !== 'allow') return this.#ask(because, undefined);
      return this.#ended(await runClaimed(this.#parts, claimed, this.#options));
    }
    const { tool: name, server, args, callId, agent, session } = this.#call;
    let ended: Executed | undefined;
    let unwritten: { readonly error: unknown } | undefined;
    const run = async (given: unknown): Promise<unknown> => {
      const ran = given === args ? await runClaimed(this.#parts, claimed, this.#options) : await this.#runEdited(given);
      // Written before the gate tells the ledger; where that fails the tool is not to blame, and nobody gets the result.
      ended = await this.#ended(ran).catch((error: unknown) => {
        unwritten = { error };
        return undefined;
      });
      if (ran.output?.value !== undefined && ran.error?.category !== 'cancelled' && ran.output.failure === undefined)
        return ran.output.value;
      if (ran.error !== undefined) throw new ToolFailed(ran.error, ran.cause);
      return ran.output?.value;
    };
    const guarded = gate.guard({ server, name }, run, {
      permission: () => policy.verdict,
      ...(this.#options.approvalWaitMs === undefined
        ? { approvalWaitMs: 0 }
        : { approvalWaitMs: this.#options.approvalWaitMs }),
    });
    const who = { ...(agent === undefined ? {} : { agent }), ...(session === undefined ? {} : { session }) };
    if (gate.check({ tool: name, server, args, ...who, permission: policy.verdict }).decision === 'ask')
      this.#approvedBy = 'gate';
    try {
      await guarded(args, { callId, ...who });
    } catch (error) {
      if (ended === undefined && unwritten === undefined) return this.#notAdmitted(error, because);
    }
    if (unwritten !== undefined) throw unwritten.error;
    if (ended === undefined) throw new Error('a call ended without an outcome');
    return ended;
  }

  /** Arguments that a person has changed take the same way as any others, but for the question. */
  async #runEdited(args: unknown): Promise<Ran> {
    const { rules, executor, sandbox } = this.#parts;
    const refused = ({ category, because }: Pick<Refusal, 'category' | 'because'>): Ran => ({
      ...{ output: undefined, attempts: 0, cause: undefined, stage: 'policy' },
      error: toolError(category, because),
    });
    const call = { ...this.#call, args };
    const claimed = claimedBy(executor, call);
    if ('stage' in claimed) return refused(claimed);
    const paths = await touchedPaths(rules.files, claimed.intent.paths);
    const unauthorised = refusedByAuthorisation(rules, call, claimed, paths, sandbox);
    if (unauthorised !== undefined) return refused(unauthorised);
    const policy = judgedByPolicy(rules, claimed, paths, this.#circumstances());
    if (policy.verdict === 'deny') return refused({ category: 'policy_blocked', because: policy.because });
    this.#claimed = claimed;
    return runClaimed(this.#parts, claimed, this.#options);
  }

  #notAdmitted(error: unknown, because: string): Promise<Executed> {
    if (error instanceof ApprovalRequired) return this.#ask(because || error.message, error.approval);
    if (error instanceof NotApproved)
      return this.refuse({ stage: 'trust', category: 'policy_blocked', because: error.message });
    if (!(error instanceof CallDenied)) throw error;
    const { because: why, retryAfter } = error.decision;
    const later = retryAfter === undefined ? {} : { retryAt: Date.now() + retryAfter * 1000 };
    return this.refuse({ stage: 'trust', category: 'policy_blocked', because: why, ...later });
  }

  async refuse(refusal: Refusal): Promise<Executed> {
    const { callId } = this.#call;
    const error = toolError(refusal.category, refusal.because);
    await this.#write({ error, output: undefined, stage: refusal.stage });
    return { status: 'refused', callId, error, refusal };
  }

  async #ask(because: string, approval: string | undefined): Promise<Executed> {
    const { callId } = this.#call;
    const error = toolError('confirmation_required', because);
    await this.#write({ error, output: undefined, stage: 'policy' });
    const question = { call: this.#call, because, approval, digest: callDigest(this.#call) };
    return { status: 'ask', callId, error, question };
  }

  async #ended({ output, error, attempts, stage }: Ran): Promise<Executed> {
    const { callId } = this.#call;
    await this.#write({ output, error, stage });
    if (error === undefined && output !== undefined) return { status: 'done', callId, output, attempts };
    if (error !== undefined && stage !== 'run') {
      return { status: 'refused', callId, error, refusal: { stage, category: error.category, because: error.message } };
    }
    return {
      status: 'failed',
      callId,
      error: error ?? toolError('permanent_failure', 'it gave nothing'),
      output,
      attempts,
    };
  }

  async #write(how: Pick<Ended, 'error' | 'output' | 'stage'>): Promise<void> {
    const { audit, gate } = this.#parts;
    await audit.append(
      entryOf({
        ...how,
        call: this.#call,
        command: this.#claimed?.intent.command,
        durationMs: performance.now() - this.#startedAt,
        trust: gate === undefined ? 'not consulted' : this.#status(),
        approvedBy: this.#approvedBy,
      }),
    );
  }
}

/** For the gate's report. What a policy or a person stopped is said so that it is not held against the tool. */
class ToolFailed extends Error {
  override readonly name = 'ToolFailed';
  constructor({ category, message }: ToolError, cause: unknown) {
    const isRefusal = category === 'policy_blocked' || category === 'confirmation_required';
    super(
      isRefusal
        ? `refused by policy: ${message}`
        : category === 'cancelled'
          ? `cancelled by the operator: ${message}`
          : message,
      cause === undefined ? {} : { cause },
    );
  }
}
