import { argumentsDigest } from '../domain/outcome/digest.ts';
import { Id, LONGEST_ID } from '../domain/outcome/id.schema.ts';
import type { ToolCall } from './call.ts';

/** What a person is to be asked about one call. */
export interface ExecutionQuestion {
  readonly call: ToolCall;
  readonly because: string;
  /** The open question at the gate, where a person can be asked there. */
  readonly approval: string | undefined;
  /** Of tool, arguments, agent and session: what the answer is about. */
  readonly digest: string;
}

// Given by the class itself, which alone can.
let make: (question: ExecutionQuestion, by: string) => ConfirmedCall;
let take: (confirmed: ConfirmedCall) => Taken;

/**
 * A call together with somebody's yes to it. Only `answerQuestion` makes one, nothing can be read off it, and it is no
 * ToolCall: a wrapper can hand it on to `executeConfirmed` or drop it, and nothing else compiles.
 */
export class ConfirmedCall {
  readonly #question: Pick<ExecutionQuestion, 'call' | 'approval' | 'digest'>;
  readonly #by: string;
  #used = false;

  private constructor({ call, approval, digest }: ExecutionQuestion, by: string) {
    this.#question = { call, approval, digest };
    this.#by = by;
  }

  static {
    make = (question, by) => new ConfirmedCall(question, by);
    take = (confirmed) => {
      const isUsed = confirmed.#used;
      confirmed.#used = true;
      return { ...confirmed.#question, by: confirmed.#by, isUsed };
    };
  }
}

interface Taken extends Pick<ExecutionQuestion, 'call' | 'approval' | 'digest'> {
  readonly by: string;
  /** Whether it has been taken before: one yes is for one call. */
  readonly isUsed: boolean;
}

const answered = new WeakSet<ExecutionQuestion>();

/**
 * A person's yes, once for each question. What was asked about and what is to run are compared when it is run. Throws a RangeError
 * for a name that nobody has.
 */
export function answerQuestion(question: ExecutionQuestion, by: string): ConfirmedCall {
  if (!Id.safeParse(by).success)
    throw new RangeError(`whoever says yes has a name of 1 to ${LONGEST_ID} characters, got ${JSON.stringify(by)}`);
  if (answered.has(question)) throw new RangeError('this question has been answered: one yes is for one call');
  answered.add(question);
  return make(question, by);
}

/** For `executeConfirmed` alone. */
export function takeConfirmed(confirmed: ConfirmedCall): Taken {
  return take(confirmed);
}

export function callDigest({ tool, server, args, callId, ...who }: ToolCall): string {
  const { agent = null, session = null, caller = null } = who;
  return argumentsDigest({ tool, server, args, agent, session, caller, callId });
}
