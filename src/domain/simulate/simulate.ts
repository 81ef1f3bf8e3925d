import { scopeOf } from '../key/scope.ts';
import { serverOf } from '../key/tool-key.ts';
import { outcomeOf } from '../outcome/ledger-outcome.ts';
import type { Rules } from '../rules/rules.schema.ts';
import type { CallEntry, OrderEntry } from '../trust/entry.ts';
import { WHOLE } from '../trust/parts.ts';
import type { Subject } from '../trust/parts.ts';
import { Book } from './book.ts';
import type { Touched } from './book.ts';
import type { OrderEvent, SimulatedEvent } from './events.schema.ts';
import { governing, noticesOf, seenOf } from './line.ts';
import type { Line, Seen } from './line.ts';
import { callOfOrder, giveOrder } from './orders.ts';

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
    const at = atMs / 1000;
    const line = { at, notices: noticesOf(touched), touched: seen.map((one) => ({ at, ...one, ...answer(one) })) };
    if (call === undefined) {
      const shown = governing(seen);
      return shown === undefined ? line : { ...shown, ...line, ...answer(shown) };
    }
    // What time alone has moved meanwhile belongs to the line, not to the call.
    const own = seen.filter((one) => concerns(one, call));
    return { ...(governing([...ownView(call), ...own]) ?? {}), ...line, ...answer(call) };
  }

  function answer(call: {
    server: string;
    tool: string | null;
    scope?: string | null;
    agent?: string | null;
  }): Pick<Line, 'decision' | 'because'> {
    const { scope, agent } = call;
    const at = { ...(scope == null ? {} : { scope }), ...(agent == null ? {} : { agent }) };
    const { decision, because } = book.decide(call.server, call.tool ?? '', at, clockMs);
    return { decision, because };
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
      const receivedMs = ('receivedAt' in event ? event.receivedAt : undefined) ?? event.at;
      const byTime = advanceTo(receivedMs * 1000);
      if ('idle' in event) return lineOf(atMs, byTime);
      if ('restart' in event) {
        if (!rules.persistAcrossSessions) book.forgetAll();
        return lineOf(atMs, byTime);
      }
      if (isOrder(event)) return lineOf(atMs, [...byTime, ...giveOrder(book, event, clockMs)], callOfOrder(event));
      const { receivedAt: _, startedAt, ...report } = event;
      // As the ledger has it: a report may be late, within bounds, and is never from the future.
      const at = Math.max(Math.min(atMs, clockMs), clockMs - rules.maxLatenessSeconds * 1000);
      const { probe, ...call } = outcomeOf(
        { ...report, at, ...(startedAt === undefined ? {} : { startedAt: startedAt * 1000 }) },
        { callId: '', now: clockMs },
      );
      const lease = probe === undefined ? {} : ({ probe: 'live' } as const);
      const entry: CallEntry = { ...call, ...lease, seq: 0, receivedAt: clockMs };
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

/** Whether the state of a subject has a say about a call. */
function concerns(seen: Seen, call: { server: string; tool: string; scope?: string }): boolean {
  if (seen.server !== call.server) return false;
  return seen.tool === null || (seen.tool === call.tool && (seen.scope === null || seen.scope === call.scope));
}

function distinct(seen: readonly Seen[]): readonly Seen[] {
  const byIdentity = new Map(seen.map((one) => [JSON.stringify([one.server, one.tool, one.scope, one.agent]), one]));
  return [...byIdentity.values()];
}
