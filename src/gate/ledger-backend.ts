import type pg from 'pg';
import { askForApproval, readAsked } from '../postgres/approval-ask.ts';
import { decide } from '../postgres/approval-decide.ts';
import { prepareOutcomes } from '../postgres/append.ts';
import { consumeGrant, defineTool } from '../postgres/grants.ts';
import { Names, Subjects } from '../postgres/intern.ts';
import { acquireProbe, releaseProbe, renewProbe } from '../postgres/probes.ts';
import { readKnown } from '../postgres/snapshot.ts';
import type { Backend } from './backend.ts';
import type { View } from './view.ts';

/** Reports go to the ledger; what follows from them comes back as projections. */
export function createLedgerBackend(pool: pg.Pool, view: View): Backend {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  return {
    prepare: async (outcomes) => {
      const write = await prepareOutcomes(ledger, outcomes, view.settings);
      return async () => (await write()).places;
    },
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
      consume: (grant, { callId, digest }) => consumeGrant(pool, grant, { callId, digest }),
      define: (definition) => defineTool(pool, definition),
    },
    close: () => pool.end(),
  };
}
