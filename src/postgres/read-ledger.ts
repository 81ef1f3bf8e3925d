import type pg from 'pg';
import type { LedgerEvent } from '../domain/simulate/simulate.ts';
import type { Subject } from '../domain/trust/parts.ts';
import { entryOf } from './ledger-page.ts';
import { lowestIdAt } from './outcome-id.ts';

const ROWS_AT_ONCE = 2000;
const DAY_MS = 86_400_000;
const FIRST_WITH_TIME = '00000000-0001-0000-0000-000000000000';

type LedgerRow = Parameters<typeof entryOf>[0] & Omit<Subject, 'kind'> & { readonly subject_kind: Subject['kind'] };

/**
 * Every row since a moment in the order in which it was applied, without ever holding more than a few thousand. A cursor
 * rather than pages: nothing indexes the time a row was received, so each page would sort the whole ledger again.
 *
 * Rows of one flush have one time. The place that a row, or the one before it of the same tool, has among those of its
 * server keeps the server's order, too; the running maximum keeps each tool's, should the clock have been set back.
 */
export async function* readLedger(pool: pg.Pool, since: number): AsyncGenerator<LedgerEvent> {
  const client = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query(
      `declare rows no scroll cursor for
       select l.seq, l.kind, extract(epoch from l.at)::float8 * 1000 as at,
         extract(epoch from l.received_at)::float8 * 1000 as received_at,
         extract(epoch from l.started_at)::float8 * 1000 as started_at,
         null::bigint as trust_version, scope.text as scope, agent.text as agent, l.severity, l.category, l.structured,
         l.recoverable, l.probe, l.detail ->> 'by' as by, l.detail ->> 'reason' as reason, null::int as count,
         s.kind as subject_kind, s.server, s.name
       from (
         select *, coalesce(max(server_seq) over (partition by subject, applied_at order by seq), 0) as server_place
         from (
           select *, max(received_at) over (partition by subject order by seq) as applied_at from ledger
           where received_at >= to_timestamp($1::float8 / 1000) and (id >= $2 or id < $3)
         ) timed
       ) l join subject s on s.id = l.subject
         left join name scope on scope.id = l.scope left join name agent on agent.id = l.agent
       order by l.applied_at, l.server_place, l.subject, l.seq`,
      [since, lowestIdAt(since - DAY_MS), FIRST_WITH_TIME],
    );
    for (;;) {
      const page = await client.query<LedgerRow>(`fetch ${ROWS_AT_ONCE} from rows`);
      for (const row of page.rows) {
        const subject: Subject = { kind: row.subject_kind, server: row.server, name: row.name };
        yield { subject, entry: entryOf(row) };
      }
      if (page.rows.length < ROWS_AT_ONCE) return;
    }
  } finally {
    // Also when whoever reads has had enough.
    await client.query('rollback').then(
      () => client.release(),
      (broken: unknown) => client.release(broken instanceof Error ? broken : true),
    );
  }
}
