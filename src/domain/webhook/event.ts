import type { ApprovalState } from '../approval/approval.ts';
import { askedOf } from '../approval/approval.ts';
import { redactText } from '../outcome/redact.ts';
import type { ApprovalTerms } from '../rules/rules.schema.ts';
import { nameOf } from '../trust/describe.ts';
import type { PartEffect } from '../trust/draft.ts';
import type { TrustEffect } from '../trust/event.ts';
import { agentOfPart, scopeOfPart, WHOLE } from '../trust/parts.ts';
import type { Subject } from '../trust/parts.ts';

export const EVENT_TYPES = [
  'tool.escalated',
  'tool.blocked',
  'tool.recovered',
  'approval.asked',
  'approval.reminded',
  'approval.decided',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What a webhook is told. Small, without arguments and credentials; whoever wants more follows the link. */
export interface WebhookEvent {
  readonly type: EventType;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
  /** Below the address of the console. It shows; it never decides. */
  readonly link: string;
}

const TOLD: Readonly<Record<TrustEffect['change'], EventType | undefined>> = {
  escalated: 'tool.escalated',
  relapsed: 'tool.escalated',
  blocked: 'tool.blocked',
  recovered: 'tool.recovered',
  reset: 'tool.recovered',
  // Nobody has to do anything about it, and it may yet fail.
  recovering: undefined,
};

const MOST_CHARACTERS = 500;
const words = (text: string) => redactText(text, MOST_CHARACTERS);

/** Changes of trust, for those who are to hear of them; `silent` ones are for nobody. */
export function trustEvents(key: string, subject: Subject, effects: readonly PartEffect[]): readonly WebhookEvent[] {
  return effects.flatMap(({ change, part, at, reason, silent = false }) => {
    const type = TOLD[change];
    if (type === undefined || silent) return [];
    const [scope, agent] = [scopeOfPart(part), agentOfPart(part)];
    const data = {
      kind: subject.kind,
      name: words(nameOf(subject)),
      server: words(subject.server),
      tool: subject.kind === 'server' ? null : words(subject.name),
      scope: scope === WHOLE ? null : words(scope),
      // Set while one agent alone has seen it.
      agent: agent === undefined ? null : words(agent),
      change,
      reason: words(reason),
    };
    return [{ type, at, data, link: `/#/tools/${encodeURIComponent(key)}` }];
  });
}

/** A question as its row has it. */
export interface ToldQuestion {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly scope: string | null;
  readonly agent: string | null;
  readonly because: string;
  readonly risk: string;
}

export function approvalEvent(
  type: Extract<EventType, `approval.${string}`>,
  at: number,
  question: ToldQuestion,
  state: Pick<ApprovalState, 'status' | 'level' | 'expiresAt' | 'end'>,
  terms: ApprovalTerms,
): WebhookEvent {
  const { id, server, tool, scope, agent, because, risk } = question;
  const { status, expiresAt, end } = state;
  const data = {
    approval: id,
    name: words(nameOf({ kind: 'tool', server, name: tool })),
    server: words(server),
    tool: words(tool),
    scope: scope === null ? null : words(scope),
    agent: agent === null ? null : words(agent),
    risk,
    because: words(because),
    status,
    expiresAt: new Date(expiresAt).toISOString(),
    approvers: askedOf(state, terms),
    // Nobody decided what has expired.
    ...(end === undefined
      ? {}
      : { by: end.by === null ? null : words(end.by), reason: words(end.reason), verified: end.verified }),
  };
  return { type, at, data, link: `/#/approvals/${id}` };
}
