import type pg from 'pg';

/** Where a line of the audit lies and what it is about. */
export interface IndexedLine {
  readonly file: string;
  readonly offset: number;
  readonly hash: string;
  /** ISO time. */
  readonly at: string;
  readonly tool: string;
  readonly outcome: string;
}

/** Safe to run twice: a line that is there already is left, one that says otherwise is replaced. */
export async function indexLines(pool: pg.Pool, lines: readonly IndexedLine[]): Promise<number> {
  const column = <K extends keyof IndexedLine>(key: K) => lines.map((line) => line[key]);
  const done = await pool.query(
    `insert into audit_index (file, line_offset, hash, at, tool, outcome)
     select * from unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[], $5::text[], $6::text[])
     on conflict (file, line_offset) do update
       set hash = excluded.hash, at = excluded.at, tool = excluded.tool, outcome = excluded.outcome
       where (audit_index.hash, audit_index.at, audit_index.tool, audit_index.outcome)
         is distinct from (excluded.hash, excluded.at, excluded.tool, excluded.outcome)`,
    [column('file'), column('offset'), column('hash'), column('at'), column('tool'), column('outcome')],
  );
  return done.rowCount ?? 0;
}

/** Takes out what the files no longer hold: every row of a file that is not among these offsets. */
export async function dropFromIndex(pool: pg.Pool, file: string, keep: readonly number[]): Promise<number> {
  const done = await pool.query('delete from audit_index where file = $1 and not line_offset = any($2::bigint[])', [
    file,
    keep,
  ]);
  return done.rowCount ?? 0;
}

export async function dropOtherFiles(pool: pg.Pool, files: readonly string[]): Promise<number> {
  const done = await pool.query('delete from audit_index where not file = any($1::text[])', [files]);
  return done.rowCount ?? 0;
}
