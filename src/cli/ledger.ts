import type pg from 'pg';
import type { Config } from '../config.ts';
import { locateLedger } from '../ledger-location.ts';
import { refuseNewerSchema } from '../postgres/migrate.ts';
import { createPool } from '../postgres/pool.ts';
import { codeOf, Problem, reasonOf } from '../problem.ts';

const NO_SUCH_TABLE = '42P01';

/** Opens the ledger for one command, and closes it whatever happens. */
export async function withLedger<T>(config: Config, use: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const url = await locateLedger(config);
  const pool = createPool(url, { max: 3, name: 'surety cli' });
  try {
    await requireLedger(pool, url);
    return await use(pool);
  } finally {
    await pool.end();
  }
}

/** Says which database does not let us in, without its password, or that it holds no ledger of ours. */
export async function requireLedger(pool: pg.Pool, url: string): Promise<void> {
  try {
    await refuseNewerSchema(pool);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const place = placeOf(url);
    if (codeOf(error) === NO_SUCH_TABLE) {
      throw new Problem(`The database at ${place} holds no ledger.`, 'Run `surety up` against it once.');
    }
    // Several addresses that all refuse come as one error without a message of its own.
    const why = reasonOf(error) || String(codeOf(error));
    throw new Problem(`Postgres at ${place} cannot be used: ${why}`, '`surety doctor` looks at every part.', {
      cause: error,
    });
  }
}

/** host:port/database. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
