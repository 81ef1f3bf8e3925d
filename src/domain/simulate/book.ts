import { decide } from '../gate/decide.ts';
import type { InDoubt } from '../gate/decide.ts';
import type { Decision } from '../gate/decision.ts';
import { viewForServer, viewForTool } from '../rules/resolve.ts';
import type { RuleView } from '../rules/resolve.ts';
import type { Rules } from '../rules/rules.schema.ts';
import { advanceAll, applyEntries } from '../trust/apply.ts';
import type { Applied } from '../trust/apply.ts';
import type { PartEffect } from '../trust/draft.ts';
import { countsOnServer, LOCAL } from '../trust/entry.ts';
import type { CallEntry, Entry, OrderEntry } from '../trust/entry.ts';
import { isPlain, nextDue } from '../trust/parts.ts';
import type { Parts, Subject } from '../trust/parts.ts';

/** One subject of a book, and what just happened to it. */
export interface Page {
  readonly key: string;
  readonly subject: Subject;
  readonly rules: RuleView;
  readonly parts: Parts;
  readonly version: number;
}

export interface Touched {
  readonly page: Page;
  readonly parts: readonly string[];
  readonly effects: readonly PartEffect[];
}

/**
 * The trust of many tools in one place, kept in memory: what a simulation turns the pages of. Routing is the ledger's:
 * a failure to reach counts on the server, and a server in doubt sees whatever its tools do.
 */
export class Book {
  readonly #rules: Rules;
  readonly #pages = new Map<string, Page>();
  /** Pages that time alone will change, and when. Most never are among them. */
  readonly #due = new Map<string, number>();

  constructor(rules: Rules) {
    this.#rules = rules;
  }

  pages(): Iterable<Page> {
    return this.#pages.values();
  }

  call(server: string, name: string, entry: CallEntry): readonly Touched[] {
    const touched = [this.#apply({ kind: 'tool', server, name }, [entry])];
    if (server === LOCAL) return touched;
    const subject: Subject = { kind: 'server', server, name: '' };
    const isInDoubt = !isPlain(this.#page(subject).parts);
    const concernsServer = entry.kind === 'failure' && countsOnServer(server, entry.scope, entry.category);
    const { trustVersion: _, ...seenByServer } = entry;
    return concernsServer || isInDoubt ? [this.#apply(subject, [seenByServer]), ...touched] : touched;
  }

  order(subject: Subject, entry: OrderEntry): Touched {
    return this.#apply(subject, [entry]);
  }

  /** Lets time pass for everybody. */
  advance(now: number): readonly Touched[] {
    const due = [...this.#due].filter(([, at]) => at <= now).map(([key]) => this.#pages.get(key));
    return due
      .filter((page) => page !== undefined)
      .map((page) => this.#turn(page, (version) => advanceAll(page.subject, page.parts, now, page.rules, version)));
  }

  decide(server: string, name: string, call: { scope?: string; agent?: string }, now: number): Decision {
    const subject: Subject = { kind: 'tool', server, name };
    const view = viewForTool(this.#rules, 0, server, name);
    const [ofTool, ofServer] = [this.#doubt(subject), this.#doubt({ kind: 'server', server, name: '' })];
    const isKnown = this.#pages.has(keyOf(subject));
    const doubts = {
      ...(ofTool === undefined ? {} : { tool: ofTool }),
      ...(ofServer === undefined ? {} : { server: ofServer }),
    };
    const { situations } = this.#rules;
    return decide(call, { ...doubts, subject, view, situations, situation: 'fresh', isKnown, now });
  }

  find(subject: Subject): Page | undefined {
    return this.#pages.get(keyOf(subject));
  }

  forgetAll(): void {
    this.#pages.clear();
    this.#due.clear();
  }

  #doubt(subject: Subject): InDoubt | undefined {
    const page = this.find(subject);
    return page === undefined || isPlain(page.parts) ? undefined : page;
  }

  #apply(subject: Subject, entries: readonly Entry[]): Touched {
    const page = this.#page(subject);
    return this.#turn(page, (version) => applyEntries(subject, page.parts, entries, page.rules, version));
  }

  #turn(page: Page, apply: (version: number) => Applied): Touched {
    const { parts, effects, touched } = apply(page.version + 1);
    const after = { ...page, parts, version: page.version + (effects.length > 0 ? 1 : 0) };
    this.#pages.set(page.key, after);
    // A deadline is moved by what changes the state, and by the failures that keep an escalation alive.
    const due = touched.length === 0 ? this.#due.get(page.key) : nextDue(page.subject, parts, page.rules)?.at;
    if (due === undefined) this.#due.delete(page.key);
    else this.#due.set(page.key, due);
    return { page: after, parts: touched, effects };
  }

  #page(subject: Subject): Page {
    const { kind, server, name } = subject;
    const key = keyOf(subject);
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const rules = kind === 'server' ? viewForServer(this.#rules, 0, server) : viewForTool(this.#rules, 0, server, name);
    return { key, subject, rules, parts: {}, version: 0 };
  }
}

function keyOf({ kind, server, name }: Subject): string {
  return JSON.stringify([kind, server, name]);
}
