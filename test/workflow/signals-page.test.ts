import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';

// docs/signals.md, with the official command line and nothing of ours.

const commands = [...readFileSync('docs/signals.md', 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) =>
  block.trim(),
);
let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
});
afterAll(() => installation.close());

async function run(command: string): Promise<string> {
  const { temporalBinary, temporalAddress } = inject('servers');
  const flags = `--address ${temporalAddress} --namespace ${installation.temporal.namespace}`;
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    `${command.replace(/^temporal/, temporalBinary)} ${flags}`,
  ]);
  return stdout;
}

test('the page’s commands escalate a tool by three failures, count a repeated id once, and reset it', async () => {
  const [first, more, again, query, reset, ...rest] = commands;
  expect(rest).toEqual([]);
  for (const command of [first, more, again]) await run(command ?? '');
  await eventually(async () => expect(await run(query ?? '')).toMatch(/ESCALATED/));
  const rows = await installation.pool.query('select 1 from ledger');
  expect(rows.rowCount).toBe(3);
  const gate = await installation.connect();
  expect(gate.check({ tool: 'billing' })).toMatchObject({
    decision: 'ask',
    because: 'billing is ESCALATED: 3 failures in 1 h',
  });
  await run(reset ?? '');
  await eventually(() => expect(gate.check({ tool: 'billing' }).decision).toBe('allow'));
  const orders = await installation.pool.query<{ by: string }>(
    "select detail ->> 'by' as by from ledger where kind = 3",
  );
  expect(orders.rows).toEqual([{ by: 'eva (unverified)' }]);
});
