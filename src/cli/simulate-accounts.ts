import type { Answer } from '../domain/gate/decision.ts';
import { scopesOf } from '../domain/key/scope.ts';
import { serverOf } from '../domain/key/tool-key.ts';
import type { SimulatedEvent } from '../domain/simulate/events.schema.ts';
import type { Line } from '../domain/simulate/line.ts';
import type { LedgerEvent, Simulation } from '../domain/simulate/simulate.ts';
import { nameOf } from '../domain/trust/describe.ts';
import { WHOLE } from '../domain/trust/parts.ts';
import type { Status } from '../domain/trust/trust.ts';
import type { AuditEntry } from '../postgres/read-audit.ts';

/** What a subject went through. */
export interface Account {
  escalated: number;
  blocked: number;
  /** Milliseconds in which any part of it was in doubt. */
  doubtedMs: number;
  doubtedSince: number | undefined;
  readonly parts: Map<string, Status>;
  readonly answers: Record<Answer, number>;
}

export type Accounts = Map<string, Account>;

function accountOf(accounts: Accounts, name: string): Account {
  const known = accounts.get(name);
  if (known !== undefined) return known;
  const answers = { allow: 0, ask: 0, deny: 0 };
  const fresh = { escalated: 0, blocked: 0, doubtedMs: 0, doubtedSince: undefined, parts: new Map(), answers };
  accounts.set(name, fresh);
  return fresh;
}

function note(account: Account, part: string, status: Status, at: number): void {
  const before = account.parts.get(part) ?? 'TRUSTED';
  if (status === before) return;
  if (status === 'ESCALATED') account.escalated += 1;
  if (status === 'BLOCKED') account.blocked += 1;
  if (status === 'TRUSTED') account.parts.delete(part);
  else account.parts.set(part, status);
  if (account.parts.size > 0) account.doubtedSince ??= at;
  else settle(account, at);
}

function settle(account: Account, at: number): void {
  if (account.doubtedSince !== undefined) account.doubtedMs += Math.max(0, at - account.doubtedSince);
  account.doubtedSince = undefined;
}

/** Plays events and keeps accounts of what became of each subject. */
export function createObserver(simulation: Simulation) {
  const accounts: Accounts = new Map();
  /** When time alone will change something, in seconds. */
  const deadlines = new Map<string, number>();
  let latest = 0;

  function observe(line: Line): void {
    for (const { server, tool, scope, state, dueAt } of line.touched) {
      const name = nameOf({ kind: tool === null ? 'server' : 'tool', server, name: tool ?? '' });
      note(accountOf(accounts, name), scope ?? WHOLE, state, line.at * 1000);
      const part = JSON.stringify([name, scope]);
      if (dueAt === null) deadlines.delete(part);
      else deadlines.set(part, dueAt);
    }
  }
  // Time first and apart from the event: an escalation that ended before a relapse is two, not one.
  function passTo(at: number): void {
    latest = Math.max(latest, at);
    const isDue = [...deadlines.values()].some((dueAt) => dueAt * 1000 <= latest);
    if (isDue) observe(simulation.advance(latest));
  }
  /** What the gate says before the call, which is when it is asked. */
  function answer(server: string, name: string, call: { scope?: string; agent?: string }): void {
    const { decision } = simulation.book.decide(server, name, call, latest);
    accountOf(accounts, nameOf({ kind: 'tool', server, name })).answers[decision] += 1;
  }

  return {
    event(event: SimulatedEvent): void {
      passTo(event.at * 1000);
      if ('tool' in event && event.tool !== undefined && !isOrder(event)) {
        const [scope] = scopesOf(event.tool, event.args, 'scope' in event ? event.scope : undefined);
        const agent = 'agent' in event ? event.agent : undefined;
        answer(serverOf(event), event.tool, callOf(scope, agent));
      }
      observe(simulation.event(event));
      if ('restart' in event && isEmpty(simulation.book.pages())) forgetAll(accounts, latest);
    },
    row(event: LedgerEvent): void {
      const { subject, entry } = event;
      passTo(entry.receivedAt);
      if ('agent' in entry || !('by' in entry)) {
        answer(subject.server, subject.name, callOf(entry.scope, 'agent' in entry ? entry.agent : undefined));
      }
      observe(simulation.row(event));
    },
    /** `now` in epoch milliseconds; the time of the last event if absent. */
    end(now = latest): Accounts {
      passTo(now);
      for (const account of accounts.values()) settle(account, latest);
      return accounts;
    },
  };
}

/** Trust that is kept per session ends with it. */
function forgetAll(accounts: Accounts, at: number): void {
  for (const account of accounts.values()) {
    for (const part of [...account.parts.keys()]) note(account, part, 'TRUSTED', at);
  }
}

const STATUS_AFTER: Readonly<Record<string, Status>> = {
  escalated: 'ESCALATED',
  relapsed: 'ESCALATED',
  recovering: 'RECOVERING',
  recovered: 'TRUSTED',
  blocked: 'BLOCKED',
  reset: 'TRUSTED',
};

/** The same accounts from what the audit says really happened. Newest first, as it is read. */
export function whatHappened(audit: readonly AuditEntry[], now: number): Accounts {
  const accounts: Accounts = new Map();
  for (const { kind, server, name, part, action, at } of audit.toReversed()) {
    const status = STATUS_AFTER[action];
    if (status === undefined) continue;
    const account = accountOf(accounts, nameOf({ kind, server, name }));
    // A reset of the whole takes every part with it.
    if (action === 'reset' && (part ?? WHOLE) === WHOLE) {
      for (const other of [...account.parts.keys()]) note(account, other, 'TRUSTED', at);
    }
    note(account, part ?? WHOLE, status, at);
  }
  for (const account of accounts.values()) settle(account, now);
  return accounts;
}

function callOf(scope: string | undefined, agent: string | undefined): { scope?: string; agent?: string } {
  return { ...(scope === undefined ? {} : { scope }), ...(agent === undefined ? {} : { agent }) };
}

function isOrder(event: SimulatedEvent): boolean {
  return 'reset' in event || 'recover' in event || 'block' in event;
}

function isEmpty(items: Iterable<unknown>): boolean {
  return items[Symbol.iterator]().next().done === true;
}
