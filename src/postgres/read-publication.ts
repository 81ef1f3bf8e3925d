import type pg from 'pg';

export interface Publication {
  readonly version: number;
  /** Epoch milliseconds. */
  readonly publishedAt: number;
  readonly publishedBy: string;
  readonly comment: string;
}

/** Who published a version of the rules, and why. Undefined for version 0, which nobody did. */
export async function readPublication(pool: pg.Pool, version: number): Promise<Publication | undefined> {
  const found = await pool.query<Publication>(
    `select version, extract(epoch from published_at)::float8 * 1000 as "publishedAt", published_by as "publishedBy",
       comment from rules where version = $1`,
    [version],
  );
  return found.rows[0];
}
