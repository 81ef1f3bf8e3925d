import type { Memory } from '../src/domain/trust/absorb.ts';
import { reasonOf } from '../src/domain/trust/describe.ts';
import { nextDue, strictest } from '../src/domain/trust/parts.ts';
import type { Subject } from '../src/domain/trust/parts.ts';
import type { IdentifiedOutcome } from '../src/domain/trust/reported.ts';
import type { TrustView } from './messages.ts';

/** What survives continue-as-new. */
export interface Carried {
  /** Absent while the ledger knows nothing of the subject. */
  readonly memory?: Memory;
  readonly rejected: number;
  /** Signalled and not yet appended to the ledger. */
  readonly reported: readonly IdentifiedOutcome[];
  /** How many were signalled without an id; absent where an older release carried this. */
  readonly unnamed?: number;
}

export function viewOf(subject: Subject, memory: Memory | undefined, rejected: number): TrustView {
  const { state } = strictest(memory?.parts ?? {});
  const due = memory === undefined ? undefined : nextDue(memory.subject, memory.parts, memory.rules);
  return {
    subject,
    status: state.status,
    reason: reasonOf(state),
    version: memory?.version ?? 0,
    seq: memory?.watermark.seq ?? 0,
    rulesVersion: memory?.rules.version ?? 0,
    dueAt: due === undefined ? null : new Date(due.at).toISOString(),
    rejected,
    parts: memory?.parts ?? {},
  };
}
