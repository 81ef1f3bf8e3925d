import * as z from 'zod';
import { TooManyQuestions } from '../../domain/approval/too-many-questions.ts';
import type { LedgerOutcome } from '../../domain/outcome/ledger-outcome.ts';
import type { Asked } from '../../postgres/approval-ask.ts';
import type { Backend } from '../backend.ts';
import { WireConsumed, WireNews, WirePlaces, WireProbe, WireRenewed } from '../wire.schema.ts';
import { CallDenied, Refused, TOO_MANY_QUESTIONS } from '../errors.ts';
import { asInvalid } from './http.ts';
import type { Remote } from './http.ts';

/** Well below what the server takes. */
const LARGEST_BODY = 1_000_000;
const MOST_OUTCOMES = 1000;

/** Reports go to a server that stands before the ledger, and so do leases, questions and grants. */
export function createRemoteBackend(remote: Remote): Backend {
  return {
    prepare: (outcomes) =>
      Promise.resolve(async () => {
        const places = new Map<string, number>();
        // In order, and again from the beginning if one fails: outcomes are known by their calls.
        for (const some of portionsOf(outcomes)) {
          const answer = await remote.post('v1/gate/outcomes', { outcomes: some }, WirePlaces).catch(asInvalid);
          for (const [key, place] of answer.places) places.set(key, place);
        }
        return places;
      }),
    judgesAtOnce: false,
    isKnown: async (key) => (await remote.post('v1/gate/news', { knownOf: [key] }, WireNews)).known.includes(key),
    acquireProbe: async ({ agent: _, ...request }) =>
      (await remote.post('v1/gate/probes', request, WireProbe)).token ?? undefined,
    renewProbe: async (token, leaseSeconds) =>
      (await remote.post(`v1/gate/probes/${encodeURIComponent(token)}/renew`, { leaseSeconds }, WireRenewed)).renewed,
    releaseProbe: async (token) => {
      await remote.post(`v1/gate/probes/${encodeURIComponent(token)}/release`, {}, z.unknown());
    },
    approvals: {
      ask: ({ server, tool, claimedScope: scope, agent, session, givenId, args, definition, because, held }) => {
        // The server may be about to learn what this process has seen itself.
        const seen = { isSecurity: held.isSecurity, state: held.state };
        const call = { server, tool, scope, agent, session, callId: givenId, args, definition, because, seen };
        return remote.post('v1/approvals', call, Question).catch(asTooMany);
      },
      read: (id) => remote.get(`v1/approvals/${id}`, Question).catch(noneOf(404)),
      withdraw: async (id, by, reason) => {
        await remote.post(`v1/approvals/${id}/withdraw`, { reason, automatic: by === 'surety' }, z.unknown());
      },
      consume: (grant, { givenId, ...call }) =>
        remote
          .post(`v1/grants/${grant}/consume`, { ...call, callId: givenId }, WireConsumed)
          .catch(asDenied)
          .catch(noneOf(409)),
      define: async ({ key, definition, agent }) => {
        await remote.post('v1/gate/definitions', { key, definition, agent }, z.unknown());
      },
    },
    close: () => Promise.resolve(),
  };
}

const Time = z.iso.datetime().transform((text) => Date.parse(text));

const Question: z.ZodType<Asked> = z
  .object({
    id: z.uuid(),
    status: z.enum(['pending', 'approved', 'denied', 'expired', 'withdrawn']),
    endedBy: z.string().nullable(),
    endReason: z.string().nullable(),
    expiresAt: Time,
    askedAt: Time,
    heldSince: Time.nullable(),
    isSecurity: z.boolean(),
    state: z.enum(['TRUSTED', 'ESCALATED', 'RECOVERING', 'BLOCKED']).nullable(),
  })
  .transform(({ id, status, endedBy, endReason, expiresAt, askedAt, heldSince, isSecurity, state }) => {
    const about = { heldUntil: Math.max(askedAt, heldSince ?? 0), isSecurity, state };
    return { id, status, by: endedBy, reason: endReason, expiresAt, about };
  });

function noneOf(status: number): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof Refused && error.status === status) return undefined;
    throw error;
  };
}

function asTooMany(error: unknown): never {
  if (!(error instanceof Refused) || error.type !== TOO_MANY_QUESTIONS) throw error;
  throw new TooManyQuestions(error.message, { cause: error });
}

/** What a person has put in place of the arguments is for something that is blocked. */
function asDenied(error: unknown): never {
  if (!(error instanceof Refused) || error.status !== 403) throw error;
  throw new CallDenied({ decision: 'deny', because: error.message });
}

function* portionsOf(outcomes: readonly LedgerOutcome[]): Generator<LedgerOutcome[]> {
  let [portion, size] = [[] as LedgerOutcome[], 0];
  for (const outcome of outcomes) {
    const own = JSON.stringify(outcome).length;
    if (portion.length > 0 && (size + own > LARGEST_BODY || portion.length === MOST_OUTCOMES)) {
      yield portion;
      [portion, size] = [[], 0];
    }
    portion.push(outcome);
    size += own;
  }
  if (portion.length > 0) yield portion;
}
