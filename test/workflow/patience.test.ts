import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Gate } from '../../src/gate/index.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { eventsOf, failure, headOf, success, typeOf, untilApplied, untilStatus } from './support.ts';

let installation: Installation;
let gate: Gate;

beforeAll(async () => {
  const rated = { countThreshold: null, rateThreshold: 0.5, windowSeconds: 86_400, cooldownSeconds: 0 };
  installation = await createInstallation({ defaultRule: rated });
  await installation.startWorker();
  gate = await installation.connect();
});
afterAll(() => installation.close());

async function signalsOf(key: string): Promise<number> {
  return (await eventsOf(installation, key)).filter((event) => typeOf(event) === 'workflow_execution_signaled').length;
}

async function report(tool: string, succeeded: number, failed: number): Promise<void> {
  const calls = Array.from({ length: succeeded + failed }, (_, i) => (i < succeeded ? success(tool) : failure(tool)));
  await Promise.all(calls.map((call) => gate.report(call)));
}

test('a tool that fails as its rule expects is judged now and then, and in time when it fails more', async () => {
  const key = 'tool:local/flaky';
  await report('flaky', 200, 1);
  await untilApplied(installation, key);
  const before = await signalsOf(key);
  // 5 in 100 fail, one after the other: each would be a bell.
  for (let i = 0; i < 20; i += 1) await report('flaky', 19, 1);
  expect((await signalsOf(key)) - before).toBe(0);
  expect(await headOf(installation, key)).toMatchObject({ outcomes: 601, failures: 21 });
  // 580 went well: the 580th failure makes it a half.
  await report('flaky', 0, 558);
  const { applied_seq: judged } = await untilJudged(key);
  expect(judged).toBeGreaterThan(601);
  expect(await trusted(key)).toBe(true);
  await report('flaky', 0, 1);
  expect((await untilStatus(installation, key, 'ESCALATED')).reason).toBe('50 % of 1160 calls failed in 1 d');
});

test('what a process that has seen nothing else holds against such a tool is judged with its next look', async () => {
  await report('seen-otherwise', 200, 1);
  await untilApplied(installation, 'tool:local/seen-otherwise');
  const newcomer = await installation.connect();
  for (let i = 0; i < 5; i += 1) await newcomer.report(failure('seen-otherwise'));
  await eventually(() => {
    expect(newcomer.check({ tool: 'seen-otherwise' }).decision).toBe('allow');
    return Promise.resolve();
  });
  expect(await headOf(installation, 'tool:local/seen-otherwise')).toMatchObject({ applied_seq: 206 });
});

/** Until no bell is left to be rung. */
async function untilJudged(key: string) {
  for (;;) {
    const head = await headOf(installation, key);
    if (head.ring_seq <= head.applied_seq) return head;
    await new Promise((later) => setTimeout(later, 50));
  }
}

async function trusted(key: string): Promise<boolean> {
  return !(await headOf(installation, key)).attentive;
}
