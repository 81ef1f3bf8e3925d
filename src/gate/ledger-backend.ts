import type pg from 'pg';
import type { LedgerOutcome } from '../domain/outcome/ledger-outcome.ts';
import { askForApproval, readAsked } from '../postgres/approval-ask.ts';
import { decide } from '../postgres/approval-decide.ts';
import { appendOutcomes } from '../postgres/append.ts';
import type { Ledger } from '../postgres/append.ts';
import { consumeGrant, defineTool } from '../postgres/grants.ts';
import { Names, Subjects } from '../postgres/intern.ts';
import { acquireProbe, releaseProbe, renewProbe } from '../postgres/probes.ts';
import type { PublishedRules } from '../postgres/rules.ts';
import { readKnown } from '../postgres/snapshot.ts';
import type { Backend } from './backend.ts';
import type { Places } from './reporter.ts';
import type { View } from './view.ts';

/** Makes outcomes durable; answers by key a place that none of their rows lies behind. */
export async function appendWithPlaces(
  ledger: Ledger,
  outcomes: readonly LedgerOutcome[],
  published: PublishedRules,
): Promise<Places> {
  const { newest } = await appendOutcomes(ledger, outcomes, published);
  const headsOf = await ledger.subjects.of(outcomes);
  const places = new Map<string, number>();
  for (const outcome of outcomes) {
    const { key, id, serverKey, serverId } = headsOf(outcome);
    const [place, serverPlace] = [newest.get(id), serverId === null ? undefined : newest.get(serverId)];
    if (place !== undefined) places.set(key, place);
    if (serverKey !== null && serverPlace !== undefined) places.set(serverKey, serverPlace);
  }
  return places;
}

/** Reports go to the ledger; what follows from them comes back as projections. */
export function createLedgerBackend(pool: pg.Pool, view: View): Backend {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  return {
    append: (outcomes) => appendWithPlaces(ledger, outcomes, view.settings),
    judgesAtOnce: false,
    isKnown: async (key) => (await readKnown(pool, [key])).length > 0,
    acquireProbe: (request) => acquireProbe(pool, request),
    renewProbe: (token, leaseSeconds) => renewProbe(pool, token, leaseSeconds),
    releaseProbe: (token) => releaseProbe(pool, token),
    approvals: {
      ask: async (question) => {
        const heads = await ledger.subjects.of([{ server: question.server, name: question.tool }]);
        const { id: subject } = heads({ server: question.server, name: question.tool });
        return askForApproval(pool, { ...question, subject });
      },
      read: async (id) => (await readAsked(pool, [id]))[0],
      withdraw: async (approval, by, reason) => {
        await decide(pool, { approval, verb: 'withdraw', by, reason });
      },
      consume: (grant, callId) => consumeGrant(pool, grant, callId),
      define: ({ key }, definition) => defineTool(pool, key, definition),
    },
    close: () => pool.end(),
  };
}
