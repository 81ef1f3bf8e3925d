import { setMaxListeners } from 'node:events';
import type { InDoubt, Situation } from '../domain/gate/decide.ts';
import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { viewForServer, viewForTool } from '../domain/rules/resolve.ts';
import type { RuleView } from '../domain/rules/resolve.ts';
import { Recent } from '../domain/recent.ts';
import type { Rules } from '../domain/rules/rules.schema.ts';
import { isPlain } from '../domain/trust/parts.ts';
import type { Subject } from '../domain/trust/parts.ts';
import { stricterOf } from '../domain/trust/reconcile.ts';
import type { Settings, Standing } from '../postgres/snapshot.ts';
import { Grants } from './grants.ts';
import { LocalCounts } from './local-counts.ts';
import type { Keys } from './local-counts.ts';
import { Waiters } from './waiters.ts';

const MOST_WANTED = 10_000;
const MOST_RULE_VIEWS = 1000;

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
  readonly local = new LocalCounts(() => {
    this.revision += 1;
  });
  readonly grants = new Grants(() => {
    this.revision += 1;
  });
  readonly waiters = new Waiters();
  /** Whose token it is, where a server says so: then every call is that agent's, whatever it says itself. */
  tokenAgent: string | undefined;
  /** Nobody waits for a person any longer. */
  readonly closing = new AbortController();
  readonly #known = new Set<string>();
  readonly #wanted = new Set<string>();
  #hasUnasked = false;
  #ruleViews = new Recent<string, RuleView>(MOST_RULE_VIEWS);
  #settings: Settings;

  constructor(rules: Rules) {
    this.#settings = { rules, version: 0, brokenGlassUntil: null };
    // Every call that waits for a person listens, and stops listening when it no longer waits: many are no leak.
    setMaxListeners(0, this.closing.signal);
  }

  get settings(): Settings {
    return this.#settings;
  }

  setSettings(settings: Settings): void {
    this.#settings = settings;
    this.#ruleViews = new Recent(MOST_RULE_VIEWS);
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
    this.local.applied(standing.key, standing.seq, standing.parts);
    const isTrusted = isPlain(standing.parts);
    // Nothing was held against it and nothing is: whoever remembers an answer may go on doing so.
    if (isTrusted && before === undefined) return null;
    if (isTrusted) this.#standings.delete(standing.key);
    else this.#standings.set(standing.key, standing);
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
    const local = this.local.parts(key) ?? {};
    if (standing === undefined && isPlain(local)) return undefined;
    const parts = stricterOf(standing?.parts ?? {}, local);
    return { key, subject, rules, parts, version: standing?.version ?? 0 };
  }

  /** Resolved once: whoever fails often is asked about often. */
  rulesOf({ kind, server, name }: Subject): RuleView {
    const { rules, version } = this.#settings;
    const key = `${kind}\0${server}\0${name}`;
    const known = this.#ruleViews.get(key);
    if (known !== undefined) return known;
    const view = kind === 'server' ? viewForServer(rules, version, server) : viewForTool(rules, version, server, name);
    this.#ruleViews.set(key, view);
    return view;
  }

  /**
   * Takes in what this process has just seen of a tool, whose keys its ToolGate has. Answers the subject that a failure was
   * held against; whoever asked must say what became of that failure's report (`local.settle`).
   */
  observe(outcome: LedgerOutcome, now: number, keys: Keys): string | undefined {
    if (outcome.kind === 'success') this.local.succeeded(keys, outcome, now);
    if (outcome.kind !== 'failure' || this.local.hasSeen(outcome)) return undefined;
    return this.local.failed(keys, outcome, now, (key, subject) => [
      this.#standings.get(key) ?? { version: 0, parts: {} },
      this.rulesOf(subject),
    ]);
  }

  isKnown(key: string): boolean {
    if (this.#known.has(key) || this.#standings.has(key)) return true;
    if (!this.#wanted.has(key)) {
      if (this.#wanted.size >= MOST_WANTED) this.#wanted.clear();
      this.#wanted.add(key);
      this.#hasUnasked = true;
      this.onWanted();
    }
    return false;
  }

  /** Whether somebody has asked about a tool since `wanted` was last looked at. */
  get hasUnasked(): boolean {
    return this.#hasUnasked;
  }

  /** Tools somebody asked about whose being known makes a difference. */
  wanted(): string[] {
    this.#hasUnasked = false;
    return [...this.#wanted];
  }

  know(keys: readonly string[]): void {
    for (const key of keys) {
      this.#known.add(key);
      this.#wanted.delete(key);
    }
    if (keys.length > 0) this.revision += 1;
  }
}
