import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newOutcomeId } from '../../src/postgres/outcome-id.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { createToken } from '../../src/postgres/tokens.ts';
import { eventually } from '../support/installation.ts';
import { createHeldScene } from './held-scene.ts';
import type { HeldScene } from './held-scene.ts';
import { createKillableStack, PARTS } from './kills-stack.ts';
import type { KillableStack } from './kills-stack.ts';

let stack: KillableStack;
let scene: HeldScene;
let approver = '';
/** How an agent of the same name speaks with the server, and how with the ledger. */
let remote: Record<string, string> = {};
let direct: Record<string, string> = {};

beforeAll(async () => {
  stack = await createKillableStack();
  scene = createHeldScene(stack);
  for (const part of ['Postgres', 'Temporal', 'worker', 'server'] as const) await stack.start(part);
  const pool = createPool(stack.databaseUrl(), { max: 1 });
  const make = (name: string, role: 'agent' | 'approver') =>
    createToken(pool, { name, owner: name, roles: [role], createdBy: 'test' });
  remote = { SURETY_URL: stack.httpUrl, SURETY_TOKEN: (await make('agent', 'agent')).secret };
  direct = { DATABASE_URL: stack.databaseUrl() };
  approver = (await make('alice', 'approver')).secret;
  await pool.end();
});
afterAll(() => stack.stop());

interface Listed {
  readonly id: string;
  readonly tool: string;
}

async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${stack.httpUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${approver}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

const open = (tool: string) =>
  eventually(async () => {
    const { approvals } = (await call('GET', '/v1/approvals?limit=100')) as { approvals: Listed[] };
    const found = approvals.find((one) => one.tool === tool);
    if (found === undefined) throw new Error(`nothing is asked about ${tool}`);
    return found;
  }, 60_000);

/** However often it has to be said: what was decided already is not decided again. */
const approve = (id: string) =>
  eventually(async () => {
    const { status } = await call('GET', `/v1/approvals/${id}`);
    if (status === 'pending') await call('POST', `/v1/approvals/${id}/approve`, {});
    expect((await call('GET', `/v1/approvals/${id}`))['status']).toBe('approved');
  }, 60_000);

describe('between the question and the answer of an agent that speaks HTTP', () => {
  test.each(PARTS)('%s may be killed and come back, and the agent continues exactly once', async (part) => {
    const tool = `held-${part}`.toLowerCase();
    await scene.escalated(tool);
    const agent = await scene.agent(tool, remote);
    const { id } = await open(tool);
    await stack.kill(part);
    await stack.start(part);
    await approve(id);
    await agent.child.exited;
    expect(await agent.lastWord()).toBe('ran');
    expect(agent.ran()).toHaveLength(1);
  });

  test('the agent may be killed: when it comes back it waits for the same answer', async () => {
    await scene.escalated('held-agent');
    const first = await scene.agent('held-agent', remote);
    const question = await open('held-agent');
    await stack.killProgram(first.child);
    const back = await scene.agent('held-agent', remote);
    await approve(question.id);
    await back.child.exited;
    expect(back.ran()).toHaveLength(1);
  });
});

describe('one approval', () => {
  const RACERS = 50;

  test(`lets one of ${RACERS} processes run, whichever way they speak`, async () => {
    await scene.escalated('raced');
    const first = await scene.agent('raced', { ...remote, WAIT_MS: '0' });
    await first.child.exited;
    await approve((await open('raced')).id);
    const { GO, go } = scene.starter('raced');
    const racers = await Promise.all(
      Array.from({ length: RACERS }, (_, n) =>
        scene.agent('raced', { ...(n % 2 === 0 ? remote : direct), WAIT_MS: '0', GO }),
      ),
    );
    // Every one of them has seen the grant before the first may use it.
    const ready = async () =>
      expect(await Promise.all(racers.map((racer) => racer.lastWord()))).toEqual(racers.map(() => 'grant'));
    await eventually(ready, 100_000);
    go();
    await Promise.all(racers.map(({ child }) => child.exited));
    const words = await Promise.all(racers.map((racer) => racer.lastWord()));
    expect(words.filter((word) => word === 'ran')).toHaveLength(1);
    expect(words.filter((word) => word?.startsWith('ApprovalRequired'))).toHaveLength(RACERS - 1);
    expect(first.ran()).toHaveLength(1);
  }, 240_000);

  test('is there again for a call that died before it ran, and for no other', async () => {
    await scene.escalated('crashing');
    const CALL_ID = 'my own id';
    const first = await scene.agent('crashing', { ...remote, CALL_ID, DIES: 'yes' });
    await approve((await open('crashing')).id);
    expect(await first.child.exited).toContain('SIGKILL');
    expect(first.ran()).toEqual([]);
    for (const way of [remote, direct]) {
      const other = await scene.agent('crashing', { ...way, CALL_ID: newOutcomeId(), WAIT_MS: '0' });
      await other.child.exited;
      expect(await other.lastWord()).toContain('ApprovalRequired');
    }
    const same = await scene.agent('crashing', { ...remote, CALL_ID });
    await same.child.exited;
    expect(same.ran()).toHaveLength(1);
  });
});
