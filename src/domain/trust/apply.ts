import type { RuleView } from '../rules/resolve.ts';
import { bound, MOST_SCOPES } from './bound.ts';
import type { Draft, PartEffect } from './draft.ts';
import { advancePart, applyTo, draftOf, forgetIfSpent, remove, ruleIn, statusOf } from './draft.ts';
import type { CallEntry, Entry, OrderEntry } from './entry.ts';
import { countsOnServer, isOrder } from './entry.ts';
import type { TrustEvent } from './event.ts';
import type { Parts, Subject } from './parts.ts';
import { agentOfPart, partOfAgent, scopeOfPart, WHOLE } from './parts.ts';

export interface Applied {
  readonly parts: Parts;
  readonly effects: readonly PartEffect[];
  readonly touched: readonly string[];
}

/** Applies rows of the ledger in order. Each costs the same however many rows came before it. */
export function applyEntries(
  subject: Subject,
  parts: Parts,
  entries: readonly Entry[],
  view: RuleView,
  version: number,
): Applied {
  const draft = draftOf(subject, parts, view, version);
  for (const entry of entries) applyOne(draft, entry);
  return appliedOf(draft);
}

/** Rules that were in force until newer ones were published. */
export interface EarlierRules {
  readonly view: RuleView;
  readonly until: number;
}

/**
 * Applies a page in which calls may be folded. Folded ones say nothing about single calls: where those matter the
 * page is read only up to the eventful row before them, and `stoppedAfter` is the place of that row, or 0. What came in
 * before the rules were published is judged by those before them, however late somebody reads it.
 */
export function applyPage(
  subject: Subject,
  parts: Parts,
  entries: readonly Entry[],
  view: RuleView,
  version: number,
  earlier?: EarlierRules,
): Applied & { readonly stoppedAfter?: number } {
  const draft = draftOf(subject, parts, view, version);
  let lastEventful = 0;
  for (let index = 0; index < entries.length;) {
    // Folded calls between two eventful rows overlap in the ledger, so they stand or fall together.
    const end = endOfGroup(entries, index);
    const group = entries.slice(index, end);
    if (group.some((entry) => isFolded(entry) && needsUnfolding(draft.parts, entry))) {
      return { ...appliedOf(draft), stoppedAfter: lastEventful };
    }
    for (const entry of group) {
      draft.view = earlier !== undefined && entry.receivedAt < earlier.until ? earlier.view : view;
      applyOne(draft, entry);
    }
    const [first] = group;
    if (first !== undefined && !isFolded(first)) lastEventful = first.seq;
    index = end;
  }
  return appliedOf(draft);
}

/** One eventful row, or all folded ones up to the next. */
function endOfGroup(entries: readonly Entry[], start: number): number {
  let end = start + 1;
  const isRun = (index: number) => entries[index] !== undefined && isFolded(entries[index]);
  if (isRun(start)) while (isRun(end)) end += 1;
  return end;
}

function isFolded(entry: Entry): boolean {
  return 'count' in entry;
}

export function applyOne(draft: Draft, entry: Entry): void {
  if (isOrder(entry)) applyOrder(draft, entry);
  else applyCall(draft, entry);
  if (draft.size >= MOST_SCOPES) bound(draft, entry.receivedAt);
}

function appliedOf({ parts, effects, touched }: Draft): Applied {
  return { parts, effects, touched: [...touched] };
}

/** Moves every part to where time alone has brought it by `now`, and forgets what is spent. */
export function advanceAll(subject: Subject, parts: Parts, now: number, view: RuleView, version: number): Applied {
  const draft = draftOf(subject, parts, view, version);
  for (const part of Object.keys(parts)) {
    advancePart(draft, part, now);
    forgetIfSpent(draft, part, now);
  }
  return appliedOf(draft);
}

/** Whether a folded entry would reach a part that waits for single calls. */
function needsUnfolding(parts: Parts, entry: Entry): boolean {
  if (isOrder(entry)) return false;
  const scope = entry.scope ?? WHOLE;
  const reached = [WHOLE, scope, partOfAgent(scope, entry.agent ?? '')];
  return reached.some((part) => (parts[part]?.status ?? 'TRUSTED') !== 'TRUSTED');
}

function applyCall(draft: Draft, entry: CallEntry): void {
  const { subject } = draft;
  const isUnreached = countsOnServer(subject.server, entry.scope, entry.category);
  if (subject.kind === 'tool' && isUnreached && !isProbe(entry)) return;
  // A server in doubt is shown all that its tools do, and for a moment after: what went wrong behind it is not its fault.
  if (subject.kind === 'server' && !isUnreached && !isProbe(entry) && entry.kind !== 'success') return;
  const event = eventOf(draft, entry);
  if (event === undefined) return;
  const part = subject.kind === 'server' ? WHOLE : partForScope(draft, entry.scope ?? WHOLE);
  if (part !== WHOLE && blocksWholeTool(draft, event, part)) {
    applyTo(draft, WHOLE, event, entry.receivedAt);
    return;
  }
  const before = statusOf(draft, part);
  applyTo(draft, part, event, entry.receivedAt);
  if (before === 'TRUSTED' && statusOf(draft, part) === 'TRUSTED') applyToAgent(draft, part, event, entry);
  else dropAgents(draft, part, entry.receivedAt);
  // A tool in doubt as a whole is redeemed, or condemned, by what any of its scopes does.
  if (part !== WHOLE && statusOf(draft, WHOLE) !== 'TRUSTED') applyTo(draft, WHOLE, event, entry.receivedAt);
}

/** What one agent alone has seen is held against the tool for that agent alone. */
function applyToAgent(draft: Draft, part: string, event: TrustEvent, entry: CallEntry): void {
  const own = partOfAgent(part, entry.agent ?? '');
  if (ruleIn(draft, part).minReporters > 1) applyTo(draft, own, event, entry.receivedAt);
}

function dropAgents(draft: Draft, part: string, now: number): void {
  if (ruleIn(draft, part).minReporters === 1) return;
  for (const other of Object.keys(draft.parts)) {
    if (agentOfPart(other) !== undefined && scopeOfPart(other) === part) drop(draft, other, now);
  }
}

function applyOrder(draft: Draft, entry: OrderEntry): void {
  const event: TrustEvent = { type: 'orderGiven', order: entry.kind, at: entry.at, by: entry.by, reason: entry.reason };
  const aimed = entry.scope ?? WHOLE;
  const covered = Object.keys(draft.parts).filter((part) => aimed === WHOLE || scopeOfPart(part) === aimed);
  switch (entry.kind) {
    case 'block':
      applyTo(draft, aimed, event, entry.receivedAt);
      return;
    case 'recover':
      for (const part of covered) applyTo(draft, part, event, entry.receivedAt);
      return;
    case 'reset':
      for (const part of covered) if (part !== aimed) drop(draft, part, entry.receivedAt);
      applyTo(draft, aimed, event, entry.receivedAt);
      return;
  }
}

/** What time had done to a part before it went is told, whether or not somebody had looked. */
function drop(draft: Draft, part: string, now: number): void {
  advancePart(draft, part, now);
  remove(draft, part);
}

/** With no room for another scope its outcomes count on the tool itself. */
function partForScope(draft: Draft, scope: string): string {
  return draft.parts[scope] === undefined && draft.size >= 2 * MOST_SCOPES ? WHOLE : scope;
}

function blocksWholeTool(draft: Draft, event: TrustEvent, part: string): boolean {
  return (
    event.type === 'callFailed' &&
    event.severity === 'security' &&
    event.evidence === 'structured' &&
    ruleIn(draft, part).securityBlocks === 'tool'
  );
}

/** Written out, as this runs for every outcome: an object that is spread first is several times as slow to make. */
function eventOf(draft: Draft, entry: CallEntry): TrustEvent | undefined {
  const { at, trustVersion, startedAt, agent } = entry;
  switch (entry.kind) {
    case 'success': {
      const lapsed = entry.probe === 'lapsed';
      return { type: 'callSucceeded', at, trustVersion, startedAt, agent, count: entry.count ?? 1, lapsed };
    }
    case 'failure': {
      const { severity = 'server_error', category = 'quality', evidence = 'text', recoverable = true } = entry;
      const { count, times } = entry;
      return {
        type: 'callFailed',
        at,
        trustVersion,
        startedAt,
        agent,
        severity,
        category,
        evidence,
        recoverable,
        count,
        times,
      };
    }
    case 'unknown': {
      // A probe stands for every part that was on trial; a trusted one was not.
      const onTrial =
        isProbe(entry) && [WHOLE, entry.scope ?? WHOLE].some((part) => statusOf(draft, part) !== 'TRUSTED');
      const counts = onTrial || ruleIn(draft, entry.scope ?? WHOLE).unknownCounts;
      if (!counts) return undefined;
      const timeout = {
        severity: 'timeout',
        category: 'reachability',
        evidence: 'structured',
        recoverable: true,
      } as const;
      const silentProbe = isProbe(entry);
      return { type: 'callFailed', at, trustVersion, startedAt, agent, ...timeout, silentProbe };
    }
  }
}

function isProbe(entry: CallEntry): boolean {
  return entry.kind === 'unknown' && entry.probe !== undefined;
}
