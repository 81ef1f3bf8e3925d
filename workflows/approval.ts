import {
  ApplicationFailure,
  condition,
  continueAsNew,
  isCancellation,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { begin, climb, nextRung, receive } from '../src/domain/approval/approval.ts';
import type { ApprovalState, End, Message, Question, Rung, Speaker, Step } from '../src/domain/approval/approval.ts';
import { approvalDetails } from '../src/domain/approval/describe.ts';
import { readSignal } from '../src/domain/approval/message.ts';
import type { Signalled, Verb } from '../src/domain/approval/message.ts';
import { credentialIn } from '../src/domain/approval/secret-value.ts';
import type { ApprovalTerms } from '../src/domain/rules/rules.schema.ts';
import { SuretyDueAt, SuretyState } from '../src/temporal/search-attributes.ts';
import { createAlarm } from './alarm.ts';
import * as messages from './approval-messages.ts';

export interface ApprovalInput {
  /** Of its row. */
  readonly id: string;
  readonly askedAt: number;
  readonly terms: ApprovalTerms;
  readonly question: Question;
  /** For people, without secrets: the tool, and why it is held. */
  readonly tool: string;
  readonly because: string;
  /** Where it stands, after continue-as-new or where its workflow had to be started again. */
  readonly carried?: ApprovalState;
}

export interface ApprovalResult {
  readonly status: ApprovalState['status'];
  readonly end?: End;
}

// The clock decides and the row is written as often as it takes: with the ledger away a decision waits here.
const ledger = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});

// Reading who has decided is short and may run twice: a marker in the history instead of three events.
const quickly = proxyLocalActivities<Activities>({
  startToCloseTimeout: '5 seconds',
  retry: { maximumAttempts: 2, initialInterval: '100 milliseconds' },
});

/** Short enough that a cold worker replays it in a blink. */
const LONGEST_HISTORY = 400;

/** One question to a person, open until somebody or time decides. Its result is the decision, once its grant is written. */
export async function approval(input: ApprovalInput): Promise<ApprovalResult> {
  refuseMalformed(input);
  const { id, terms, question } = input;
  let state = input.carried ?? begin(input.askedAt, terms);
  const inbox: (Signalled | string)[] = [];
  const alarm = createAlarm();
  for (const verb of ['approve', 'deny', 'extend', 'withdraw'] as const satisfies readonly Verb[]) {
    setHandler(messages[verb], (payload) => void inbox.push(readSignal(verb, payload, Date.now())));
  }
  setDefaultSignalHandler((name) => void inbox.push(`there is no signal ${JSON.stringify(name.slice(0, 40))}`));
  setHandler(messages.approvalState, () => state);

  const show = () => {
    setCurrentDetails(approvalDetails(input, state));
    upsertSearchAttributes([
      { key: SuretyState, value: state.status.toUpperCase() },
      { key: SuretyDueAt, value: state.status === 'pending' ? new Date(state.expiresAt) : null },
    ]);
  };
  const write = (action: string, actor: string, reason: string, decision?: string) =>
    ledger.writeApproval({ id, state, terms, action, actor, reason, ...(decision === undefined ? {} : { decision }) });

  const refuse = (speaker: Speaker, because: string, decision?: string) =>
    ledger.refuseDecision({ approval: id, by: speaker.by, because, ...(decision === undefined ? {} : { decision }) });
  const take = async (signalled: Signalled | string) => {
    const { message, speaker, ownersNow, decision, complaint } = await understood(id, signalled, terms);
    const asked = ownersNow === undefined ? question : { ...question, ownersNow };
    const step: Step =
      message === undefined
        ? { state, refused: complaint }
        : receive(state, message, withdrawing(message, speaker), asked, terms);
    if (message === undefined || step.refused !== undefined) {
      await refuse(speaker, step.refused ?? complaint, decision);
      return;
    }
    ({ state } = step);
    const action = state.status === 'pending' ? PENDING_ACTION[message.type] : state.status;
    await write(`approval ${action}`, speaker.by, message.reason, decision);
    show();
  };

  const hasUnheard = async () => {
    const unheard = await ledger.unheardDecisions(id);
    inbox.push(...unheard.map((decision) => ({ decision })));
    return unheard.length > 0;
  };

  show();
  while (state.status === 'pending') {
    const rung = nextRung(state, terms);
    alarm.set(rung === undefined ? undefined : { at: rung.at, what: WHAT[rung.what] }, Date.now());
    await condition(() => inbox.length > 0 || alarm.ringing());
    alarm.silence();
    const signalled = inbox.shift();
    if (signalled !== undefined) {
      await take(signalled);
    } else if (rung?.what === 'expire' && Date.now() >= rung.at && (await hasUnheard())) {
      // What somebody decided in time counts, however late the worker is: the decisions are in the inbox now.
    } else if (rung !== undefined && Date.now() >= rung.at) {
      state = climb(state, rung);
      await write(`approval ${CLIMBED[rung.what]}`, 'surety', state.end?.reason ?? input.because);
      show();
    }
    // Nothing may be awaited between this look at the inbox and continuing.
    if (state.status === 'pending' && inbox.length === 0 && workflowInfo().historyLength > LONGEST_HISTORY) {
      await continueAsNew<typeof approval>({ ...input, carried: state });
    }
  }
  // Whoever was too late is told so.
  for (let late = inbox.shift(); late !== undefined; late = inbox.shift()) await take(late);
  return { status: state.status, ...(state.end === undefined ? {} : { end: state.end }) };
}

/** Anybody with access to the namespace may start this workflow, with anything. */
function refuseMalformed(input: unknown): void {
  const { id, askedAt, terms, question } = (typeof input === 'object' ? (input ?? {}) : {}) as Partial<ApprovalInput>;
  const isWhole =
    typeof id === 'string' &&
    typeof askedAt === 'number' &&
    Number.isFinite(terms?.expiresAfterSeconds) &&
    Array.isArray(terms?.approvers) &&
    Array.isArray(terms.remindAt) &&
    typeof question === 'object';
  if (!isWhole) {
    throw ApplicationFailure.nonRetryable(
      'approval is started by Surety, for a question in its ledger',
      'InvalidInput',
    );
  }
}

const WHAT: Readonly<Record<Rung['what'], string>> = {
  remind: 'reminder to whoever was asked',
  next: 'the next approver is asked',
  expire: 'the question expires',
};
const CLIMBED: Readonly<Record<Rung['what'], string>> = { remind: 'reminded', next: 'passed on', expire: 'expired' };
const PENDING_ACTION: Readonly<Record<Message['type'], string>> = {
  approve: 'agreed to',
  extend: 'extended',
  deny: 'denied',
  withdraw: 'withdrawn',
};

interface Understood {
  readonly message?: Message;
  readonly speaker: Speaker;
  readonly ownersNow?: readonly string[];
  readonly decision?: string;
  readonly complaint: string;
}

const NOBODY: Speaker = { by: 'unknown', person: 'unknown', verified: false, isAgent: false, mayDecide: false };

/** Who speaks is looked up, never believed. */
async function understood(id: string, signalled: Signalled | string, terms: ApprovalTerms): Promise<Understood> {
  if (typeof signalled === 'string') return { speaker: NOBODY, complaint: signalled };
  if ('bare' in signalled) {
    const { bare } = signalled;
    const credential = bare.type === 'approve' ? credentialIn(bare.grant.pattern ?? {}) : undefined;
    if (credential !== undefined && patched('no-credentials-in-patterns'))
      return { speaker: NOBODY, complaint: credential };
    const mayDecide = terms.unverified || (await surely((activities) => activities.bareSignalsCount()));
    const isTakenAtItsWord = !patched('names-are-proven');
    const { by } = signalled;
    const speaker = { by, person: by, verified: false, isAgent: false, mayDecide, isTakenAtItsWord };
    return { message: bare, speaker, complaint: '' };
  }
  const { decision } = signalled;
  const written = await surely((activities) => activities.readDecision(id, decision));
  if (written === undefined) return { speaker: NOBODY, decision, complaint: 'there is no such decision' };
  return { ...written, decision, complaint: '' };
}

/** In runs from before taking back was judged like a decision, whoever may decide may take back. */
function withdrawing(message: Message, speaker: Speaker): Speaker {
  const isJudged =
    message.type !== 'withdraw' || speaker.isAgent || !speaker.mayDecide || patched('withdrawing-is-judged');
  return isJudged ? speaker : { ...speaker, mayWithdraw: true };
}

type Reads = Pick<typeof ledger, 'readDecision' | 'bareSignalsCount'>;

/** Quickly, or else as often as it takes: a decision that cannot be looked up now waits here. */
async function surely<T>(look: (activities: Reads) => Promise<T>): Promise<T> {
  try {
    return await look(quickly);
  } catch (error) {
    if (isCancellation(error)) throw error;
    return look(ledger);
  }
}
