import type { Client } from '@temporalio/client';
import type pg from 'pg';
import { readStatuses } from '../postgres/read-subjects.ts';
import { SuretyState } from '../temporal/search-attributes.ts';
import { ledgerAdvanced } from '../../workflows/messages.ts';

const AT_ONCE = 200;

/**
 * Rings the workflows that hold something against a tool of which the ledger knows nothing: one of the two was restored,
 * and without a new outcome neither would notice. Asked once by every new leader, since a restore ends every connection.
 */
export async function ringWhoDisagrees({ pool, client }: { pool: pg.Pool; client: Client }): Promise<number> {
  let rung = 0;
  let page: { key: string; state: string }[] = [];
  const ringPage = async () => {
    const statuses = await readStatuses(
      pool,
      page.map(({ key }) => key),
    );
    for (const { key, state } of page) {
      if (statuses.get(key) === state) continue;
      await client.workflow.getHandle(key).signal(ledgerAdvanced);
      rung += 1;
    }
    page = [];
  };
  const query = "WorkflowType = 'toolTrust' and ExecutionStatus = 'Running' and SuretyState != 'TRUSTED'";
  for await (const { workflowId, typedSearchAttributes } of client.workflow.list({ query, pageSize: AT_ONCE })) {
    page.push({ key: workflowId, state: typedSearchAttributes.get(SuretyState) ?? '' });
    if (page.length === AT_ONCE) await ringPage();
  }
  await ringPage();
  return rung;
}
