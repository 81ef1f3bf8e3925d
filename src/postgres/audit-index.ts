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

const QUERY_MS = 5000;

/** Safe to run twice: a line that is there already is left, one that says otherwise is replaced. */
export async function indexLines(pool: pg.Pool, origin: string, lines: readonly IndexedLine[]): Promise<number> {
  const column = <K extends keyof IndexedLine>(key: K) => lines.map((line) => line[key]);
  const text = `insert into audit_index (origin, file, line_offset, hash, at, tool, outcome)
     select $7, * from unnest($1::text[], $2::bigint[], $3::text[], $4::timestamptz[], $5::text[], $6::text[])
     on conflict (origin, file, line_offset) do update
       set hash = excluded.hash, at = excluded.at, tool = excluded.tool, outcome = excluded.outcome
       where (audit_index.hash, audit_index.at, audit_index.tool, audit_index.outcome)
         is distinct from (excluded.hash, excluded.at, excluded.tool, excluded.outcome)`;
  const values = [
    column('file'),
    column('offset'),
    column('hash'),
    column('at'),
    column('tool'),
    column('outcome'),
    origin,
  ];
  // Nobody who has had an answer should wait for this for long.
  const query = { text, values, query_timeout: QUERY_MS };
  return (await pool.query(query)).rowCount ?? 0;
}

/** Takes out what the files no longer hold: every row of a file that is not among these offsets. */
export async function dropFromIndex(
  pool: pg.Pool,
  origin: string,
  file: string,
  keep: readonly number[],
): Promise<number> {
  const text = 'delete from audit_index where origin = $1 and file = $2 and not line_offset = any($3::bigint[])';
  const done = await pool.query(text, [origin, file, keep]);
  return done.rowCount ?? 0;
}

export async function dropOtherFiles(pool: pg.Pool, origin: string, files: readonly string[]): Promise<number> {
  const text = 'delete from audit_index where origin = $1 and not file = any($2::text[])';
  const done = await pool.query(text, [origin, files]);
  return done.rowCount ?? 0;
}

export interface WantedLines {
  readonly tool: string | undefined;
  readonly outcome: string | undefined;
  /** In milliseconds since 1970, both included. */
  readonly since: number;
  readonly until: number;
  readonly most: number;
}

export interface FoundLine extends IndexedLine {
  readonly origin: string;
}

/** The newest that match, newest first. */
export async function findLines(
  pool: pg.Pool,
  { tool, outcome, since, until, most }: WantedLines,
): Promise<readonly FoundLine[]> {
  const found = await pool.query<Omit<FoundLine, 'offset' | 'at'> & { line_offset: string; at: Date }>(
    `select origin, file, line_offset, hash, at, tool, outcome from audit_index
     where ($1::text is null or tool = $1) and ($2::text is null or outcome = $2) and at between $3 and $4
     order by at desc, origin, file, line_offset desc limit $5`,
    [tool, outcome, new Date(since), Number.isFinite(until) ? new Date(until) : 'infinity', most],
  );
  return found.rows.map(({ line_offset, at, ...rest }) => ({
    ...rest,
    offset: Number(line_offset),
    at: at.toISOString(),
  }));
}
