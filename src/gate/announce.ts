import { escalationOf } from '../domain/gate/decide.ts';
import { noticeOf } from '../domain/gate/prompt.ts';
import type { NoticeKind } from '../domain/gate/prompt.ts';
import { labelOf } from '../domain/trust/describe.ts';
import { ruleOfPart, scopeOfPart, WHOLE } from '../domain/trust/parts.ts';
import type { TrustState } from '../domain/trust/trust.ts';
import type { Standing } from '../postgres/snapshot.ts';
import type { Emitter } from './events.ts';
import type { View } from './view.ts';

const CHANGE: Readonly<Record<TrustState['status'], NoticeKind>> = {
  TRUSTED: 'recovered',
  ESCALATED: 'escalated',
  RECOVERING: 'recovering',
  BLOCKED: 'blocked',
};

/** Turns a new projection into events, one for each part whose state is another. A rule may ask for silence. */
export function announceChanges(emitter: Emitter, view: View, before: Standing | undefined, after: Standing): void {
  const subject = { kind: after.kind, server: after.server, name: after.name };
  const rules = view.rulesOf(subject);
  for (const part of new Set([...Object.keys(before?.parts ?? {}), ...Object.keys(after.parts)])) {
    const was = before?.parts[part]?.status ?? 'TRUSTED';
    const state = after.parts[part];
    const is = state?.status ?? 'TRUSTED';
    if (was === is || !ruleOfPart(subject, rules, part).notify) continue;
    const scope = scopeOfPart(part);
    const escalation =
      state === undefined ? undefined : escalationOf({ doubt: { ...after, subject, rules }, part, state }, Date.now());
    const reason = state === undefined || state.status === 'TRUSTED' ? after.reason : state.reason;
    emitter.emit(CHANGE[is], {
      server: subject.server,
      tool: subject.name,
      ...(scope === WHOLE ? {} : { scope }),
      reason,
      notice: noticeOf(CHANGE[is], labelOf(subject, part), reason, escalation?.recoveryHint ?? ''),
      ...(escalation === undefined ? {} : { escalation }),
    });
  }
}
