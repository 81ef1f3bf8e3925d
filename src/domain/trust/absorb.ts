import type { RuleView } from '../rules/resolve.ts';
import { advanceAll, applyPage } from './apply.ts';
import type { EarlierRules } from './apply.ts';
import type { PartEffect } from './draft.ts';
import type { Entry } from './entry.ts';
import type { Parts, Subject } from './parts.ts';
import { ruleOfPart } from './parts.ts';
import { stricterOf } from './reconcile.ts';
import { dueAt } from './transition.ts';
import { concernSince } from './trust.ts';

/** How far the ledger has been read, and in which life of it. The id tells a restored ledger from a grown one. */
export interface Watermark {
  readonly generation: string;
  readonly seq: number;
  readonly id: string | null;
}

/** All a subject's workflow knows. Plain JSON: it crosses continue-as-new. */
export interface Memory {
  readonly subject: Subject;
  readonly watermark: Watermark;
  readonly version: number;
  readonly rules: RuleView;
  readonly parts: Parts;
}

/** What the ledger says is new. */
export interface Pulled {
  readonly subject: Subject;
  readonly watermark: Watermark;
  readonly entries: readonly Entry[];
  /** More rows are waiting than fitted. */
  readonly more: boolean;
  /** How many the ledger had counted, those that are waiting included. Absent in histories from before it was told. */
  readonly failures?: number;
  /** Only when they differ from the ones the workflow has. */
  readonly rules?: RuleView;
  /** When those were published, by the ledger's clock. */
  readonly rulesSince?: number;
  /** 0 where nothing was projected yet. */
  readonly projectedVersion: number;
  /** Only for a workflow without memory, one that is behind it, or one whose ledger is not the one it knows. */
  readonly projection?: Projection;
  /** Reports counted as not understood; only for a workflow without memory. */
  readonly rejected?: number;
  /** The ledger does not continue what the workflow has read. */
  readonly broken?: 'other generation' | 'ledger is behind' | 'ledger was rewritten';
  /** The ledger's clock, epoch milliseconds. */
  readonly now: number;
}

export interface Projection {
  readonly version: number;
  readonly seq: number;
  readonly parts: Parts;
  /** What was projected could not be read; `parts` says no more than its status. */
  readonly unreadable?: boolean;
}

export interface Absorbed {
  readonly memory: Memory;
  readonly effects: readonly PartEffect[];
  /** Disagreements, for the audit. */
  readonly remarks: readonly string[];
  /** There is more to read before the state is worth showing. */
  readonly unread: boolean;
}

/** Takes in one page of the ledger. Pure, so that what a restore leads to can be tried without a server. */
export function absorb(memory: Memory | undefined, pulled: Pulled): Absorbed {
  if (memory === undefined) {
    const absorbed = read(adopted(pulled), pulled);
    return pulled.projection?.unreadable === true ? { ...absorbed, remarks: [UNREADABLE] } : absorbed;
  }
  const rules = pulled.rules ?? memory.rules;
  if (pulled.broken !== undefined) return jumpedTo(pulled.watermark, { ...memory, rules }, pulled, pulled.broken);
  if (pulled.projection !== undefined) {
    const seq = Math.max(memory.watermark.seq, pulled.projection.seq);
    return jumpedTo({ ...pulled.watermark, seq, id: null }, { ...memory, rules }, pulled, 'workflow is behind');
  }
  return pulled.rules === undefined || pulled.rulesSince === undefined
    ? read({ ...memory, rules }, pulled)
    : readAcross(memory, pulled, pulled.rules, pulled.rulesSince);
}

const UNREADABLE = 'the projected state could not be read: its status is held against the whole, the rest is lost';

/** What is projected is older than what the workflow has shown: the database was restored, or somebody wrote in it. */
export function lagOf(memory: Memory | undefined, { projectedVersion }: Pulled): readonly string[] {
  if (memory === undefined || projectedVersion >= memory.version) return [];
  return [
    `projection is behind: it was at version ${projectedVersion}, the workflow at ${memory.version}; it is written anew`,
  ];
}

/** Time passes, also when nothing is reported. */
export function settle(memory: Memory, now: number): Pick<Absorbed, 'memory' | 'effects'> {
  const { parts, effects } = advanceAll(memory.subject, memory.parts, now, memory.rules, memory.version + 1);
  return { memory: { ...memory, parts }, effects };
}

/** What a gate or a person can see of the state: if this is the same, nothing needs to be projected. */
export function visible({ subject, parts, rules }: Memory): string {
  const shown = Object.entries(parts)
    .filter(([, state]) => state.status !== 'TRUSTED')
    .map(([part, state]) => [
      part,
      { ...state, tally: null, securityAt: undefined },
      dueAt(state, ruleOfPart(subject, rules, part)) ?? null,
    ]);
  // Under newer rules it is shown again, or whoever watches for outdated judgements would ask for ever.
  return shown.length === 0 ? '' : JSON.stringify([rules.version, shown]);
}

/** The same of security. Apart, because runs that began before it was kept have not shown it. */
export function concerns({ parts }: Pick<Memory, 'parts'>): string {
  return JSON.stringify(
    Object.entries(parts).flatMap(([part, state]) => {
      const since = concernSince(state);
      return since === undefined ? [] : [[part, since]];
    }),
  );
}

function adopted(pulled: Pulled): Memory {
  const { projection, rules, subject, watermark } = pulled;
  if (rules === undefined) throw new TypeError('a first pull brings the rules');
  if (projection === undefined) return { subject, rules, watermark, version: 0, parts: {} };
  // The page begins where the projection ends; what of it must be read again one by one has not been read.
  const { version, parts, seq } = projection;
  return { subject, rules, watermark: { ...watermark, seq, id: null }, version, parts };
}

function jumpedTo(watermark: Watermark, memory: Memory, pulled: Pulled, why: string): Absorbed {
  const version = Math.max(memory.version, pulled.projectedVersion);
  const remark =
    `${why}: the workflow had read up to ${memory.watermark.seq} at version ${memory.version}, ` +
    `the ledger ends at ${pulled.watermark.seq} and was projected at version ${pulled.projectedVersion}; ` +
    `the stricter state holds, reading goes on after ${watermark.seq}`;
  const parts = stricterOf(memory.parts, pulled.projection?.parts ?? {});
  return { memory: { ...memory, watermark, version, parts }, effects: [], remarks: [remark], unread: true };
}

/** New rules are the workflow's own once it has read to the end: until then it may meet rows from before them. */
function readAcross(memory: Memory, pulled: Pulled, rules: RuleView, since: number): Absorbed {
  const absorbed = read({ ...memory, rules }, pulled, { view: memory.rules, until: since });
  return absorbed.unread ? { ...absorbed, memory: { ...absorbed.memory, rules: memory.rules } } : absorbed;
}

function read(memory: Memory, pulled: Pulled, earlier?: EarlierRules): Absorbed {
  const { subject, rules, watermark } = memory;
  const page = applyPage(subject, memory.parts, pulled.entries, rules, memory.version + 1, earlier);
  const { parts, effects, stoppedAfter } = page;
  if (stoppedAfter === undefined) {
    const after = { ...memory, watermark: pulled.watermark, parts };
    return { memory: after, effects, remarks: [], unread: pulled.more };
  }
  // The rows from there on are read again one by one.
  const readTo = stoppedAfter === 0 ? watermark : { ...pulled.watermark, seq: stoppedAfter, id: null };
  return { memory: { ...memory, watermark: readTo, parts }, effects, remarks: [], unread: true };
}
