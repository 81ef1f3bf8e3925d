import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { readPending } from '../../src/postgres/read-approvals.ts';
import { decideAs } from '../support/decide-as.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { pause } from '../workflow/support.ts';

let installation: Installation;
let gate: Gate;
const warnings: string[] = [];
const note = ({ name, message }: Error) => void warnings.push(`${name}: ${message}`);

beforeAll(async () => {
  process.on('warning', note);
  installation = await createInstallation({ toolRules: { 'drop_*': { risk: 'destructive' } } });
  await installation.startWorker();
  gate = await installation.connect({ agent: 'builder', session: 's1' });
});
afterAll(async () => {
  process.off('warning', note);
  await installation.close();
});

const open = (tool: string, not?: string) =>
  eventually(async () => {
    const found = (await readPending(installation.pool, 1000)).find((one) => one.tool === tool && one.id !== not);
    if (found === undefined) throw new Error(`nobody asked about ${tool}`);
    return found;
  });

test('one approval of an unknown tool lets one call through, and the others go on waiting for theirs', async () => {
  const ran: unknown[] = [];
  const drop = gate.guard('drop_table', (args: { table: string }) => void ran.push(args));
  const waiting = Array.from({ length: 20 }, () => drop({ table: 'people' }));
  for (const one of waiting) one.catch(() => undefined);
  const first = await open('drop_table');
  const decision = { verb: 'approve', by: 'alice', reason: '' } as const;
  await decideAs(installation.pool, { approval: first.id, ...decision, edit: { table: 'copy' } });
  await eventually(() => expect(ran).toEqual([{ table: 'copy' }]));
  const second = await open('drop_table', first.id);
  // The tool is known by now to everybody who asks anew.
  await eventually(() => expect(gate.check({ tool: 'drop_table' })).toMatchObject({ decision: 'allow' }));
  await pause(3000);
  expect(ran).toHaveLength(1);
  await decideAs(installation.pool, {
    ...{ approval: second.id, ...decision, grant: { kind: 'always' } },
  });
  await Promise.all(waiting);
  expect(ran).toHaveLength(20);
  expect(warnings).toEqual([]);
});

test('nobody is asked about a number that could not be shown', async () => {
  const drop = gate.guard('drop_index', () => 'ran');
  await expect(drop({ size: NaN })).rejects.toThrow('args.size is NaN');
});
