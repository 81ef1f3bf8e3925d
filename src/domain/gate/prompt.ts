import type { Ask, Deny, Escalation } from './decision.ts';
import { evidenceOf } from './decide.ts';

const NEXT: Readonly<Record<Escalation['state'], string>> = {
  ESCALATED: 'requires approval',
  RECOVERING: 'one call at a time',
  BLOCKED: 'blocked',
};

/** What a person reads before deciding about a held call. `what` is a summary of the call; it holds no secrets. */
export function promptFor(tool: string, what: string, decision: Ask | Deny): string {
  const { escalation } = decision;
  if (escalation === undefined) {
    return `${tool} (requires approval)\n\n  Call      ${what}\n  Why       ${decision.because}`;
  }
  const lines = [
    `${tool} (${escalation.state.toLowerCase()} - ${NEXT[escalation.state]})`,
    '',
    `  Call      ${what}`,
    ...(escalation.scope === undefined ? [] : [`  Scope     ${escalation.scope}`]),
    ...(escalation.server === 'local' ? [] : [`  Server    ${escalation.server}`]),
    `  Why       ${escalation.reason}`,
    ...(evidenceOf(escalation) === escalation.reason ? [] : [`  Evidence  ${evidenceOf(escalation)}`]),
    ...(escalation.until === undefined ? [] : [`  Until     ${escalation.until}`]),
    '',
    `  ${escalation.recoveryHint}`,
  ];
  return lines.join('\n');
}

export type NoticeKind = 'escalated' | 'recovering' | 'recovered' | 'blocked';

/** One line for people when trust changes. Names the scope or the server, the reason, and what comes next. */
export function noticeOf(kind: NoticeKind, label: string, reason: string, hint: string): string {
  switch (kind) {
    case 'escalated':
      return `${label} now requires approval: ${reason}. ${hint}`.trim();
    case 'recovering':
      return `${label} is being tried again: ${reason}. ${hint}`.trim();
    case 'recovered':
      return `${label} is trusted again: ${reason}.`;
    case 'blocked':
      return `${label} is blocked: ${reason}. ${hint}`.trim();
  }
}
