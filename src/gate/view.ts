import type { InDoubt, Situation } from '../domain/gate/decide.ts';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { viewForServer, viewForTool } from '../domain/rules/resolve.ts';
import type { RuleView } from '../domain/rules/resolve.ts';
import type { Rules } from '../domain/rules/rules.schema.ts';
import { applyOne } from '../domain/trust/apply.ts';
import type { Draft } from '../domain/trust/draft.ts';
import { draftOf } from '../domain/trust/draft.ts';
import { countsOnServer, LOCAL } from '../domain/trust/entry.ts';
import { isPlain } from '../domain/trust/parts.ts';
import type { Subject } from '../domain/trust/parts.ts';
import { stricterOf } from '../domain/trust/reconcile.ts';
import type { Settings, Standing } from '../postgres/snapshot.ts';

/** What this process has seen fail and the projection may not know yet. */
interface Local {
  /** Written to, so that a failure of a tool with a thousand scopes costs what any other does. */
  draft: Draft;
  /** The newest of its own rows; undefined while one is on its way to the ledger. */
  seq: number | undefined;
}

const MOST_LOCAL = 1000;
const MOST_WANTED = 10_000;

/**
 * What a gate knows: the subjects in doubt, the rules, and how fresh both are. `revision` moves with every change, so
 * that whoever remembers an answer can tell with one comparison whether it still holds.
 */
export class View {
  revision = 1;
  situation: Situation = 'empty';
  /** Why the ledger was not reached, the last time it was not. */
  trouble: string | undefined;
  /** Told when somebody asks about a tool of which it matters whether it is known. */
  onWanted: () => void = () => undefined;
  readonly #standings = new Map<string, Standing>();
  readonly #local = new Map<string, Local>();
  readonly #known = new Set<string>();
  readonly #wanted = new Set<string>();
  #settings: Settings;

  constructor(rules: Rules) {
    this.#settings = { rules, version: 0, brokenGlassUntil: null };
  }

  get settings(): Settings {
    return this.#settings;
  }

  setSettings(settings: Settings): void {
    this.#settings = settings;
    this.revision += 1;
  }

  setSituation(situation: Situation): boolean {
    if (situation === this.situation) return false;
    this.situation = situation;
    this.revision += 1;
    return true;
  }

  standing(key: string): Standing | undefined {
    return this.#standings.get(key);
  }

  standings(): Iterable<Standing> {
    return this.#standings.values();
  }

  /** Takes a newer projection; answers what it replaced, or null where it is not news. */
  take(standing: Standing): Standing | undefined | null {
    const before = this.#standings.get(standing.key);
    if (before !== undefined && before.version >= standing.version) return null;
    if (isPlain(standing.parts)) this.#standings.delete(standing.key);
    else this.#standings.set(standing.key, standing);
    this.applied(standing.key, standing.seq);
    this.revision += 1;
    return before;
  }

  forget(key: string): void {
    this.#standings.delete(key);
    this.revision += 1;
  }

  /** The doubt about a subject, as projected and as this process has seen itself. Locally it is only ever tightened. */
  doubt(key: string, subject: Subject, rules: RuleView): InDoubt | undefined {
    const standing = this.#standings.get(key);
    const local = this.#local.get(key);
    if (standing === undefined && (local === undefined || isPlain(local.draft.parts))) return undefined;
    const parts = stricterOf(standing?.parts ?? {}, local?.draft.parts ?? {});
    return { key, subject, rules, parts, version: standing?.version ?? 0 };
  }

  rulesOf({ kind, server, name }: Subject): RuleView {
    const { rules, version } = this.#settings;
    return kind === 'server' ? viewForServer(rules, version, server) : viewForTool(rules, version, server, name);
  }

  /** The same pure function that the workflow will apply, on what this process alone has seen. */
  tighten(outcome: LedgerOutcome, now: number): string | undefined {
    if (outcome.kind !== 'failure') return undefined;
    const onServer = countsOnServer(outcome.server, outcome.scope, outcome.category) && outcome.server !== LOCAL;
    const subject: Subject = onServer
      ? { kind: 'server', server: outcome.server, name: '' }
      : { kind: 'tool', server: outcome.server, name: outcome.name };
    const key = onServer ? serverKey(outcome.server) : toolKey(outcome.server, outcome.name);
    const rules = this.rulesOf(subject);
    const local = this.#local.get(key);
    const version = (this.#standings.get(key)?.version ?? 0) + 1;
    const { probe: _, ...failure } = outcome;
    const base = local?.draft ?? draftOf(subject, this.#standings.get(key)?.parts ?? {}, rules, version);
    const draft = { ...base, view: rules, version, effects: [], touched: new Set<string>() };
    applyOne(draft, { ...failure, seq: 0, receivedAt: now });
    if (this.#local.size >= MOST_LOCAL && local === undefined) this.#dropOldest();
    this.#local.set(key, { draft, seq: undefined });
    if (!isPlain(draft.parts)) this.revision += 1;
    return key;
  }

  /** The row that tightened `key` is durable. */
  recorded(key: string, seq: number): void {
    const local = this.#local.get(key);
    if (local !== undefined) local.seq = Math.max(local.seq ?? 0, seq);
  }

  /** The workflow has judged everything up to `seq`: its word replaces ours. Counts that led to nothing are kept. */
  applied(key: string, seq: number): void {
    const local = this.#local.get(key);
    if (local?.seq === undefined || local.seq > seq || isPlain(local.draft.parts)) return;
    this.#local.delete(key);
    this.revision += 1;
  }

  /** Keys with a provisional judgement that waits for the workflow's. */
  provisional(): string[] {
    return [...this.#local].filter(([, { draft }]) => !isPlain(draft.parts)).map(([key]) => key);
  }

  isKnown(key: string): boolean {
    if (this.#known.has(key) || this.#standings.has(key)) return true;
    if (!this.#wanted.has(key)) {
      if (this.#wanted.size >= MOST_WANTED) this.#wanted.clear();
      this.#wanted.add(key);
      this.onWanted();
    }
    return false;
  }

  /** Tools somebody asked about whose being known makes a difference. */
  wanted(): string[] {
    return [...this.#wanted];
  }

  know(keys: readonly string[]): void {
    for (const key of keys) {
      this.#known.add(key);
      this.#wanted.delete(key);
    }
    if (keys.length > 0) this.revision += 1;
  }

  #dropOldest(): void {
    const plain = [...this.#local].find(([, { draft }]) => isPlain(draft.parts)) ?? [...this.#local][0];
    if (plain !== undefined) this.#local.delete(plain[0]);
  }
}
