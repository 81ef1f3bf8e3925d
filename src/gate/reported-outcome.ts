import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import type { Backend } from './backend.ts';
import type { Places, Waiting } from './reporter.ts';
import type { ToolGate } from './tool-gate.ts';
import type { View } from './view.ts';

interface Parts {
  readonly view: View;
  readonly backend: Backend;
}

/** What this process makes of an outcome ends when the ledger's word is known, and is nothing without a place in it. */
export class ReportedOutcome implements Waiting {
  readonly outcome: LedgerOutcome;
  readonly #parts: Parts;
  readonly #tool: ToolGate;
  readonly #done: (error?: Error) => void;
  /** The subject that the failure is held against. */
  #blamed: string | undefined;

  constructor(outcome: LedgerOutcome, parts: Parts, tool: ToolGate, done: (error?: Error) => void) {
    this.outcome = outcome;
    this.#parts = parts;
    this.#tool = tool;
    this.#done = done;
  }

  observe(): void {
    this.#blamed = this.#parts.view.observe(this.outcome, Date.now(), this.#tool);
  }

  settled(places: Places | undefined, error?: Error): void {
    if (this.#blamed !== undefined) this.#settle(this.#blamed, places?.get(this.#blamed));
    this.#done(error);
  }

  #settle(blamed: string, place: number | undefined): void {
    const { view, backend } = this.#parts;
    view.local.settle(blamed, place);
    if (place !== undefined && backend.judgesAtOnce) view.local.applied(blamed, place);
  }
}
