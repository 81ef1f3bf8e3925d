import type pg from 'pg';
import { serverKey, toolKey } from '../domain/key/tool-key.ts';
import { LOCAL } from '../domain/trust/entry.ts';
import { appendOutcomes } from '../postgres/append.ts';
import { Names, Subjects } from '../postgres/intern.ts';
import { acquireProbe, releaseProbe, renewProbe } from '../postgres/probes.ts';
import { readKnown } from '../postgres/snapshot.ts';
import type { Backend } from './backend.ts';
import type { View } from './view.ts';

/** Reports go to the ledger; what follows from them comes back as projections. */
export function createLedgerBackend(pool: pg.Pool, view: View): Backend {
  const ledger = { pool, names: new Names(pool), subjects: new Subjects(pool) };
  return {
    append: async (outcomes) => {
      const { fresh } = await appendOutcomes(ledger, outcomes, view.settings);
      const idOf = await ledger.subjects.of(outcomes);
      const newest = new Map<number, number>();
      for (const { subject, seq, serverSubject, serverSeq } of fresh) {
        newest.set(subject, Math.max(seq, newest.get(subject) ?? 0));
        if (serverSubject !== null) newest.set(serverSubject, Math.max(serverSeq ?? 0, newest.get(serverSubject) ?? 0));
      }
      const keys = outcomes.flatMap(({ server, name }) =>
        server === LOCAL ? [toolKey(server, name)] : [toolKey(server, name), serverKey(server)],
      );
      return [...new Set(keys)].map((key) => ({ key, seq: newest.get(idOf(key)) ?? 0 }));
    },
    isKnown: async (key) => (await readKnown(pool, [key])).length > 0,
    acquireProbe: (request) => acquireProbe(pool, request),
    renewProbe: (token, leaseSeconds) => renewProbe(pool, token, leaseSeconds),
    releaseProbe: (token) => releaseProbe(pool, token),
    close: () => pool.end(),
  };
}
