import { expect, test } from 'vitest';
import { ApprovalRequired, connect } from '../../src/gate/index.ts';

test('without the ledger a person is asked, and told so by a typed error', async () => {
  const gate = await connect({
    databaseUrl: 'postgres://nobody@127.0.0.1:1/none',
    connectWithinMs: 50,
    approvalWaitMs: 0,
  });
  await expect(gate.guard('drop_table', () => 'dropped')({})).rejects.toThrow(ApprovalRequired);
  await gate.close();
  await gate.close();
});
