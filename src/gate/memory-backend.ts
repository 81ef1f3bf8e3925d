import { randomUUID } from 'node:crypto';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { settle } from '../domain/trust/absorb.ts';
import { applyEntries } from '../domain/trust/apply.ts';
import { countsOnServer, LOCAL } from '../domain/trust/entry.ts';
import type { CallEntry } from '../domain/trust/entry.ts';
import { nextDue } from '../domain/trust/parts.ts';
import type { Parts, Subject } from '../domain/trust/parts.ts';
import type { Standing } from '../postgres/snapshot.ts';
import type { Backend } from './backend.ts';
import type { View } from './view.ts';

/** Trust that lives and dies with this process: the same pure function, no ledger, no workflow. */
export function createMemoryBackend(view: View, take: (standing: Standing) => void): Backend {
  const known = new Map<string, { subject: Subject; parts: Parts; version: number; seq: number }>();
  const leases = new Map<string, { token: string; until: number }>();
  /** Subjects that time alone will change, and when: few of those that are known. */
  const deadlines = new Map<string, number>();
  let alarm: NodeJS.Timeout | undefined;

  function change(subject: Subject, apply: (parts: Parts, version: number) => Parts): [string, number] {
    const key = subject.kind === 'server' ? serverKey(subject.server) : toolKey(subject.server, subject.name);
    const before = known.get(key) ?? { subject, parts: {}, version: 0, seq: 0 };
    const version = before.version + 1;
    const after = { subject, parts: apply(before.parts, version), version, seq: before.seq + 1 };
    known.set(key, after);
    take({ ...after, ...subject, id: 0, key, dueAt: null, reason: 'it works again' });
    note(key, nextDue(subject, after.parts, view.rulesOf(subject))?.at);
    return [key, after.seq];
  }

  function note(key: string, due: number | undefined): void {
    if (deadlines.get(key) === due) return;
    if (due === undefined) deadlines.delete(key);
    else deadlines.set(key, due);
    wakeAtNextDeadline();
  }

  function wakeAtNextDeadline(): void {
    clearTimeout(alarm);
    let next = Infinity;
    for (const at of deadlines.values()) next = Math.min(next, at);
    if (next === Infinity) return;
    // setTimeout cannot wait for longer than 2^31 ms; it then simply wakes early.
    alarm = setTimeout(advance, Math.min(Math.max(1, next - Date.now()), 2 ** 31 - 1)).unref();
  }

  function advance(): void {
    for (const [key, at] of [...deadlines]) {
      const subject = known.get(key)?.subject;
      if (at > Date.now() || subject === undefined) continue;
      change(subject, (parts, version) => {
        const memory = { subject, parts, version, rules: view.rulesOf(subject), watermark: NOWHERE };
        return settle(memory, Date.now()).memory.parts;
      });
    }
    wakeAtNextDeadline();
  }

  const recorded = new Set<string>();
  function isNew({ callId, server, name, agent }: LedgerOutcome): boolean {
    const id = JSON.stringify([server, name, callId, agent]);
    if (recorded.has(id)) return false;
    recorded.add(id);
    // The oldest goes: whoever sends a report again does so soon.
    const [oldest] = recorded.size > MOST_RECORDED ? recorded : [];
    if (oldest !== undefined) recorded.delete(oldest);
    return true;
  }

  function isInDoubt(server: string): boolean {
    return view.standing(serverKey(server)) !== undefined;
  }

  function judge(outcome: LedgerOutcome): readonly [string, number][] {
    const entry = entryOf(outcome, leases);
    const subjects: Subject[] = [{ kind: 'tool', server: outcome.server, name: outcome.name }];
    const concernsServer = countsOnServer(outcome.server, outcome.scope, outcome.category) || isInDoubt(outcome.server);
    if (outcome.server !== LOCAL && concernsServer) subjects.push({ kind: 'server', server: outcome.server, name: '' });
    return subjects.map((subject) =>
      change(subject, (parts, version) => applyEntries(subject, parts, [entry], view.rulesOf(subject), version).parts),
    );
  }

  return {
    prepare: (outcomes) => Promise.resolve(() => Promise.resolve(new Map(outcomes.filter(isNew).flatMap(judge)))),
    judgesAtOnce: true,
    isKnown: (key) => Promise.resolve(known.has(key)),
    acquireProbe: ({ parts, leaseSeconds }) => {
      const keys = parts.map(({ key, part }) => `${key}#${part}`);
      const now = Date.now();
      if (keys.some((key) => (leases.get(key)?.until ?? 0) > now)) return Promise.resolve(undefined);
      const token = randomUUID();
      for (const key of keys) leases.set(key, { token, until: now + leaseSeconds * 1000 });
      return Promise.resolve(token);
    },
    renewProbe: (token, leaseSeconds) => {
      const mine = [...leases].filter(([, lease]) => lease.token === token && lease.until > Date.now());
      for (const [key] of mine) leases.set(key, { token, until: Date.now() + leaseSeconds * 1000 });
      return Promise.resolve(mine.length > 0);
    },
    releaseProbe: (token) => {
      release(leases, token);
      return Promise.resolve();
    },
    close: () => {
      clearTimeout(alarm);
      return Promise.resolve();
    },
  };
}

const MOST_RECORDED = 10_000;
const NOWHERE = { generation: 'memory', seq: 0, id: null };

function release(leases: Map<string, { token: string; until: number }>, token: string): boolean {
  const mine = [...leases].filter(([, lease]) => lease.token === token);
  const isLive = mine.some(([, lease]) => lease.until > Date.now());
  for (const [key] of mine) leases.delete(key);
  return isLive;
}

function entryOf(
  { probe, ...outcome }: LedgerOutcome,
  leases: Map<string, { token: string; until: number }>,
): CallEntry {
  const lease = probe === undefined ? {} : ({ probe: release(leases, probe) ? 'live' : 'lapsed' } as const);
  return { ...outcome, ...lease, seq: 0, receivedAt: Date.now() };
}
