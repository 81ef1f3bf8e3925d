import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import type pg from 'pg';
import { Problem } from './problem.ts';
import type { TemporalTarget } from './temporal/connection.ts';
import { readInstallation, writeInstallation } from './temporal/namespace.ts';

/**
 * One installation is one namespace and one database. Two of them mixed up would take each other's tools for their own,
 * so a pair that does not belong together is refused. Returns what the operator should know.
 */
export async function claimInstallation(
  pool: pg.Pool,
  connection: Connection,
  target: TemporalTarget,
  options: { readonly adopt: boolean } = { adopt: false },
): Promise<string[]> {
  const ofNamespace = await readInstallation(connection, target);
  const found = await pool.query<{ id: string }>('select id from installation');
  const ofDatabase = found.rows[0]?.id;
  if (ofDatabase === undefined) {
    if (ofNamespace !== undefined && !options.adopt) {
      throw new Problem(
        `Namespace ${target.namespace} belongs to installation ${ofNamespace}, and this database is empty.`,
        'Point DATABASE_URL at its database or restore the backup; to start over with an empty ledger and keep the trust the workflows remember: surety up --adopt. Another namespace (TEMPORAL_NAMESPACE) makes a new installation.',
      );
    }
    await pool.query('insert into installation (id) values ($1) on conflict do nothing', [ofNamespace ?? randomUUID()]);
    // Of many that start at once one was first, and its id is everybody's.
    const id = (await pool.query<{ id: string }>('select id from installation')).rows[0]?.id ?? '';
    return ofNamespace === undefined ? remarks(await writeInstallation(connection, target, id)) : [];
  }
  if (ofNamespace === undefined) return remarks(await writeInstallation(connection, target, ofDatabase));
  if (ofNamespace !== ofDatabase) {
    throw new Problem(
      `The database belongs to installation ${ofDatabase}, namespace ${target.namespace} at ${target.address} to ${ofNamespace}.`,
      'Set DATABASE_URL and TEMPORAL_NAMESPACE so that both are of one installation. Nothing was changed.',
    );
  }
  return [];
}

function remarks(remark: string | undefined): string[] {
  return remark === undefined ? [] : [remark];
}
