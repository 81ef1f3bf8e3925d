import { codeOf, reasonOf } from '../../problem.ts';

/**
 * Why nothing was done. `policy_blocked`: the rules say so, and trying again changes nothing. `invalid_parameters`: the
 * call itself is wrong. `permanent_failure`: the file system says no. `cancelled`: it was stopped, perhaps half-way.
 */
export interface FileRefusal {
  readonly ok: false;
  readonly category: 'policy_blocked' | 'invalid_parameters' | 'permanent_failure' | 'cancelled';
  readonly because: string;
  /** The rule that decided, for `policy_blocked`. */
  readonly rule?: string;
}

/** Carries a refusal from where it arises to the one operation that answers with it. Never leaves this folder. */
export class Refused extends Error {
  readonly refusal: FileRefusal;
  constructor(refusal: FileRefusal) {
    super(refusal.because);
    this.refusal = refusal;
  }
}

export function blocked(because: string, rule: string): Refused {
  return new Refused({ ok: false, category: 'policy_blocked', because, rule });
}

export function invalid(because: string): Refused {
  return new Refused({ ok: false, category: 'invalid_parameters', because });
}

export function failed(because: string): Refused {
  return new Refused({ ok: false, category: 'permanent_failure', because });
}

/** For every loop that may take long: whoever has stopped the call is not kept waiting. */
export function requireGoing({ stopped }: { readonly stopped?: AbortSignal }): void {
  if (stopped?.aborted !== true) return;
  throw new Refused({ ok: false, category: 'cancelled', because: 'it was stopped before its end' });
}

/** Runs one operation. What the rules or the system refuse comes back as a value; a bug is thrown. */
export async function answering<T extends object>(
  run: () => Promise<T>,
): Promise<({ readonly ok: true } & T) | FileRefusal> {
  try {
    return { ok: true, ...(await run()) };
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    const code = codeOf(error);
    if (typeof code !== 'string' || !/^E[A-Z0-9]+$/.test(code)) throw error;
    return { ok: false, category: 'permanent_failure', because: withoutHandles(reasonOf(error)) };
  }
}

/** The numbers of our handles mean nothing to a reader. */
function withoutHandles(message: string): string {
  return message.replaceAll(/\/proc\/self\/fd\/\d+\/?/g, '');
}
