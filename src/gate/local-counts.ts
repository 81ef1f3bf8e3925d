import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import type { RuleView } from '../domain/rules/resolve.ts';
import { applyOne } from '../domain/trust/apply.ts';
import type { Draft } from '../domain/trust/draft.ts';
import { draftOf } from '../domain/trust/draft.ts';
import { countsOnServer, LOCAL } from '../domain/trust/entry.ts';
import type { CallEntry } from '../domain/trust/entry.ts';
import { isPlain, ruleOfPart } from '../domain/trust/parts.ts';
import type { Parts, Subject } from '../domain/trust/parts.ts';
import { isSpent } from '../domain/trust/tally.ts';

/** What this process has seen of a subject that has failed it, and the projection may not know yet. */
interface Count {
  /** Written to, so that an outcome of a tool with a thousand scopes costs what any other does. */
  readonly draft: Draft;
  /** Failures that are on their way to the ledger. */
  readonly pending: number;
  /** Where the newest of them lies; undefined while none does. */
  readonly seq: number | undefined;
}

export interface Known {
  readonly version: number;
  readonly parts: Parts;
}

const MOST_COUNTS = 1000;

/**
 * The process that sees a failure tightens its own view at once, by the same pure function that the workflow will apply.
 * An entry ends when the workflow has judged all that it is made of; only the workflow loosens.
 */
export class LocalCounts {
  readonly #counts = new Map<string, Count>();
  readonly #onChange: () => void;

  /** `onChange` is told when what is held against somebody may be another. */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  parts(key: string): Parts | undefined {
    return this.#counts.get(key)?.draft.parts;
  }

  /** Whether this process has seen the subject fail, so that it matters to it what else becomes of it. */
  isCounting(key: string): boolean {
    return this.#counts.has(key);
  }

  succeeded(success: LedgerOutcome, now: number): void {
    for (const key of [toolKey(success.server, success.name), serverKey(success.server)]) {
      const count = this.#counts.get(key);
      if (count === undefined) continue;
      applyOne(count.draft, entryOf(success, now));
      if (count.pending === 0 && isOver(count.draft, now)) this.#counts.delete(key);
    }
  }

  /** Answers the subject that the failure is held against; what becomes of its report is to be told to `settle`. */
  failed(failure: LedgerOutcome, now: number, find: (key: string, subject: Subject) => [Known, RuleView]): string {
    const onServer = countsOnServer(failure.server, failure.scope, failure.category) && failure.server !== LOCAL;
    const subject: Subject = onServer
      ? { kind: 'server', server: failure.server, name: '' }
      : { kind: 'tool', server: failure.server, name: failure.name };
    const key = onServer ? serverKey(failure.server) : toolKey(failure.server, failure.name);
    const count = this.#counts.get(key);
    const [known, rules] = find(key, subject);
    const version = known.version + 1;
    const base = count?.draft ?? draftOf(subject, known.parts, rules, version);
    const draft = { ...base, view: rules, version, effects: [], touched: new Set<string>() };
    applyOne(draft, entryOf(failure, now));
    if (this.#counts.size >= MOST_COUNTS && count === undefined) this.#dropOldest();
    this.#counts.set(key, { draft, pending: (count?.pending ?? 0) + 1, seq: count?.seq });
    if (!isPlain(draft.parts)) this.#onChange();
    return key;
  }

  /** A failure held against `key` lies in the ledger, not later than `seq`; or, without one, never will. */
  settle(key: string, seq: number | undefined): void {
    const count = this.#counts.get(key);
    if (count === undefined) return;
    const pending = count.pending - 1;
    const newest = seq === undefined ? count.seq : Math.max(count.seq ?? 0, seq);
    this.#counts.set(key, { ...count, pending, seq: newest });
    // What nobody else will ever know of, nobody else could ever lift.
    if (pending === 0 && newest === undefined) this.#end(key, count);
  }

  /**
   * The workflow has judged everything up to `seq`, and perhaps said what it made of it: its word replaces ours. Its
   * counts do, too; where it has said nothing ours are kept.
   */
  applied(key: string, seq: number, parts?: Parts): void {
    const count = this.#counts.get(key);
    if (count?.seq === undefined || count.pending > 0 || count.seq > seq) return;
    const isHeld = !isPlain(count.draft.parts);
    if (parts === undefined && !isHeld) return;
    if (parts !== undefined && isPlain(parts) && Object.keys(parts).length > 0) {
      const { subject, view, version } = count.draft;
      this.#counts.set(key, { ...count, draft: draftOf(subject, parts, view, version) });
      if (isHeld) this.#onChange();
    } else {
      this.#end(key, count);
    }
  }

  /** Keys with a judgement of our own that waits for the workflow's. */
  provisional(): string[] {
    return [...this.#counts].filter(([, { draft }]) => !isPlain(draft.parts)).map(([key]) => key);
  }

  #end(key: string, { draft }: Count): void {
    this.#counts.delete(key);
    if (!isPlain(draft.parts)) this.#onChange();
  }

  #dropOldest(): void {
    const plain = [...this.#counts].find(([, { draft }]) => isPlain(draft.parts)) ?? [...this.#counts][0];
    if (plain !== undefined) this.#counts.delete(plain[0]);
  }
}

/** Whether a probe was alive only the ledger can say; here it is a call like any other. */
function entryOf({ probe: _, ...outcome }: LedgerOutcome, now: number): CallEntry {
  return { ...outcome, seq: 0, receivedAt: now };
}

/** Nothing of what was counted can count any more. */
function isOver({ parts, subject, view }: Draft, now: number): boolean {
  return Object.entries(parts).every(
    ([part, { status, tally }]) => status === 'TRUSTED' && isSpent(tally, ruleOfPart(subject, view, part), now),
  );
}
