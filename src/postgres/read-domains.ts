import type pg from 'pg';
import { lowestIdAt } from './outcome-id.ts';

/** What happened to one host, whichever tool went there. */
export interface DomainStatistics {
  /** As in the ledger: `host:api.example.com`. */
  readonly scope: string;
  readonly tools: readonly string[];
  readonly outcomes: number;
  readonly failures: number;
  readonly lastFailureAt: number | null;
}

const DAY_MS = 86_400_000;
const FIRST_WITH_TIME = '00000000-0001-0000-0000-000000000000';

/** Hosts since a moment, most failures first. Ids hold the time, so partitions before it are not read. */
export async function readDomains(
  pool: pg.Pool,
  since: number,
  subjects?: readonly number[],
): Promise<readonly DomainStatistics[]> {
  const found = await pool.query<DomainStatistics>(
    `select n.text as scope, count(*) as outcomes, count(*) filter (where l.kind = 1) as failures,
       array_agg(distinct case s.server when 'local' then s.name else s.server || '/' || s.name end) as tools,
       extract(epoch from max(l.at) filter (where l.kind = 1))::float8 * 1000 as "lastFailureAt"
     from ledger l join name n on n.id = l.scope join subject s on s.id = l.subject
     where n.text like 'host:%' and l.kind in (0, 1, 2) and l.received_at >= to_timestamp($1::float8 / 1000)
       and (l.id >= $2 or l.id < $3) and ($4::bigint[] is null or l.subject = any($4))
     group by n.text order by failures desc, outcomes desc, n.text`,
    // A reporter's clock may be off; a day of room costs little and loses none of its rows.
    [since, lowestIdAt(since - DAY_MS), FIRST_WITH_TIME, subjects ?? null],
  );
  return found.rows;
}
