import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';

let installation: Installation;
let gate: Gate;

beforeAll(async () => {
  installation = await createInstallation({
    defaultRule: { escalationDurationSeconds: 2, cooldownSeconds: 1, successCountToRecover: 2 },
  });
  await installation.startWorker();
  gate = await installation.connect({ agent: 'a1' });
});
afterAll(() => installation.close());

const unavailable = { error: 'upstream exploded', http_status: 503 };

test('a tool breaks, is escalated, cools down by itself, is probed and earns trust back', async () => {
  const events: string[] = [];
  for (const name of ['escalated', 'recovering', 'recovered'] as const)
    gate.on(name, ({ notice }) => events.push(`${name}: ${notice}`));
  const args = { url: 'https://api.example.com/data' };
  const call = { tool: 'http_request', args };
  for (let i = 0; i < 3; i += 1) await gate.report({ ...call, result: unavailable });
  expect(gate.check(call)).toMatchObject({ decision: 'ask', via: 'person' });
  await eventually(() => expect(gate.check(call)).toMatchObject({ decision: 'ask', via: 'probe' }));
  const fetched = gate.guard('http_request', () => Promise.resolve({ data: 1 }));
  await fetched(args);
  await fetched(args);
  await eventually(() => expect(gate.check(call)).toMatchObject({ decision: 'allow' }));
  expect(events.map((event) => event.split(':')[0])).toEqual(['escalated', 'recovering', 'recovered']);
  expect(events[2]).toContain('api.example.com');
});
