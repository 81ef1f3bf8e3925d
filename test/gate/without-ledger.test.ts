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

test('a hundred thousand other tools later, one that is asked for now and then is still the same', async () => {
  const gate = await connect({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', connectWithinMs: 50 });
  const often = gate.tool('local', 'often');
  for (let i = 0; i < 250_000; i += 1) {
    gate.tool('local', `seldom-${i}`);
    if (i % 50_000 === 0) expect(gate.tool('local', 'often')).toBe(often);
  }
  await gate.close();
});
