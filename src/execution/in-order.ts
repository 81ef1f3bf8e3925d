import { errorOf, toolError } from '../domain/execution/errors.ts';
import type { Status } from '../domain/trust/trust.ts';
import { ApprovalRequired, CallDenied, NotApproved } from '../gate/errors.ts';
import type { Gate } from '../gate/gate.ts';
import type { Leave } from '../gate/guard.ts';
import type { Audit } from './audit/audit.ts';
import type { ClaimedCall, Executed, Refusal, Stage, ToolCall } from './call.ts';
import { callDigest } from './confirmation.ts';
import { enter } from './entrance.ts';
import type { Entered } from './entrance.ts';
import type { ExecuteOptions } from './execute.ts';
import { touchedPaths } from './paths.ts';
import type { TouchedPath } from './paths.ts';
import { entryOf, requireAudit } from './record.ts';
import type { Ended } from './record.ts';
import { runClaimed, STOPPED_BEFORE } from './run-claimed.ts';
import type { Ran } from './run-claimed.ts';
import {
  authorisedPaths,
  claimedBy,
  judgedByPolicy,
  refusedByAuthorisation,
  refusedByKillSwitch,
  refusedByQuota,
} from './stages.ts';
import type { Controls, PolicyAnswer } from './stages.ts';
import type { Terms, TermsInForce } from './terms.ts';
import { ToolFailed } from './tool-failed.ts';

export interface ExecutionParts {
  readonly terms: TermsInForce;
  readonly audit: Audit;
  /** Absent where there is no ledger: then trust is not consulted and nobody can be asked. */
  readonly gate: Gate | undefined;
  readonly controls: Controls | undefined;
}

/** What is known of a call before it begins. */
interface Before {
  /** Where calls are noted whose share of the quota has been taken. */
  readonly counted: WeakSet<ToolCall>;
  readonly isCounted?: boolean;
  /** Who has said yes to what the policy asks. */
  readonly confirmedBy?: string;
}

interface Judged {
  readonly claimed: ClaimedCall;
  readonly policy: PolicyAnswer;
}

/** What a call would be answered before its turn comes: quota and trust are not consulted. */
export interface Preview {
  readonly verdict: PolicyAnswer['verdict'];
  readonly because: string;
  /** Of the paths, those that speak against it. */
  readonly paths: readonly TouchedPath[];
}

/** One call on its way. */
export class CallInOrder {
  readonly #parts: ExecutionParts;
  readonly #entered: Entered;
  readonly #call: ToolCall;
  readonly #options: ExecuteOptions;
  readonly #before: Before;
  readonly #startedAt = performance.now();
  #terms: Terms;
  #claimed: ClaimedCall | undefined;
  /** The call with the arguments that a person has put in the place of its own. */
  #edited: ToolCall | undefined;
  #touched: readonly TouchedPath[] = [];
  #approvedBy: string | undefined;
  #isProbe = false;

  constructor(parts: ExecutionParts, entered: Entered, options: ExecuteOptions, before: Before) {
    this.#parts = parts;
    this.#entered = entered;
    this.#call = entered.call;
    this.#options = options;
    this.#before = before;
    this.#terms = parts.terms.current;
  }

  /** kill switch → authorisation → policy → quota → trust → run → audit → report; the first no ends it. */
  async inOrder(): Promise<Executed> {
    const { controls, audit, terms } = this.#parts;
    const { counted, isCounted = false } = this.#before;
    const stopped = await refusedByKillSwitch(controls);
    if (stopped !== undefined) return this.refuse(stopped);
    // Before anything is counted or asked: whoever has stopped it has not used up a yes, either.
    if (this.#options.stopped?.aborted === true) return this.#ended(STOPPED_BEFORE);
    if (this.#entered.flaw !== undefined)
      return this.refuse({ stage: 'claim', category: 'invalid_parameters', because: this.#entered.flaw });
    this.#terms = await terms.renewed();
    const judged = await this.#judge(this.#call);
    if ('stage' in judged) return this.refuse(judged);
    const overdrawn = isCounted ? undefined : await refusedByQuota(this.#terms.rules, this.#call, controls);
    if (overdrawn !== undefined) return this.refuse(overdrawn);
    counted.add(this.#call);
    await requireAudit(audit);
    return this.#underTrust(judged.claimed, this.#answered(judged.policy));
  }

  /** The same judgement as before a run; nothing is counted, asked, written or run. */
  async preview(): Promise<Preview> {
    const { controls, terms } = this.#parts;
    const { flaw } = this.#entered;
    this.#terms = await terms.renewed();
    const stopped = await refusedByKillSwitch(controls);
    const judged = stopped ?? (flaw === undefined ? await this.#judge(this.#call) : { because: flaw });
    const paths = this.#touched.filter(({ refusal, question, known }) => refusal ?? question ?? !known);
    if (!('policy' in judged)) return { verdict: 'deny', because: judged.because, paths };
    const { policy } = judged;
    return { verdict: policy.verdict, because: policy.verdict === 'allow' ? '' : policy.because, paths };
  }

  /** Claim, authorisation and policy, by the terms in force: what can be said of a call without counting or asking. */
  async #judge(call: ToolCall): Promise<Refusal | Judged> {
    const { rules, executor, sandbox, commandFiles } = this.#terms;
    const claimed = await this.#claim(() => claimedBy(executor, call));
    if ('stage' in claimed) return claimed;
    this.#claimed = claimed;
    const { command, paths: named } = claimed.intent;
    const paths = await touchedPaths(command === undefined ? rules.files : commandFiles, named);
    this.#touched = paths;
    const unauthorised = refusedByAuthorisation(rules, call, claimed, paths, sandbox);
    if (unauthorised !== undefined) return unauthorised;
    const policy = judgedByPolicy(rules, claimed, paths, this.#circumstances());
    if (policy.verdict !== 'deny') return { claimed, policy };
    return { stage: 'policy', category: policy.category, because: policy.because };
  }

  /** Whoever breaks while claiming ends the search, and that is an outcome with a line like any other. */
  async #claim(claim: () => ClaimedCall | Refusal): Promise<ClaimedCall | Refusal> {
    try {
      return claim();
    } catch (cause) {
      const error = errorOf({ tool: this.#call.tool, error: cause });
      await this.#write({ error, output: undefined, stage: 'claim' });
      throw cause;
    }
  }

  /** A question of the policy that somebody has answered is none any more. */
  #answered(policy: PolicyAnswer): PolicyAnswer {
    const { confirmedBy } = this.#before;
    if (policy.verdict === 'allow') this.#approvedBy = policy.by ?? this.#approvedBy;
    if (policy.verdict !== 'ask' || confirmedBy === undefined) return policy;
    this.#approvedBy = confirmedBy;
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
      if (policy.verdict !== 'allow') return this.#ask(because, undefined, 'policy');
      return this.#ended(await this.#runAdmitted(this.#call.args, claimed, policy));
    }
    const { tool: name, server, args, callId, agent, session } = this.#call;
    let ended: Executed | undefined;
    let unwritten: { readonly error: unknown } | undefined;
    const run = async (given: unknown, { grant, isProbe }: Leave): Promise<unknown> => {
      this.#approvedBy = grant?.by ?? this.#approvedBy;
      this.#isProbe = isProbe;
      const ran = await this.#runAdmitted(given, claimed, policy);
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
    const { approvalWaitMs = 0, stopped } = this.#options;
    const { risk } = claimed;
    const permission = { decision: policy.verdict, because };
    const guarded = gate.guard({ server, name }, run, { permission: () => permission, approvalWaitMs, risk });
    const who = { ...(agent === undefined ? {} : { agent }), ...(session === undefined ? {} : { session }) };
    try {
      await guarded(args, { callId, ...who, ...(stopped === undefined ? {} : { stopped }) });
    } catch (error) {
      if (ended === undefined && unwritten === undefined) return this.#notAdmitted(error, because);
    }
    if (unwritten !== undefined) throw unwritten.error;
    if (ended === undefined) throw new Error('a call ended without an outcome');
    return ended;
  }

  /**
   * Runs what was admitted. What was not judged yet, because a person has changed the arguments or the rules have changed
   * while the call waited, is judged first.
   */
  async #runAdmitted(given: unknown, claimed: ClaimedCall, policy: PolicyAnswer): Promise<Ran> {
    const now = await this.#parts.terms.renewed();
    const isEdited = given !== this.#call.args;
    if (!isEdited && now === this.#terms) return this.#run(claimed, this.#call);
    this.#terms = now;
    const { call, flaw } = enter({ ...this.#call, args: given });
    if (isEdited) this.#edited = call;
    const judged: Refusal | Judged =
      flaw === undefined ? await this.#judge(call) : { stage: 'claim', category: 'invalid_parameters', because: flaw };
    if ('stage' in judged) return notRun(judged);
    const isAnswered = isEdited || policy.verdict === 'ask' || this.#before.confirmedBy !== undefined;
    if (judged.policy.verdict === 'ask' && !isAnswered)
      return notRun({ stage: 'policy', category: 'confirmation_required', because: judged.policy.because });
    return this.#run(judged.claimed, call);
  }

  #run(claimed: ClaimedCall, call: ToolCall): Promise<Ran> {
    const unauthorised = authorisedPaths(this.#terms.rules, call);
    return runClaimed(this.#terms, this.#parts.controls, claimed, { ...this.#options, unauthorised });
  }

  async #notAdmitted(error: unknown, because: string): Promise<Executed> {
    if (this.#options.stopped?.aborted === true) return this.#ended(STOPPED_BEFORE);
    if (error instanceof ApprovalRequired)
      return this.#ask(because || error.message, error.approval, because === '' ? 'trust' : 'policy');
    if (error instanceof NotApproved)
      return this.refuse({ stage: 'trust', category: 'policy_blocked', because: error.message });
    if (!(error instanceof CallDenied)) {
      await this.#write({ error: errorOf({ tool: this.#call.tool, error }), output: undefined, stage: 'trust' });
      throw error;
    }
    const { because: why, retryAfter } = error.decision;
    const later = retryAfter === undefined ? {} : { retryAt: Date.now() + retryAfter * 1000 };
    return this.refuse({ stage: 'trust', category: 'policy_blocked', because: why, ...later });
  }

  async refuse(refusal: Refusal): Promise<Executed> {
    const { callId } = this.#call;
    const plain = toolError(refusal.category, refusal.because);
    const error =
      refusal.retryAt === undefined
        ? plain
        : { ...plain, suggestion: 'Go on without it, and ask again after that time.' };
    await this.#write({ error, output: undefined, stage: refusal.stage });
    return { status: 'refused', callId, error, refusal };
  }

  async #ask(because: string, approval: string | undefined, stage: Stage): Promise<Executed> {
    const { callId } = this.#call;
    const error = toolError('confirmation_required', because);
    await this.#write({ error, output: undefined, stage });
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
        call: this.#edited ?? this.#call,
        original: this.#edited === undefined ? undefined : this.#call,
        command: this.#claimed?.intent.command,
        durationMs: performance.now() - this.#startedAt,
        trust: gate === undefined ? 'not consulted' : this.#status(),
        approvedBy: this.#approvedBy,
        isProbe: this.#isProbe,
      }),
    );
  }
}

/** Refused between being admitted and running. */
function notRun({ stage, category, because }: Refusal): Ran {
  return { output: undefined, attempts: 0, cause: undefined, stage, error: toolError(category, because) };
}
