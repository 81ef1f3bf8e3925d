import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { Recent } from '../domain/recent.ts';
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
  readonly isHeld: boolean;
  /** Failures that are on their way to the ledger. */
  readonly pending: number;
  /** Where the newest of them lies; undefined while none does. */
  readonly seq: number | undefined;
  /** Successes of one scope and agent in a row, which are applied together. */
  folded: Folded | undefined;
}

type Folded = { -readonly [K in keyof CallEntry]: CallEntry[K] } & { count: number };

/** Of a tool and of its server: making them costs more than all that is looked up by them. */
export interface Keys {
  readonly key: string;
  readonly serverKey: string;
}

export interface Known {
  readonly version: number;
  readonly parts: Parts;
}

const MOST_COUNTS = 1000;
const MOST_SEEN = 20_000;
/** Short beside every window that anything is counted in. */
const LONGEST_FOLD_MS = 1000;

/**
 * The process that sees a failure tightens its own view at once, by the same pure function that the workflow will apply.
 * An entry ends when the workflow has judged all that it is made of; only the workflow loosens.
 */
export class LocalCounts {
  readonly #counts = new Map<string, Count>();
  /** Calls that have failed. */
  readonly #seen = new Recent<string, true>(MOST_SEEN);
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

  /** A failure that is reported again, as whoever was not answered does, is the same failure. */
  hasSeen({ callId, server, name, agent = '' }: LedgerOutcome): boolean {
    const call = `${server}\0${name}\0${agent}\0${callId}`;
    if (this.#seen.get(call) === true) return true;
    this.#seen.set(call, true);
    return false;
  }

  succeeded({ key: own, serverKey }: Keys, success: LedgerOutcome, now: number): void {
    for (const key of [own, serverKey]) {
      const count = this.#counts.get(key);
      if (count === undefined || continuesFold(count.folded, success)) continue;
      applyFolded(count);
      if (count.pending === 0 && isOver(count.draft, now)) this.#counts.delete(key);
      // While something is held every success may matter by itself.
      else if (count.isHeld) applyOne(count.draft, entryOf(success, now));
      else count.folded = foldOf(success, now);
    }
  }

  /** Answers the subject that the failure is held against; what becomes of its report is to be told to `settle`. */
  failed(
    { key: own, serverKey }: Keys,
    failure: LedgerOutcome,
    now: number,
    find: (key: string, subject: Subject) => [Known, RuleView],
  ): string {
    const onServer = countsOnServer(failure.server, failure.scope, failure.category) && failure.server !== LOCAL;
    const subject: Subject = onServer
      ? { kind: 'server', server: failure.server, name: '' }
      : { kind: 'tool', server: failure.server, name: failure.name };
    const key = onServer ? serverKey : own;
    const count = this.#counts.get(key);
    if (count !== undefined) applyFolded(count);
    const [known, rules] = find(key, subject);
    const version = known.version + 1;
    const { parts, size } = count?.draft ?? draftOf(subject, known.parts, rules, version);
    const draft: Draft = { subject, view: rules, version, parts, effects: [], touched: new Set(), size };
    applyOne(draft, entryOf(failure, now));
    if (this.#counts.size >= MOST_COUNTS && count === undefined) this.#dropOldest();
    const isHeld = !isPlain(draft.parts);
    this.#counts.set(key, { draft, isHeld, pending: (count?.pending ?? 0) + 1, seq: count?.seq, folded: undefined });
    if (isHeld) this.#onChange();
    return key;
  }

  /** A failure held against `key` lies in the ledger, not later than `seq`; or, without one, never will. */
  settle(key: string, seq: number | undefined): void {
    const count = this.#counts.get(key);
    if (count === undefined) return;
    const { draft, isHeld, folded } = count;
    const pending = count.pending - 1;
    const newest = seq === undefined ? count.seq : Math.max(count.seq ?? 0, seq);
    this.#counts.set(key, { draft, isHeld, pending, seq: newest, folded });
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
    const { isHeld } = count;
    if (parts === undefined && !isHeld) return;
    if (parts !== undefined && isPlain(parts) && Object.keys(parts).length > 0) {
      const { subject, view, version } = count.draft;
      this.#counts.set(key, { ...count, draft: draftOf(subject, parts, view, version), isHeld: false });
      if (isHeld) this.#onChange();
    } else {
      this.#end(key, count);
    }
  }

  /** Keys with a judgement of our own that waits for the workflow's. */
  provisional(): string[] {
    return [...this.#counts].filter(([, { isHeld }]) => isHeld).map(([key]) => key);
  }

  #end(key: string, { isHeld }: Count): void {
    this.#counts.delete(key);
    if (isHeld) this.#onChange();
  }

  #dropOldest(): void {
    const plain = [...this.#counts].find(([, { isHeld }]) => !isHeld) ?? [...this.#counts][0];
    if (plain !== undefined) this.#counts.delete(plain[0]);
  }
}

/** Whether a probe was alive only the ledger can say; here it is a call like any other. */
function entryOf(outcome: LedgerOutcome, now: number): CallEntry {
  const { kind, at, scope, agent, startedAt, trustVersion, severity, category, evidence, recoverable } = outcome;
  const call: { -readonly [K in keyof CallEntry]: CallEntry[K] } = {
    kind,
    at,
    startedAt,
    trustVersion,
    severity,
    category,
    evidence,
    recoverable,
    seq: 0,
    receivedAt: now,
  };
  if (scope !== undefined) call.scope = scope;
  if (agent !== undefined) call.agent = agent;
  return call;
}

function foldOf({ at, scope, agent }: LedgerOutcome, now: number): Folded {
  const fold: Folded = { kind: 'success', seq: 0, at, receivedAt: now, count: 1 };
  if (scope !== undefined) fold.scope = scope;
  if (agent !== undefined) fold.agent = agent;
  return fold;
}

function continuesFold(folded: Folded | undefined, { at, scope, agent }: LedgerOutcome): boolean {
  if (folded === undefined || folded.scope !== scope || folded.agent !== agent) return false;
  if (Math.abs(at - folded.at) >= LONGEST_FOLD_MS) return false;
  folded.count += 1;
  return true;
}

function applyFolded(count: Count): void {
  if (count.folded !== undefined) applyOne(count.draft, count.folded);
  count.folded = undefined;
}

/** Nothing of what was counted can count any more. */
function isOver({ parts, subject, view }: Draft, now: number): boolean {
  return Object.entries(parts).every(
    ([part, { status, tally }]) => status === 'TRUSTED' && isSpent(tally, ruleOfPart(subject, view, part), now),
  );
}
