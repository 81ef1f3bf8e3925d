import { sleep } from '@temporalio/workflow';

/** What another release might have done: it does not read the ledger first. */
export async function toolTrust(): Promise<void> {
  await sleep('1 day');
}
