import type { Ask, Deny } from '../domain/gate/decision.ts';

/** The call was not made: a person has to approve it first. */
export class ApprovalRequired extends Error {
  override readonly name = 'ApprovalRequired';
  readonly decision: Ask;
  /** What a person should read before deciding. */
  readonly prompt: string;
  constructor(decision: Ask, prompt: string) {
    super(decision.because);
    this.decision = decision;
    this.prompt = prompt;
  }
  get escalation() {
    return this.decision.escalation;
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
