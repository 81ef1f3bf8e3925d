import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask, Decision } from '../domain/gate/decision.ts';
import { scopesOf } from '../domain/key/scope.ts';
import type { Consumed } from '../postgres/grants.ts';
import type { ProbeRequest } from '../postgres/probes.ts';
import type { Backend } from './backend.ts';
import { CallDenied } from './errors.ts';
import { consumeInTime, dropQuestion, untilDecided } from './held.ts';
import type { HeldCall } from './held.ts';

const PROBE_POLL_MS = 100;

interface Probe {
  readonly token: string;
  readonly leaseSeconds: number;
}

interface Admission {
  readonly decision: Decision;
  /** Absent where none is needed. */
  readonly probe?: Probe;
  /** What a person has granted. */
  readonly grant?: Consumed;
}

/**
 * By what a held call may run; rejects where it may not. A probe that somebody else holds is waited for, since it may soon be
 * over; then a person is asked. What has become of the tool meanwhile is looked at again each time: it may have recovered, or
 * relapsed.
 */
export async function admitted(backend: Backend, held: HeldCall): Promise<Admission> {
  const { tool, view, check, args, call, ledgerId, definition } = held;
  for (let deadline = Infinity; ;) {
    const decision = check();
    if (decision.decision !== 'ask') await dropQuestion(held, decision.because);
    if (decision.decision === 'allow') return { decision };
    if (decision.decision === 'deny') throw new CallDenied(decision);
    if (definition !== undefined) {
      await backend.approvals?.define({ key: tool.key, definition, agent: call.agent }).catch(() => undefined);
    }
    if (decision.via === 'grant' && decision.grant !== undefined) {
      const { approvals } = backend;
      const grant = approvals && (await consumeInTime(held, approvals, decision.grant));
      if (grant !== undefined) return { decision, grant };
      view.grants.spend(tool.key, decision.grant);
      continue;
    }
    if (decision.via === 'person' || decision.probes === undefined) {
      if (await isNews(backend, held, decision)) continue;
      const grant = await untilDecided(held, decision);
      if (grant !== undefined) return { decision, grant };
      continue;
    }
    const { rule } = tool.rules.own;
    const [scope] = scopesOf(tool.name, args, call.scope);
    deadline = Math.min(deadline, Date.now() + rule.probeWaitMs);
    const token = await acquire(backend, {
      parts: decision.probes,
      toolKey: tool.key,
      ...call,
      ...(scope === undefined ? {} : { scope }),
      callId: ledgerId,
      trustVersion: decision.trustVersion ?? 0,
      leaseSeconds: rule.probeLeaseSeconds,
    });
    if (token !== undefined) {
      await dropQuestion(held, 'it is tried under a lease');
      return { decision, probe: { token, leaseSeconds: rule.probeLeaseSeconds } };
    }
    if (Date.now() >= deadline) {
      const grant = await untilDecided(held, decision);
      if (grant !== undefined) return { decision, grant };
    }
    await sleep(PROBE_POLL_MS);
  }
}

/**
 * Whether the ledger has seen the tool although the gate has not. Where it has not either, the call goes on waiting for its
 * own answer, also when another call of the tool was let through meanwhile.
 */
async function isNews(backend: Backend, held: HeldCall, decision: Ask): Promise<boolean> {
  const { tool, view } = held;
  if (decision.escalation !== undefined || held.isOfUnknown === true || view.isKnown(tool.key)) return false;
  // Without the ledger nobody knows, and then a person is asked.
  const isKnown = await backend.isKnown(tool.key).catch(() => undefined);
  if (isKnown === true) view.know([tool.key]);
  held.isOfUnknown = isKnown === false && view.situation === 'fresh';
  return isKnown === true;
}

/** A probe that cannot be asked for cannot be had: then a person is asked, as when somebody else has it. */
async function acquire(backend: Backend, request: ProbeRequest): Promise<string | undefined> {
  return backend.acquireProbe(request).catch(() => undefined);
}

/** Tells the ledger that the probe is alive. If that fails the lease lapses, and the outcome will not count as a success. */
export function keepRenewed(backend: Backend, { token, leaseSeconds }: Probe) {
  const timer = setInterval(
    () => {
      backend.renewProbe(token, leaseSeconds).catch(() => undefined);
    },
    (leaseSeconds * 1000) / 3,
  );
  return { stop: () => clearInterval(timer) };
}
