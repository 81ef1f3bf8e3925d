import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApprovalRequired, connect, InvalidReport } from '../../src/gate/index.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation({ toolRules: { 'drop_*': { risk: 'destructive' } } });
  const gate = await installation.connect();
  await gate.report({ tool: 'drop_table', success: true });
});
afterAll(() => installation.close());

test('a destructive tool that has worked before runs at the first call of a new process', async () => {
  const gate = await installation.connect();
  await expect(gate.guard('drop_table', () => 'dropped')({})).resolves.toBe('dropped');
});

test('one that nobody has seen asks', async () => {
  const gate = await installation.connect({ approvalWaitMs: 0 });
  await expect(gate.guard('drop_database', () => 'dropped')({})).rejects.toThrow(ApprovalRequired);
});

test('a bare check is answered from memory, and rightly as soon as that has been filled', async () => {
  const gate = await installation.connect();
  const tool = gate.tool('local', 'drop_table');
  expect(tool.check().decision).toBe('ask');
  await eventually(() => expect(tool.check().decision).toBe('allow'), 1000);
});

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

test('what could not be reported is refused before it runs', async () => {
  const gate = await installation.connect();
  let ran = 0;
  const tool = gate.guard('t', () => (ran += 1));
  await expect(tool({}, { callId: '' })).rejects.toThrow(InvalidReport);
  expect(ran).toBe(0);
});
