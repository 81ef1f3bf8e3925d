import type pg from 'pg';
import { lowestIdAt } from '../src/postgres/outcome-id.ts';

/**
 * Fills the ledger with `perTool` successes of each tool: what has happened long ago, applied. The database writes them
 * to a file and takes them back by COPY, so that nothing is inserted row by row. `at` says in which week they lie.
 */
export async function loadHistory(
  pool: pg.Pool,
  { tools, perTool, at, prefix }: { tools: number; perTool: number; at: number; prefix: string },
): Promise<void> {
  const client = await pool.connect();
  const run = (text: string, values: unknown[] = []) =>
    client.query({ text, values, query_timeout: 2 ** 31 - 1 } as pg.QueryConfig);
  try {
    await run('set statement_timeout = 0');
    await run(
      `insert into subject (key, kind, server, name)
       select 'tool:local/' || $1 || '-' || n, 'tool', 'local', $1 || '-' || n from generate_series(0, $2::int - 1) n
       on conflict (key) do nothing`,
      [prefix, tools],
    );
    const folder = await client.query<{ folder: string }>("select current_setting('data_directory') as folder");
    const file = `'${folder.rows[0]?.folder ?? ''}/bench-load'`;
    const columns = 'id, subject, seq, kind, at, received_at';
    const time = `timestamptz 'epoch' + ${at} * interval '1 millisecond'`;
    // Ids of one moment that differ in their last digits: by subject and place, so none comes twice.
    const id = `('${lowestIdAt(at).slice(0, 13)}-7' || substr(h, 1, 3) || '-8' || substr(h, 4, 3) || '-' || substr(h, 7))::uuid`;
    await run(
      `copy (select ${id}, s.id, s.seq + n, 0::smallint, ${time}, ${time}
         from subject s cross join generate_series(1, ${perTool}) n,
           lateral lpad(to_hex(s.id * 100000000 + s.seq + n), 18, '0') h
         where s.name like '${prefix}-%') to ${file} with (format binary)`,
    );
    await run(`copy ledger (${columns}) from ${file} with (format binary)`);
    await run(`copy (select 1) to ${file}`);
    await run(
      `update subject set seq = seq + $2, applied_seq = seq + $2, ring_seq = seq + $2, outcomes = outcomes + $2
       where name like $1 || '-%'`,
      [prefix, perTool],
    );
  } finally {
    client.release(true);
  }
}
