import type pg from 'pg';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import { appendOutcomes } from '../postgres/append.ts';
import { Names, Subjects } from '../postgres/intern.ts';
import { acquireProbe, releaseProbe, renewProbe } from '../postgres/probes.ts';
import type { Backend } from './backend.ts';
import { countsOnServer } from '../domain/trust/entry.ts';
import type { View } from './view.ts';

/** Reports go to the ledger; what follows from them comes back as projections. */
export function createLedgerBackend(pool: pg.Pool, view: View): Backend {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  return {
    append: async (outcomes) => {
      const { fresh } = await appendOutcomes(ledger, outcomes, view.settings);
      const seqs = new Map(fresh.map(({ subject, seq }) => [subject, seq]));
      const idOf = await ledger.subjects.of(outcomes);
      return outcomes.flatMap(({ server, name, scope, category }) => {
        const key = countsOnServer(server, scope, category) ? serverKey(server) : toolKey(server, name);
        const seq = seqs.get(idOf(key)) ?? 0;
        return [{ key, seq }];
      });
    },
    acquireProbe: (request) => acquireProbe(pool, request),
    renewProbe: (token, leaseSeconds) => renewProbe(pool, token, leaseSeconds),
    releaseProbe: (token) => releaseProbe(pool, token),
    close: () => pool.end(),
  };
}
