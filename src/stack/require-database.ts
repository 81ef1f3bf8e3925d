import { Client } from 'pg';
import { Problem, reasonOf } from '../problem.ts';

const CONNECT_WITHIN_MS = 5_000;

/** Says within seconds, and without the password, which database does not let us in. */
export async function requireDatabase(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_WITHIN_MS });
  client.on('error', () => undefined); // A connection that breaks also emits this; the query rejects with the same.
  try {
    await client.connect();
    await client.query('SELECT 1');
  } catch (error) {
    const { host, pathname } = new URL(url);
    throw new Problem(
      `Postgres at ${host}${pathname} (DATABASE_URL) cannot be used: ${reasonOf(error)}`,
      'Check DATABASE_URL and that the server runs, or unset it to use a Postgres of our own.',
      { cause: error },
    );
  } finally {
    await client.end();
  }
}
