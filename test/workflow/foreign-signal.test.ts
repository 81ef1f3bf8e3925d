import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { TrustView } from '../../workflows/messages.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { headOf, keyOf, projected, temporal, untilApplied, untilStatus, viewOf } from './support.ts';

let installation: Installation;
let commands: Map<string, string>;

beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
  commands = commandsOf(await readFile(new URL('../../docs/signals.md', import.meta.url), 'utf8'));
});
afterAll(() => installation.close());

/** The page's shell blocks, by the heading they stand under. */
function commandsOf(page: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const section of page.split(/^## /m).slice(1)) {
    const heading = section.slice(0, section.indexOf('\n'));
    const [, block] = /```sh\n([\s\S]*?)```/.exec(section) ?? [];
    if (block !== undefined) found.set(heading, block);
  }
  return found;
}

/** Runs what the page shows, as it stands there, with nothing of ours: Temporal's own program and a shell. */
async function run(heading: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-euc', commands.get(heading) ?? 'exit 9'], {
    env: {
      PATH: `${dirname(inject('servers').temporalBinary)}:${process.env['PATH'] ?? ''}`,
      HOME: '/nonexistent',
      TEMPORAL_ADDRESS: installation.temporal.address,
      TEMPORAL_NAMESPACE: installation.temporal.namespace,
    },
  });
  return stdout;
}

test('every command of the page is run here', () => {
  expect([...commands.keys()]).toEqual([
    "The tool's workflow",
    'Outcomes',
    'A tool nobody has heard of',
    'What came of it',
    'Orders',
  ]);
});

test('outcomes signalled by a foreign client escalate a tool, and count once', async () => {
  const key = 'tool:billing/create_invoice';
  await run("The tool's workflow");
  await run("The tool's workflow");
  await run('Outcomes');
  await untilStatus(installation, key, 'ESCALATED');
  expect((await projected(installation, key)).reason).toBe('3 failures in 1 h');
  expect(await untilApplied(installation, key)).toMatchObject({ outcomes: 4, failures: 3, rejected: 0 });
  const gate = await installation.connect();
  expect(gate.check({ server: 'billing', tool: 'create_invoice' })).toMatchObject({ decision: 'ask', via: 'person' });

  await run('Outcomes');
  const before = await viewOf(installation, key);
  await temporal(
    installation,
    ...['workflow', 'signal', '--workflow-id', key, '--name', 'outcomesReported'],
    ...['--input', '{"outcomes": [{"id": "call-5", "success": false, "severity": "crash"}, {"id": "call-1"}]}'],
  );
  // The fifth is applied after the second signal, so that one has been applied as well: it changed nothing.
  await eventually(async () => expect(await headOf(installation, key)).toMatchObject({ outcomes: 5, rejected: 1 }));
  expect(await untilApplied(installation, key)).toMatchObject({ failures: 4 });
  expect(before.parts['']).toMatchObject({ status: 'ESCALATED' });
});

test('a tool that nobody has heard of is started by the signal itself', async () => {
  const key = keyOf('deploy');
  await run('A tool nobody has heard of');
  await untilStatus(installation, key, 'ESCALATED');
  await run('A tool nobody has heard of');
  const answer = await run('What came of it');
  const view = JSON.parse(answer.slice(answer.indexOf('{'))) as TrustView;
  expect(view).toMatchObject({ status: 'ESCALATED', rejected: 0 });
  expect(Object.keys(view.parts)).toEqual(['host:eu.example.com']);
  expect(await headOf(installation, key)).toMatchObject({ outcomes: 3, failures: 3 });

  await run('Orders');
  expect(await projected(installation, key)).toMatchObject({ status: 'TRUSTED' });
  const ordered = await installation.pool.query<{ by: string; reason: string }>(
    `select detail ->> 'by' as by, detail ->> 'reason' as reason from ledger where kind = 3`,
  );
  expect(ordered.rows).toEqual([{ by: 'ann (unverified)', reason: 'the EU cluster is back' }]);
});

test('a server takes no outcomes, and says how many it was sent', async () => {
  await temporal(
    installation,
    ...['workflow', 'signal-with-start', '--type', 'toolTrust', '--task-queue', 'surety'],
    ...['--workflow-id', 'server:billing', '--input', '{"kind": "server", "server": "billing"}'],
    ...['--signal-name', 'outcomesReported', '--signal-input', '{"outcomes": [{"success": false}]}'],
  );
  await eventually(async () => expect(await viewOf(installation, 'server:billing')).toMatchObject({ rejected: 1 }));
});
