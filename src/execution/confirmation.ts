import { argumentsDigest } from '../domain/outcome/digest.ts';
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
let make: (call: ToolCall, by: string, digest: string) => ConfirmedCall;
let take: (confirmed: ConfirmedCall) => Taken;

/**
 * A call together with somebody's yes to it. Only `answerQuestion` makes one, nothing can be read off it, and it is no
 * ToolCall: a wrapper can hand it on to `executeConfirmed` or drop it, and nothing else compiles.
 */
export class ConfirmedCall {
  readonly #call: ToolCall;
  readonly #by: string;
  readonly #digest: string;
  #used = false;

  private constructor(call: ToolCall, by: string, digest: string) {
    this.#call = call;
    this.#by = by;
    this.#digest = digest;
  }

  static {
    make = (call, by, digest) => new ConfirmedCall(call, by, digest);
    take = (confirmed) => {
      const isUsed = confirmed.#used;
      confirmed.#used = true;
      return { call: confirmed.#call, by: confirmed.#by, digest: confirmed.#digest, isUsed };
    };
  }
}

interface Taken {
  readonly call: ToolCall;
  readonly by: string;
  readonly digest: string;
  /** Whether it has been taken before: one yes is for one call. */
  readonly isUsed: boolean;
}

/** A person's yes. What was asked about and what is to run are compared when it is run. */
export function answerQuestion({ call, digest }: ExecutionQuestion, by: string): ConfirmedCall {
  return make(call, by, digest);
}

/** For `executeConfirmed` alone. */
export function takeConfirmed(confirmed: ConfirmedCall): Taken {
  return take(confirmed);
}

export function callDigest({ tool, server, args, agent, session, callId }: ToolCall): string {
  return argumentsDigest({ tool, server, args, agent: agent ?? null, session: session ?? null, callId });
}
