import type pg from 'pg';
import { bounded } from '../domain/key/bounded.ts';
import { keyword, SuretyReason, SuretyState } from '../temporal/search-attributes.ts';
import { inTurns } from './approvals.ts';
import type { Ringing } from './ringing.ts';

const IN_ONE_ROUND = 100;

interface NewDelivery {
  readonly id: string;
  readonly run: number;
  readonly type: string;
  readonly url: string;
  readonly retrySeconds: number;
}

/** Starts the workflows of new deliveries. Idempotent: ids decide what is the same. */
export async function carryDeliveries(ringing: Ringing): Promise<{ more: boolean }> {
  const found = await ringing.pool.query<NewDelivery>(
    `select d.id, d.run, d.type, w.url, w.retry_seconds as "retrySeconds"
     from webhook_delivery d join webhook w on w.id = d.webhook
     where d.status = 'pending' and d.started_at is null order by d.id limit ${IN_ONE_ROUND}`,
  );
  const failed = await inTurns(found.rows, (delivery) => start(ringing, delivery));
  if (failed.length > 0) throw failed[0];
  return { more: found.rows.length === IN_ONE_ROUND };
}

async function start({ pool, client, taskQueue }: Ringing, delivery: NewDelivery): Promise<void> {
  const { id, run, type, url, retrySeconds } = delivery;
  // The rest of the URL may be a credential.
  const title = bounded(`${type} to ${new URL(url).host}`, 200);
  await client.workflow.start('webhookDelivery', {
    workflowId: `webhook:${id}/${run}`,
    taskQueue,
    args: [{ id, run, retrySeconds, title }],
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: title,
    memo: { delivery: id },
    typedSearchAttributes: [
      { key: SuretyState, value: 'PENDING' },
      { key: SuretyReason, value: keyword(title) },
    ],
  });
  await pool.query('update webhook_delivery set started_at = clock_timestamp() where id = $1 and run = $2', [id, run]);
}

/** Deliveries whose workflow may be gone: terminated by hand, or lost with Temporal's data. */
export async function restartDeliveries(pool: pg.Pool): Promise<void> {
  await pool.query(
    `update webhook_delivery set started_at = null
     where status = 'pending' and started_at < clock_timestamp() - interval '1 minute'`,
  );
}
