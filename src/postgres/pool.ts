import pg from 'pg';

export const SCHEMA = 'surety';

// Sequences and counters stay far below 2^53; as strings they would be compared as text.
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

export function createPool(databaseUrl: string, options: { max?: number; name?: string } = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: options.max ?? 8,
    application_name: options.name ?? 'surety',
    options: `-c search_path=${SCHEMA}`,
    connectionTimeoutMillis: 5000,
    // A server that has gone without a word must not hold a report for ever.
    query_timeout: 30_000,
    keepAlive: true,
    types,
  });
  // A connection that breaks is replaced at the next query; without a listener it would end the process. Idle ones are
  // listened to by the pool, those in use by nobody: there the query rejects, and says the same.
  pool.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * Runs `work` in one transaction on one connection. The limits are the server's: what the client alone gives up on goes
 * on there, and keeps its locks.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  limits: { readonly statementMs?: number; readonly lockMs?: number; readonly alongIndexes?: boolean } = {},
): Promise<T> {
  const { statementMs, lockMs, alongIndexes = false } = limits;
  const client = await pool.connect();
  try {
    const settings = [
      ...(statementMs === undefined ? [] : [`set local statement_timeout = ${statementMs}`]),
      ...(lockMs === undefined ? [] : [`set local lock_timeout = ${lockMs}`]),
      ...(alongIndexes ? ['set local enable_bitmapscan = off', 'set local enable_sort = off'] : []),
    ];
    await client.query(['begin', ...settings].join('; '));
    const result = await work(client);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // A connection whose rollback fails is not to be used again.
    await client.query('rollback').then(
      () => client.release(),
      (broken: unknown) => client.release(broken instanceof Error ? broken : true),
    );
    throw error;
  }
}

/** Ends a connection. One whose other side is gone without a word would wait for it as long as TCP does. */
export async function letGo(client: pg.Client): Promise<void> {
  const patience = setTimeout(() => {
    client.connection.stream.destroy();
  }, 1000);
  await client.end().catch(() => undefined);
  clearTimeout(patience);
}
