import { isAbout, isWithin, withSeen } from '../domain/approval/about.ts';
import type { HeldNow, Seen } from '../domain/approval/about.ts';
import { heldBy } from '../domain/gate/decision.ts';
import type { Ask, Decision } from '../domain/gate/decision.ts';
import { promptFor } from '../domain/gate/prompt.ts';
import { scopesOf } from '../domain/key/scope.ts';
import { argumentsDigest } from '../domain/outcome/digest.ts';
import { notShownAsJson } from '../domain/outcome/plain-data.ts';
import { redactText } from '../domain/outcome/redact.ts';
import { summarise } from '../domain/outcome/summary.ts';
import { ruleForScope } from '../domain/rules/resolve.ts';
import { createWaker, pause } from '../pause.ts';
import type { Asked } from '../postgres/approval-ask.ts';
import type { Consumed } from '../postgres/grants.ts';
import type { Approvals, RunningCall } from './backend.ts';
import { ApprovalRequired, CallDenied, isFinal, NotApproved, NotShowable } from './errors.ts';
import type { ToolGate } from './tool-gate.ts';
import type { View } from './view.ts';

export interface HeldCall {
  readonly tool: ToolGate;
  readonly view: View;
  readonly approvals: Approvals | undefined;
  readonly args: unknown;
  readonly call: {
    readonly callId: string;
    readonly agent?: string;
    readonly owner?: string;
    readonly session?: string;
    readonly scope?: string;
  };
  readonly check: () => Decision;
  /** The call as the ledger knows it. */
  readonly ledgerId: string;
  /** Epoch milliseconds; Infinity to wait as long as the question is open. */
  readonly until: number;
  /** Aborted when nobody waits any more: the gate is closed, or the caller has gone. */
  readonly over: AbortSignal;
  /** Digest of what the tool says it is, where that is known. */
  readonly definition: string | undefined;
  /** Nothing had been seen of the tool when a person was asked: what others have run since is no answer to this call. */
  isOfUnknown?: boolean;
  /** What was asked about this call. */
  question?: Asked | undefined;
  /** What whoever was asked was told is held. */
  told?: HeldNow;
}

/**
 * Asks and does not wait. Undefined where nothing holds the call, unless the caller has a reason of its own to ask.
 */
export async function askAbout(
  held: HeldCall,
  { because, seen }: { readonly because?: string; readonly seen?: Seen },
): Promise<Asked | undefined> {
  const { approvals, check } = held;
  const decision = check();
  if (decision.decision === 'deny') throw new CallDenied(decision);
  const asking: Ask | undefined =
    decision.decision === 'ask'
      ? decision
      : because === undefined
        ? undefined
        : { decision: 'ask', via: 'person', because: claimed(because) };
  if (asking === undefined) return undefined;
  if (approvals === undefined) throw refused(held, asking);
  refuseUnshowable(held.args);
  const { tool, call, definition } = held;
  if (definition !== undefined) await approvals.define({ key: tool.key, definition, agent: call.agent });
  const question = questionOf(held, asking);
  return approvals.ask({ ...question, held: withSeen(question.held, seen) });
}

const CLAIM = 'the agent says: ';

/** What an agent says for itself is told from what Surety says, wherever it is read; another gate may have said so already. */
function claimed(because: string): string {
  return because.startsWith(CLAIM) ? because : `${CLAIM}${because}`;
}

/** Besides being told, look after so long: a notification may be lost, and the tool may have recovered meanwhile. */
const LOOK_AGAIN_MS = 2000;
/** Whoever writes the question down may be about to learn what this process knows already. */
const ASK_ANEW_MS = 200;

/**
 * Asks a person and waits. Answers the grant the call may run under, or undefined where the gate is to be asked again:
 * what is held against the call has changed. A call that asks again, also after a crash, finds the question it asked before.
 */
export async function untilDecided(held: HeldCall, decision: Ask): Promise<Consumed | undefined> {
  const { approvals, until, check } = held;
  if (approvals === undefined) throw refused(held, decision);
  refuseUnshowable(held.args);
  for (;;) {
    held.question ??= await askInTime(held, approvals, decision);
    if (held.question !== undefined) held.question = await untilOver(held, approvals, held.question);
    const { question } = held;
    const now = check();
    // Whatever a person says: what is blocked meanwhile is denied, and what is no longer held needs nobody.
    if (now.decision !== 'ask' || (now.via !== decision.via && question?.status !== 'approved')) return undefined;
    if (question !== undefined && isOvertaken(question, held.told, now)) {
      // A person was asked, or has even answered, about less than what is held now.
      held.question = undefined;
      await pause(ASK_ANEW_MS, held.over);
    } else if (question?.status === 'approved') {
      const consumed = await consumeInTime(held, approvals, question.id);
      if (consumed !== undefined) return consumed;
      // Another call was faster, or it was revoked: what is still held is asked about anew.
      held.view.grants.spend(held.tool.key, question.id);
      held.question = undefined;
      await pause(ASK_ANEW_MS, held.over);
    } else if (question?.status === 'withdrawn' && isTidiedAway(question)) {
      held.question = undefined;
    } else if (question !== undefined && question.status !== 'pending') {
      throw new NotApproved({ ...question, status: question.status });
    }
    if (Date.now() >= until || held.over.aborted) throw refused(held, decision, question?.id);
    // What is held now is asked about; and a lease may be free by now.
    if (held.question === undefined || decision.via === 'probe') return undefined;
  }
}

export function runningCall({ ledgerId, args, call, definition }: HeldCall): RunningCall {
  const { scope, session } = call;
  return { callId: ledgerId, givenId: call.callId, digest: argumentsDigest(args), args, scope, session, definition };
}

/** A denial stands, whatever else there is; and what was said when it was asked is known, whatever clock it was said by. */
function isOvertaken({ status, about }: Asked, told: HeldNow | undefined, now: Ask): boolean {
  if (status !== 'pending' && status !== 'approved') return false;
  const held = heldBy(now);
  return !isAbout(about, held) && (told === undefined || !isWithin(told, held));
}

/** Whoever took it back no longer needed it; this call may. */
function isTidiedAway({ by }: Asked): boolean {
  return by === 'surety' || by?.startsWith('surety for ') === true;
}

/** Takes back a question that nobody needs an answer to. Only tidies: what nobody waits for expires by itself. */
export async function dropQuestion({ question, approvals }: HeldCall, because: string): Promise<void> {
  if (question?.status === 'pending') await takeBack(approvals, question.id, because);
}

export async function takeBack(approvals: Approvals | undefined, question: string, because: string): Promise<void> {
  await approvals?.withdraw(question, 'surety', because).catch(() => undefined);
}

/** A person would be shown something else instead, and decide about that. */
function refuseUnshowable(args: unknown): void {
  const found = notShownAsJson(args);
  if (found === undefined) return;
  throw new NotShowable(
    `a person cannot be asked about this call: ${found}; pass it as text, numbers and plain objects`,
  );
}

/** With the ledger away nobody can be asked; that may pass. */
async function askInTime(held: HeldCall, approvals: Approvals, decision: Ask): Promise<Asked | undefined> {
  try {
    const question = questionOf(held, decision);
    held.told = question.held;
    return await approvals.ask(question);
  } catch (error) {
    if (isFinal(error)) throw error;
    if (Date.now() + LOOK_AGAIN_MS >= held.until) throw refused(held, decision, undefined, error);
    await pause(LOOK_AGAIN_MS, held.over);
    return undefined;
  }
}

/** What a person has granted is not lost because the ledger is away: the same call gets it when it is back. */
export async function consumeInTime(
  held: HeldCall,
  approvals: Approvals,
  grant: string,
): Promise<Consumed | undefined> {
  for (let wait = ASK_ANEW_MS; ; wait = Math.min(wait * 2, LOOK_AGAIN_MS)) {
    try {
      return await approvals.consume(grant, runningCall(held));
    } catch (error) {
      const { over } = held;
      const isOver = isFinal(error) || error instanceof CallDenied;
      if (isOver || over.aborted || Date.now() + wait >= held.until) throw error;
      await pause(wait, over);
    }
  }
}

/** Until it is over, the time is up, or it is time to see how the tool stands. */
async function untilOver({ view, until, over }: HeldCall, approvals: Approvals, asked: Asked): Promise<Asked> {
  if (asked.status !== 'pending' || Date.now() >= until) return asked;
  const waker = createWaker();
  const stop = view.waiters.add(asked.id, waker.wake);
  const look = async () => {
    const found = await approvals.read(asked.id).catch((error: unknown) => {
      if (isFinal(error)) throw error;
      return undefined;
    });
    return found ?? asked;
  };
  try {
    // Once listening, because it may have been decided before that.
    const now = await look();
    if (now.status !== 'pending') return now;
    await waker.sleep(Math.min(LOOK_AGAIN_MS, until - Date.now()), over);
    return await look();
  } finally {
    stop();
  }
}

function questionOf({ tool, view, args, call, ledgerId, definition }: HeldCall, decision: Ask) {
  const [scope] = scopesOf(tool.name, args, call.scope);
  const { rule } = ruleForScope(tool.rules, scope ?? '');
  return {
    toolKey: tool.key,
    server: tool.server,
    tool: tool.name,
    scope,
    claimedScope: call.scope,
    agent: call.agent,
    owner: call.owner,
    session: call.session,
    callId: ledgerId,
    givenId: call.callId,
    digest: argumentsDigest(args),
    args,
    definition,
    because: redactText(decision.because, 500),
    held: heldBy(decision),
    risk: rule.risk,
    terms: rule.approval,
    mostOpen: view.settings.rules.maxOpenQuestions,
  };
}

function refused({ tool, args }: HeldCall, decision: Ask, approval?: string, cause?: unknown): ApprovalRequired {
  const summary = Object.entries(summarise(tool.name, args)).map(([key, value]) => `${key} ${value}`);
  const prompt = promptFor(tool.name, summary.join(', ') || 'no arguments', decision);
  const error = new ApprovalRequired(decision, prompt, approval);
  return cause === undefined ? error : Object.assign(error, { cause });
}
