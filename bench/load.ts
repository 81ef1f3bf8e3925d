import type pg from 'pg';
import { lowestIdAt } from '../src/postgres/outcome-id.ts';

/**
 * Fills the ledger with `perTool` successes of each tool, in the database itself: what has happened long ago, applied.
 * `at` says in which week's partition they lie.
 */
export async function loadHistory(
  pool: pg.Pool,
  { tools, perTool, at, prefix }: { tools: number; perTool: number; at: number; prefix: string },
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('set statement_timeout = 0');
    await client.query(
      `insert into subject (key, kind, server, name)
       select 'tool:local/' || $1 || '-' || n, 'tool', 'local', $1 || '-' || n from generate_series(0, $2::int - 1) n
       on conflict (key) do nothing`,
      [prefix, tools],
    );
    const text = `insert into ledger (id, subject, seq, kind, at, received_at)
      select (left($3, 13) || '-7' || substr(h, 1, 3) || '-8' || substr(h, 4, 3) || '-' || substr(h, 7, 12))::uuid,
        s.id, s.seq + n, 0, to_timestamp($4::float8 / 1000), to_timestamp($4::float8 / 1000)
      from subject s cross join generate_series(1, $2::int) n, lateral md5($1 || s.id || ' ' || s.seq + n) h
      where s.name like $1 || '-%' order by n, s.id`;
    const values = [prefix, perTool, lowestIdAt(at), at];
    await client.query({ text, values, query_timeout: 2 ** 31 - 1 } as pg.QueryConfig);
    await client.query(
      `update subject set seq = seq + $2, applied_seq = seq + $2, ring_seq = seq + $2, outcomes = outcomes + $2
       where name like $1 || '-%'`,
      [prefix, perTool],
    );
  } finally {
    client.release(true);
  }
}
