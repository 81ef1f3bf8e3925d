import { z } from '@hono/zod-openapi';
import { askedOf, consentsNeeded, nextRung } from '../domain/approval/approval.ts';
import type { ShownApproval } from '../postgres/read-approvals.ts';
import type { ShownGrant } from '../postgres/read-grants.ts';

const Id = z.uuid();
const Time = z.iso.datetime();
const Json = z.unknown().openapi({ description: 'any JSON' });

export const Approval = z
  .object({
    id: Id,
    status: z.enum(['pending', 'approved', 'denied', 'expired', 'withdrawn']),
    version: z.number().int().openapi({ description: 'to be sent back as expectedVersion' }),
    server: z.string(),
    tool: z.string(),
    scope: z.string().nullable(),
    agent: z.string().nullable(),
    session: z.string().nullable(),
    because: z.string(),
    state: z.string().nullable(),
    isSecurity: z.boolean(),
    heldSince: Time.nullable().openapi({ description: 'when the newest of what was held began' }),
    risk: z.string(),
    digest: z.string(),
    arguments: Json,
    isLeftOut: z
      .boolean()
      .openapi({ description: 'in a list: its arguments are long, and are to be had with the question alone' }),
    asked: z.number().int().openapi({ description: 'how often the same question came' }),
    askedAt: Time,
    expiresAt: Time,
    level: z.number().int(),
    reminders: z.number().int(),
    consents: z.array(z.string()),
    endedAt: Time.nullable(),
    endedBy: z.string().nullable(),
    endReason: z.string().nullable(),
    verified: z.boolean().nullable(),
    edited: z.object({ digest: z.string(), arguments: Json }).nullable(),
    grant: z.record(z.string(), z.unknown()).nullable(),
    approvers: z.array(z.string()).openapi({ description: 'who has been asked by now; empty: whoever may approve' }),
    nextApprovers: z.array(z.string()).openapi({ description: 'who is asked next, if nobody decides' }),
    consentsNeeded: z.number().int(),
    next: z
      .object({ at: Time, what: z.enum(['remind', 'next', 'expire']) })
      .nullable()
      .openapi({ description: 'what time alone does next' }),
  })
  .openapi('Approval');
export type Approval = z.infer<typeof Approval>;

export const Grant = z
  .object({
    id: Id,
    server: z.string(),
    tool: z.string(),
    kind: z.enum(['once', 'session', 'until', 'always']),
    covers: z.enum(['arguments', 'scope', 'tool']),
    pattern: z.record(z.string(), z.string()).nullable(),
    scope: z.string().nullable(),
    agent: z.string().nullable(),
    session: z.string().nullable(),
    until: Time.nullable(),
    givenAt: Time,
    givenBy: z.string().nullable(),
    consumedAt: Time.nullable().openapi({ description: 'of one for a single call: when it was used' }),
    revokedAt: Time.nullable(),
    revokedBy: z.string().nullable(),
    revokeReason: z.string().nullable(),
  })
  .openapi('Grant');
export type Grant = z.infer<typeof Grant>;

const time = (ms: number) => new Date(ms).toISOString();
const timeOrNull = (ms: number | null) => (ms === null ? null : time(ms));

export function approvalShown(shown: ShownApproval) {
  const { askedAt, expiresAt, endedAt, heldSince, consents, terms, ...rest } = shown;
  const held = { heldSince: timeOrNull(heldSince) };
  const times = { ...held, askedAt: time(askedAt), expiresAt: time(expiresAt), endedAt: timeOrNull(endedAt) };
  const rung = nextRung(shown, terms);
  const ladder = {
    approvers: askedOf(shown, terms),
    nextApprovers: rest.status === 'pending' ? (terms.approvers[rest.level + 1] ?? []) : [],
    consentsNeeded: consentsNeeded(rest, terms),
    next: rung === undefined ? null : { ...rung, at: time(rung.at) },
  };
  return { ...rest, ...times, ...ladder, consents: [...consents] } as unknown as z.infer<typeof Approval>;
}

export function grantShown({ until, givenAt, consumedAt, revokedAt, ...rest }: ShownGrant) {
  const times = { until: timeOrNull(until), givenAt: time(givenAt) };
  const ends = { consumedAt: timeOrNull(consumedAt), revokedAt: timeOrNull(revokedAt) };
  return { ...rest, ...times, ...ends } as z.infer<typeof Grant>;
}
