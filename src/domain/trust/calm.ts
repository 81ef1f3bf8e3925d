import type { EffectiveRule } from '../rules/rule.ts';
import type { RuleView } from '../rules/resolve.ts';
import type { CallEntry, Entry } from './entry.ts';
import { isOrder } from './entry.ts';
import { isPlain, WHOLE } from './parts.ts';
import type { Parts, Subject } from './parts.ts';
import { patienceOf } from './patience.ts';
import { remembered, sliceMsOf } from './tally.ts';

/** How many failures of calls that name no scope can change nothing, whatever succeeds meanwhile, and of which times. */
export interface Calm {
  readonly failures: number;
  /** Both epoch milliseconds; null where time alone brings no threshold nearer. */
  readonly until: number | null;
  readonly since: number;
}

/** More than any page has. */
const MOST = 1_000_000;

/** Undefined where the next failure may matter, and where it matters who saw it. */
export function calmOf(subject: Subject, parts: Parts, view: RuleView): Calm | undefined {
  if (subject.kind === 'server' || view.own.rule.minReporters > 1 || !isPlain(parts)) return undefined;
  const { rate, cutAt = 0 } = parts[WHOLE]?.tally ?? {};
  const newest = rate === undefined ? 0 : rate.newest * rate.sliceMs;
  const patience = patienceOf(subject, parts, view, newest, WHOLE, MOST);
  return patience === undefined ? undefined : { failures: patience.failures, until: patience.until, since: cutAt };
}

/**
 * A page in which failures that can change nothing are counted together, as successes are: a busy tool's history holds a
 * handful of entries for thousands of calls. What comes of it is the same to the last field, which is a test. Left as it is where
 * the page has more of them than are sure to be harmless, or an order, after which nothing counts as it did.
 */
export function foldCalm(entries: readonly Entry[], calm: Calm, rule: EffectiveRule): readonly Entry[] {
  if (!isHarmless(entries, calm)) return entries;
  const folded: Entry[] = [];
  let run: CallEntry[] = [];
  for (const entry of entries) {
    if (isFoldable(entry, calm)) {
      run.push(entry);
      continue;
    }
    folded.push(...foldRun(run, rule));
    run = [];
    folded.push(entry);
  }
  return [...folded, ...foldRun(run, rule)];
}

function isHarmless(entries: readonly Entry[], { failures, until }: Calm): boolean {
  let [failed, last] = [0, 0];
  for (const entry of entries) {
    if (isOrder(entry)) return false;
    if (entry.kind !== 'success') failed += 1;
    last = Math.max(last, entry.receivedAt);
  }
  return failed < failures && (until === null || last < until);
}

/** What stays by itself has a meaning of its own: another part's, a probe's, a refused credential's, or none after a reset. */
function isFoldable(entry: Entry, { since }: Calm): entry is CallEntry {
  if (entry.scope !== undefined) return false;
  if (entry.kind === 'success') return entry.count !== undefined && entry.agent === undefined;
  if (entry.kind !== 'failure' || entry.at < since || entry.probe !== undefined) return false;
  const { severity, category, recoverable = true } = entry;
  return recoverable && isOrdinary(severity) && (category === 'quality' || category === 'reachability');
}

/** It takes a threshold to escalate for it. */
function isOrdinary(severity: CallEntry['severity']): boolean {
  return severity !== undefined && severity !== 'security' && severity !== 'repeated_auth';
}

/**
 * What failed before the last success, the successes, and what failed after it: only that still counts as failed in a row.
 * What one slice of a rate's window holds stays together, because the window forgets a slice at a time.
 */
function foldRun(run: readonly CallEntry[], rule: EffectiveRule): readonly Entry[] {
  const lastSuccess = run.findLastIndex(({ kind }) => kind === 'success');
  const failuresOf = (part: readonly CallEntry[]) => part.filter(({ kind }) => kind === 'failure');
  return [
    ...foldAlike(failuresOf(run.slice(0, lastSuccess + 1)), rule),
    ...foldAlike(
      run.filter(({ kind }) => kind === 'success'),
      rule,
    ),
    ...foldAlike(failuresOf(run.slice(lastSuccess + 1)), rule),
  ];
}

function foldAlike(calls: readonly CallEntry[], rule: EffectiveRule): readonly Entry[] {
  const sliceMs = sliceMsOf(rule);
  const groups = new Map<string, [CallEntry, ...CallEntry[]]>();
  for (const call of calls) {
    const alike = `${Math.floor(call.at / sliceMs)} ${call.severity ?? ''} ${call.category ?? ''}`;
    const group = groups.get(alike);
    if (group === undefined) groups.set(alike, [call]);
    else group.push(call);
  }
  return [...groups.values()].map((group) => foldGroup(group, remembered(rule)));
}

/** Even one is marked as folded: a run stands or falls together. */
function foldGroup(group: readonly [CallEntry, ...CallEntry[]], most: number): Entry {
  const latest = (of: (call: CallEntry) => number) => group.reduce((last, call) => Math.max(last, of(call)), 0);
  const [{ kind, severity, category }] = group;
  const base = { seq: latest(({ seq }) => seq), at: latest(({ at }) => at), receivedAt: latest((c) => c.receivedAt) };
  const count = group.reduce((sum, call) => sum + (call.count ?? 1), 0);
  if (kind === 'success') return { ...base, kind, count };
  const times = group.map(({ at }) => at).toSorted((a, b) => a - b);
  return { ...base, kind, severity, category, count, times: times.slice(-most) };
}
