import { claimInstallation } from './installation.ts';
import { migrate } from './postgres/migrate.ts';
import { createPartitions } from './postgres/partitions.ts';
import { createPool } from './postgres/pool.ts';
import { connectTemporal } from './temporal/connection.ts';
import type { TemporalTarget } from './temporal/connection.ts';

/** Makes a database and a namespace fit for a worker. Many may do so at once. Returns what the operator should know. */
export async function prepare(databaseUrl: string, temporal: TemporalTarget, adopt: boolean): Promise<string[]> {
  const pool = createPool(databaseUrl, { max: 2, name: 'surety prepare' });
  const connection = await connectTemporal(temporal);
  try {
    await migrate(pool);
    await createPartitions(pool, Date.now());
    return await claimInstallation(pool, connection, temporal, { adopt });
  } finally {
    await connection.close();
    await pool.end();
  }
}
