import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import type { RunningWorker } from '../../src/temporal/start-worker.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { fail, projected, untilStatus } from './support.ts';

let installation: Installation;
let gate: Gate;
let workers: RunningWorker[];

beforeAll(async () => {
  installation = await createInstallation({ defaultRule: { escalationDurationSeconds: 3600, cooldownSeconds: 0 } });
  workers = [await installation.startWorker(), await installation.startWorker()];
  gate = await installation.connect();
});
afterAll(() => installation.close());

const lasting = (seconds: number) => ({ defaultRule: { escalationDurationSeconds: seconds, cooldownSeconds: 0 } });

test('a rule published in mid-escalation moves the deadline, both ways, with two workers', async () => {
  await fail(gate, 'moved', 3);
  const before = await untilStatus(installation, 'tool:local/moved', 'ESCALATED');
  await installation.publish(lasting(7200));
  const later = await eventually(async () => {
    const now = await projected(installation, 'tool:local/moved');
    expect(now.dueAt).toBe((before.dueAt ?? 0) + 3_600_000);
    return now;
  });
  expect(later.version).toBeGreaterThan(before.version);
  await installation.publish(lasting(1));
  await untilStatus(installation, 'tool:local/moved', 'RECOVERING');
});

test('rules published while no worker runs are found by the next one', async () => {
  await installation.publish(lasting(3600));
  await fail(gate, 'down', 3);
  await untilStatus(installation, 'tool:local/down', 'ESCALATED');
  await Promise.all(workers.map((worker) => worker.stop()));
  await installation.publish(lasting(1));
  await installation.startWorker();
  await untilStatus(installation, 'tool:local/down', 'RECOVERING', 40_000);
});
