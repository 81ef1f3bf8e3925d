import { outcomeOf } from '../domain/outcome/ledger-outcome.ts';
import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { readReport } from '../domain/outcome/report.schema.ts';
import type { Report } from '../domain/outcome/report.schema.ts';
import type { Seen } from '../domain/approval/about.ts';
import type { Decision } from '../domain/gate/decision.ts';
import { serverOf, shownName } from '../domain/key/tool-key.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import type { Asked } from '../postgres/approval-ask.ts';
import { newOutcomeId, outcomeId } from '../postgres/outcome-id.ts';
import type { Backend } from './backend.ts';
import { InvalidReport } from './errors.ts';
import type { Emitter, GateEvents } from './events.ts';
import { createGuard } from './guard.ts';
import type { GuardContext, Guarded, GuardOptions } from './guard.ts';
import { askAbout, takeBack } from './held.ts';
import { createReporter } from './reporter.ts';
import type { Pressure, Reporter } from './reporter.ts';
import { ReportedOutcome } from './reported-outcome.ts';
import { SucceededCall } from './succeeded-call.ts';
import type { PlainSuccess } from './succeeded-call.ts';
import { ToolGate } from './tool-gate.ts';
import type { CallContext } from './tool-gate.ts';
import type { View } from './view.ts';

export interface Call extends CallContext {
  readonly tool: string;
  readonly server?: string;
  readonly args?: unknown;
}

/** A call that a person is to be asked about. */
export interface Question extends Call {
  readonly callId?: string;
  /** Why, where the gate itself would let it through. */
  readonly because?: string;
  /** What is held as far as whoever asks knows; it can only add to what this gate knows. */
  readonly seen?: Seen;
  /** The person behind the agent: whoever that is cannot decide about it. */
  readonly owner?: string;
}

export interface GateParts {
  readonly view: View;
  readonly backend: Backend;
  readonly emitter: Emitter;
  readonly bufferLimit: number;
  /** How long `guard` waits for a person, unless its own options say otherwise. */
  readonly approvalWaitMs: number;
  /** False: every call is allowed and nothing is recorded. */
  readonly enabled: boolean;
  readonly identity: { readonly agent?: string; readonly session?: string };
  readonly close: () => Promise<void>;
}

type ToolsByServer = Map<string, Map<string, ToolGate>>;

const MOST_REMEMBERED = 100_000;
const CLOSE_WITHIN_MS = 10_000;

/** Asks before a call, reports after it. Made by `connect`. */
export class Gate {
  readonly #parts: GateParts;
  readonly #reporter: Reporter;
  #tools: ToolsByServer = new Map();
  /** Those of before: whoever is not asked for while as many others are makes room. */
  #older: ToolsByServer = new Map();
  #remembered = 0;
  #closing: Promise<void> | undefined;

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#reporter = createReporter({
      prepare: (outcomes) => parts.backend.prepare(outcomes),
      limit: parts.bufferLimit,
    });
  }

  /** The fast path: keep what this returns and call its `check`. */
  tool(server: string, name: string): ToolGate {
    const known = this.#tools.get(server)?.get(name);
    if (known !== undefined) return known;
    if (this.#remembered >= MOST_REMEMBERED) {
      this.#older = this.#tools;
      this.#tools = new Map();
      this.#remembered = 0;
    }
    // As reports have it: what was said of a name must be found by it.
    const tool =
      this.#older.get(server)?.get(name) ??
      new ToolGate(this.#parts.view, shownName(server), shownName(name), this.#parts.identity);
    const ofServer = this.#tools.get(server) ?? new Map<string, ToolGate>();
    this.#tools.set(server, ofServer.set(name, tool));
    this.#remembered += 1;
    return tool;
  }

  /** May this call be made now? Synchronous, no network. */
  check(call: Call): Decision {
    if (typeof call.tool !== 'string') throw new TypeError('a call names its tool: { tool: "…", args: … }');
    return this.tool(serverOf(call), call.tool).check(call.args, call);
  }

  /**
   * Says what became of a call. Resolves with the call's id when that is durable; reporting the same id again changes
   * nothing.
   */
  report(report: Report): Promise<string> {
    return new Promise((resolve, reject) => {
      const outcome = this.#read(report);
      const { callId } = outcome;
      if (!this.#parts.enabled) {
        resolve(callId);
        return;
      }
      const waiting = this.#waiting(outcome, (error) => {
        if (error === undefined) resolve(callId);
        else reject(error);
      });
      this.#reporter.add(waiting);
      waiting.observe();
    });
  }

  /**
   * Asks a person about a call that is held, and answers the question without waiting: for whoever does not use `guard`.
   * The same call finds the question it asked before. Undefined where nothing holds the call and no reason is given. What the
   * agent was granted to another definition ends.
   */
  async ask(call: Question): Promise<Asked | undefined> {
    const { backend, view, identity } = this.#parts;
    const tool = this.tool(serverOf(call), call.tool);
    const { session = identity.session, scope, callId = newOutcomeId() } = call;
    const agent = view.tokenAgent ?? call.agent ?? identity.agent;
    const known = {
      ...(agent === undefined ? {} : { agent }),
      ...(session === undefined ? {} : { session }),
      ...(scope === undefined ? {} : { scope }),
    };
    const held = {
      tool,
      view,
      approvals: backend.approvals,
      args: call.args,
      call: { ...known, callId, ...(call.owner === undefined ? {} : { owner: call.owner }) },
      ledgerId: outcomeId(callId, tool.server, tool.name, agent),
      check: () => tool.check(call.args, { ...call, ...known }),
      until: Date.now(),
      over: view.closing.signal,
      definition: call.definition,
    };
    return askAbout(held, call);
  }

  /** Takes back a question that nobody needs an answer to any more. Only tidies: what nobody waits for expires by itself. */
  withdraw(approval: string, because: string): Promise<void> {
    return takeBack(this.#parts.backend.approvals, approval, because);
  }

  /** Wraps a function so that it runs only if the gate lets it, and is reported. Rejects with ApprovalRequired or CallDenied. */
  guard<Args, Result>(
    tool: string | { readonly server?: string; readonly name: string },
    run: Guarded<Args, Result>,
    options?: GuardOptions<Args>,
  ): (args: Args, context?: GuardContext) => Promise<Result> {
    const { server = LOCAL, name } = typeof tool === 'string' ? { name: tool } : tool;
    const { backend, view, identity, approvalWaitMs } = this.#parts;
    const needs = {
      approvalWaitMs,
      tool: this.tool(server, name),
      backend,
      view,
      identity,
      refuseUnreportable: (report: Report) => void this.#read(report),
      report: (report: Report) => this.report(report),
      enqueue: (report: Report) => this.#enqueue(report),
      settle: (report: Report) => this.#settle(report),
      succeeded: (call: PlainSuccess) => this.#succeeded(call),
    };
    return createGuard(needs, run, options);
  }

  on<Name extends keyof GateEvents>(name: Name, listener: (event: GateEvents[Name]) => unknown): () => void {
    return this.#parts.emitter.on(name, listener);
  }

  /** How many reports wait, and why. */
  get pressure(): Pressure {
    return this.#reporter.pressure();
  }

  /** How well informed the gate is: `fresh`, `stale`, or `empty` before it has learnt anything. */
  get situation(): View['situation'] {
    return this.#parts.view.situation;
  }

  /** Epoch milliseconds until which an operator lets everything through but what nobody can; null where that is over. */
  get brokenGlassUntil(): number | null {
    const until = this.#parts.view.settings.brokenGlassUntil;
    return until !== null && until > Date.now() ? until : null;
  }

  /** Sends what is waiting, then lets go. Reports that cannot be sent in time are rejected, not dropped. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#parts.view.closing.abort();
    await this.#reporter.close(CLOSE_WITHIN_MS);
    await this.#parts.close();
    // Whoever still asks is answered by somebody who no longer listens.
    this.#parts.view.setSituation('stale');
  }

  #read(report: Report): LedgerOutcome {
    const parsed = parse(report);
    if (!parsed.success) {
      const complaints = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'report'}: ${message}`);
      throw new InvalidReport(`the report was not recorded: ${complaints.join('; ')}`);
    }
    const { agent, session } = this.#parts.identity;
    return outcomeOf(parsed.data, { callId: newOutcomeId(), now: Date.now(), agent, session });
  }

  async #enqueue(report: Report, done = this.#announceUnrecorded): Promise<void> {
    const outcome = this.#read(report);
    if (!this.#parts.enabled) {
      done();
      return;
    }
    const waiting = this.#waiting(outcome, done);
    await this.#reporter.addWhenRoom(waiting);
    waiting.observe();
  }

  #settle(report: Report): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: Error) => {
        this.#announceUnrecorded(error);
        resolve();
      };
      this.#enqueue(report, done).catch(reject);
    });
  }

  /** The usual end of a guarded call: most of what is to be done is done when the buffer is sent. */
  #succeeded(call: PlainSuccess): Promise<void> | undefined {
    const { enabled, view } = this.#parts;
    if (!enabled) return undefined;
    const { key, serverKey, server, name } = call.tool;
    if (view.local.isCounting(key) || view.local.isCounting(serverKey)) {
      const { scope, at, startedAt } = call;
      const seen = { kind: 'success', server, name, at, startedAt, callId: '' } as const;
      view.observe(scope === undefined ? seen : { ...seen, scope }, at, call.tool);
    }
    const waiting = new SucceededCall(call, this.#parts.identity, this.#announceUnrecorded);
    if (this.#reporter.isFull()) return this.#reporter.addWhenRoom(waiting);
    this.#reporter.add(waiting);
    return undefined;
  }

  readonly #announceUnrecorded = (error?: Error): void => {
    if (error !== undefined) this.#parts.emitter.emit('unrecorded', { error });
  };

  #waiting(outcome: LedgerOutcome, done: (error?: Error) => void): ReportedOutcome {
    return new ReportedOutcome(outcome, this.#parts, this.tool(outcome.server, outcome.name), done);
  }
}

/** A getter of the report may throw whatever it likes. */
function parse(report: unknown): ReturnType<typeof readReport> {
  try {
    return readReport(report);
  } catch (error) {
    throw new InvalidReport('the report was not recorded: it cannot be read', { cause: error });
  }
}
