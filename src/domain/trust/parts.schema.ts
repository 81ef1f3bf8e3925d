import * as z from 'zod';
import type { Parts } from './parts.ts';
import { WHOLE } from './parts.ts';
import type { Status, TrustState } from './trust.ts';
import { NO_TALLY, withConcern } from './trust.ts';

const Moment = z.number().min(-8.64e15).max(8.64e15);
const Episode = z.object({ at: Moment, version: z.number() });
const Slices = z.array(z.number()).max(1000);

const Tally = z.object({
  consecutive: z.number(),
  failures: z.array(Moment),
  reporters: z.array(z.string()).exactOptional(),
  refusals: z.array(Moment).exactOptional(),
  rate: z
    .object({ sliceMs: z.number().positive(), newest: z.number(), calls: Slices, failures: Slices })
    .exactOptional(),
  lastFailureAt: Moment.exactOptional(),
  incurableAt: Moment.exactOptional(),
  lastSuccessAt: Moment.exactOptional(),
  cutAt: Moment.exactOptional(),
});

const held = { tally: Tally, since: Moment, reason: z.string(), securityAt: Moment.exactOptional() };

/** How it was told that security is concerned, before there was `securityAt`. */
const CONCERNS: readonly string[] = [
  'security concern: a dangerous command was run or a policy was matched',
  'an error spoke of a security concern',
];

function withToldConcern(state: TrustState): TrustState {
  return state.status !== 'TRUSTED' && CONCERNS.includes(state.reason) ? withConcern(state, state.since) : state;
}

export const StoredParts: z.ZodType<Parts> = z.record(
  z.string(),
  z
    .discriminatedUnion('status', [
      z.object({ status: z.literal('TRUSTED'), tally: Tally }),
      z.object({
        ...held,
        status: z.literal('ESCALATED'),
        episode: Episode,
        lastFailureAt: Moment,
        failures: z.number(),
        relapses: z.array(Moment),
        recoverable: z.boolean(),
      }),
      z.object({
        ...held,
        status: z.literal('RECOVERING'),
        episode: Episode,
        successes: z.number(),
        relapses: z.array(Moment),
      }),
      z.object({ ...held, status: z.literal('BLOCKED'), by: z.string().exactOptional() }),
    ])
    .transform(withToldConcern),
);

/** What is known of a projection besides its parts. */
export interface Projected {
  readonly status: Status;
  readonly reason: string;
  readonly version: number;
  /** When it was written, epoch milliseconds. */
  readonly at: number;
}

/**
 * Parts as they were stored: by this version, by another, or by somebody's hand. What cannot be read is replaced by the
 * status alone, held against the whole: distrust outlives its details.
 */
export function readParts(stored: unknown, projected: Projected): { parts: Parts; unreadable: boolean } {
  const parsed = StoredParts.safeParse(stored);
  if (parsed.success) return { parts: parsed.data, unreadable: false };
  return { parts: { [WHOLE]: withToldConcern(standIn(projected)) }, unreadable: true };
}

function standIn({ status, reason, version, at }: Projected): TrustState {
  const common = { tally: NO_TALLY, since: at, reason };
  const episode = { at, version };
  switch (status) {
    case 'TRUSTED':
      return { status, tally: NO_TALLY };
    case 'ESCALATED':
      return { ...common, status, episode, lastFailureAt: at, failures: 0, relapses: [], recoverable: true };
    case 'RECOVERING':
      return { ...common, status, episode, successes: 0, relapses: [] };
    case 'BLOCKED':
      return { ...common, status };
  }
}
