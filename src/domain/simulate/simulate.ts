import { matchesGlob } from '../key/glob.ts';
import { normaliseScope, scopeOf } from '../key/scope.ts';
import { serverOf } from '../key/tool-key.ts';
import { outcomeOf } from '../outcome/ledger-outcome.ts';
import type { Rules } from '../rules/rules.schema.ts';
import type { CallEntry, OrderEntry } from '../trust/entry.ts';
import { LOCAL } from '../trust/entry.ts';
import type { OrderName } from '../trust/event.ts';
import { WHOLE } from '../trust/parts.ts';
import type { Subject } from '../trust/parts.ts';
import { Book } from './book.ts';
import type { Touched } from './book.ts';
import type { OrderEvent, SimulatedEvent, Target } from './events.schema.ts';
import { governing, noticesOf, seenOf } from './line.ts';
import type { Line, Seen } from './line.ts';

/** Something that happened to one subject, already classified: a row of the ledger. */
export interface LedgerEvent {
  readonly subject: Subject;
  readonly entry: CallEntry | OrderEntry;
}

/** Replays events on their own clock through the code that runs in the workflows, deadlines in between included. */
export function createSimulation(rules: Rules) {
  const book = new Book(rules);
  let clockMs = 0;

  function advanceTo(nowMs: number): readonly Touched[] {
    clockMs = Math.max(clockMs, nowMs);
    return book.advance(clockMs);
  }

  function lineOf(
    atMs: number,
    touched: readonly Touched[],
    call?: { tool: string; server: string; scope?: string; agent?: string },
  ): Line {
    const seen = distinct(
      touched.flatMap(({ page, parts }) => parts.map((part) => seenOf(book.find(page.subject) ?? page, part, clockMs))),
    );
    const line = { at: atMs / 1000, notices: noticesOf(touched), touched: seen };
    if (call === undefined) return line;
    const own = ownView(call);
    const { decision, because } = book.decide(call.server, call.tool, call, clockMs);
    return { ...(governing([...own, ...seen]) ?? {}), ...line, decision, because };
  }

  /** What has a say about a call, touched or not. */
  function ownView({ server, tool, scope }: { tool: string; server: string; scope?: string }): Seen[] {
    const ofServer = book.find({ kind: 'server', server, name: '' });
    const ofTool = book.find({ kind: 'tool', server, name: tool });
    return [
      ...(ofServer === undefined ? [] : [seenOf(ofServer, WHOLE, clockMs)]),
      ...(ofTool === undefined ? [] : [WHOLE, scope ?? WHOLE].map((part) => seenOf(ofTool, part, clockMs))),
    ];
  }

  return {
    book,
    /** Takes one event of a file. */
    event(event: SimulatedEvent): Line {
      const atMs = event.at * 1000;
      const byTime = advanceTo(atMs);
      if ('idle' in event) return lineOf(atMs, byTime);
      if ('restart' in event) {
        if (!rules.persistAcrossSessions) book.forgetAll();
        return lineOf(atMs, byTime);
      }
      if (isOrder(event)) return lineOf(atMs, [...byTime, ...order(book, event, atMs)], targetCall(event));
      const { receivedAt, startedAt, ...report } = event;
      const outcome = outcomeOf(
        { ...report, at: atMs, ...(startedAt === undefined ? {} : { startedAt: startedAt * 1000 }) },
        { callId: '', now: atMs },
      );
      const { probe: _, ...call } = outcome;
      const entry: CallEntry = { ...call, seq: 0, receivedAt: (receivedAt ?? event.at) * 1000 };
      const server = serverOf(report);
      const touched = book.call(server, report.tool, entry);
      return lineOf(atMs, [...byTime, ...touched], { ...call, server, tool: report.tool });
    },
    /** Takes one row of a ledger. */
    row({ subject, entry }: LedgerEvent): Line {
      const byTime = advanceTo(entry.receivedAt);
      const { server, name } = subject;
      if (!isCall(entry)) return lineOf(entry.at, [...byTime, book.order(subject, entry)]);
      const touched = book.call(server, name, entry);
      return lineOf(entry.at, [...byTime, ...touched], { ...entry, server, tool: name });
    },
    /** What a call would meet now. */
    look(call: { tool: string; server?: string; args?: unknown; agent?: string }): Line {
      const scope = scopeOf(call.tool, call.args);
      return lineOf(clockMs, [], { ...call, server: serverOf(call), ...(scope === undefined ? {} : { scope }) });
    },
    /** Lets time pass after the last event. */
    advance(nowMs: number): Line {
      return lineOf(nowMs, advanceTo(nowMs));
    },
  };
}

export type Simulation = ReturnType<typeof createSimulation>;

function isOrder(event: SimulatedEvent): event is OrderEvent {
  return 'reset' in event || 'recover' in event || 'block' in event;
}

function isCall(entry: CallEntry | OrderEntry): entry is CallEntry {
  return entry.kind === 'success' || entry.kind === 'failure' || entry.kind === 'unknown';
}

function order(book: Book, event: OrderEvent, atMs: number): readonly Touched[] {
  const [name, target] = nameAndTarget(event);
  const { by = 'simulation', reason = '' } = event;
  const entry = { kind: name, seq: 0, at: atMs, receivedAt: atMs, by, reason } as const;
  if (typeof target !== 'object') {
    const pattern = target === true ? (event.tool ?? '*') : target;
    const matching = [...book.pages()].filter(({ subject }) => matchesSubject(pattern, subject));
    return matching.map(({ subject }) => book.order(subject, entry));
  }
  const subject: Subject = { kind: 'tool', server: target.server ?? LOCAL, name: target.tool };
  const scope = target.scope === undefined ? scopeOf(target.tool, target.args) : normaliseScope(target.scope);
  return [book.order(subject, scope === undefined ? entry : { ...entry, scope })];
}

function nameAndTarget(event: OrderEvent): [OrderName, Target] {
  if ('reset' in event) return ['reset', event.reset];
  return 'recover' in event ? ['recover', event.recover] : ['block', event.block];
}

/** The call an order speaks of, where it speaks of one. */
function targetCall(event: OrderEvent): { tool: string; server: string; scope?: string } | undefined {
  const [, target] = nameAndTarget(event);
  const call =
    typeof target === 'object' ? target : { tool: typeof target === 'string' ? target : event.tool, ...event };
  if (call.tool === undefined || /[*?]/.test(call.tool)) return undefined;
  const scope = scopeOf(call.tool, call.args);
  return { tool: call.tool, server: call.server ?? LOCAL, ...(scope === undefined ? {} : { scope }) };
}

/** `name`, `server/name`, or a glob of either; `server:name` for a server itself. */
export function matchesSubject(pattern: string, { kind, server, name }: Subject): boolean {
  if (kind === 'server') return pattern === '*' || matchesGlob(pattern, `server:${server}`);
  return matchesGlob(pattern, name) || matchesGlob(pattern, `${server}/${name}`);
}

function distinct(seen: readonly Seen[]): readonly Seen[] {
  const byIdentity = new Map(seen.map((one) => [JSON.stringify([one.server, one.tool, one.scope]), one]));
  return [...byIdentity.values()];
}
