import pg from 'pg';
import { letGo } from './pool.ts';

export interface Listening {
  close(): Promise<void>;
}

const PATIENCE = { connectionTimeoutMillis: 5000, query_timeout: 10_000, keepAlive: true } as const;

/** A connection of its own that hears what is announced to gates and consoles. `onBroken` is told once it no longer does. */
export async function listen(
  databaseUrl: string,
  name: string,
  onAnnounced: (what: string) => void,
  onBroken: (error: unknown) => void,
): Promise<Listening> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: name, ...PATIENCE });
  client.on('error', onBroken).once('end', () => onBroken(new Error('the connection ended')));
  client.on('notification', ({ payload }) => onAnnounced(payload ?? ''));
  try {
    await client.connect();
    await client.query('listen surety');
    return { close: () => letGo(client) };
  } catch (error) {
    await letGo(client);
    throw error;
  }
}
