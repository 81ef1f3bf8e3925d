import { TooManyQuestions } from '../domain/approval/too-many-questions.ts';
import type { Ask, Deny } from '../domain/gate/decision.ts';

/** The call was not made: a person has to approve it first. */
export class ApprovalRequired extends Error {
  override readonly name = 'ApprovalRequired';
  readonly decision: Ask;
  /** What a person should read before deciding. */
  readonly prompt: string;
  /** The question that is open; absent where nobody could be asked. */
  readonly approval: string | undefined;
  constructor(decision: Ask, prompt: string, approval?: string) {
    super(decision.because);
    this.decision = decision;
    this.prompt = prompt;
    this.approval = approval;
  }
  get escalation() {
    return this.decision.escalation;
  }
}

/** The call was not made: the question about it ended without an approval. `status` says how. */
export class NotApproved extends Error {
  override readonly name = 'NotApproved';
  readonly approval: string;
  /** Expired is nobody's denial: asking again asks anew. */
  readonly status: 'denied' | 'expired' | 'withdrawn';
  readonly by: string | null;
  readonly reason: string;
  constructor(ended: { id: string; status: NotApproved['status']; by: string | null; reason: string | null }) {
    const by = ended.by === null ? '' : ` by ${ended.by}`;
    const why = ended.reason === null || ended.reason === '' ? '' : `: ${ended.reason}`;
    super(`${ended.status}${by}${why}`);
    this.approval = ended.id;
    this.status = ended.status;
    this.by = ended.by;
    this.reason = ended.reason ?? '';
  }
}

/** The call was not made and no approval would change that. */
export class CallDenied extends Error {
  override readonly name = 'CallDenied';
  readonly decision: Deny;
  constructor(decision: Deny) {
    super(decision.because);
    this.decision = decision;
  }
  get escalation() {
    return this.decision.escalation;
  }
}

/** The call was not made: it is held, and its arguments hold what a person could not be shown. */
export class NotShowable extends TypeError {
  override readonly name = 'NotShowable';
}

/** The report was not taken: more are waiting than the buffer holds. Try again, or slow down. */
export class BufferFull extends Error {
  override readonly name = 'BufferFull';
  readonly limit: number;
  constructor(limit: number) {
    super(`${limit} reports are waiting to be recorded; this one was not taken`);
    this.limit = limit;
  }
}

/** The report cannot be understood; nothing was recorded. */
export class InvalidReport extends TypeError {
  override readonly name = 'InvalidReport';
}

/** The gate was closed before the report became durable. It may or may not have been recorded; sending it again is safe. */
export class NotRecorded extends Error {
  override readonly name = 'NotRecorded';
}

/** The server in front of the ledger answered, and the answer was no. */
export class Refused extends Error {
  override readonly name = 'Refused';
  /** Of its answer, by HTTP. */
  readonly status: number;
  /** Which problem it is, where the status does not say. */
  readonly type: string | undefined;
  constructor(status: number, detail: string, type?: string) {
    super(detail);
    this.status = status;
    this.type = type;
  }
}

/** How a server says that nobody was asked because too much is asked already. */
export const TOO_MANY_QUESTIONS = 'urn:surety:too-many-questions';

/** Whether waiting for an answer is of no use: what is sent is wrong, too large, or whoever sends it may not, or asks too much. */
export function isFinal(error: unknown): boolean {
  if (error instanceof TooManyQuestions) return true;
  return error instanceof Refused && [400, 401, 403, 413, 415, 422].includes(error.status);
}
