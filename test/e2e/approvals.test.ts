import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newOutcomeId } from '../../src/postgres/outcome-id.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { eventually } from '../support/installation.ts';
import { jsonOf, runCli } from '../support/run-cli.ts';
import { createHeldScene } from './held-scene.ts';
import type { HeldScene } from './held-scene.ts';
import { createKillableStack, VICTIMS } from './kills-stack.ts';
import type { KillableStack } from './kills-stack.ts';

let stack: KillableStack;
let scene: HeldScene;
const environment = () => ({ DATABASE_URL: stack.databaseUrl() });

beforeAll(async () => {
  stack = await createKillableStack();
  scene = createHeldScene(stack);
  for (const part of ['Postgres', 'Temporal', 'worker'] as const) await stack.start(part);
});
afterAll(() => stack.stop());

interface Listed {
  readonly id: string;
  readonly tool: string;
  readonly version: number;
}

const open = (tool: string) =>
  eventually(async () => {
    const { pending } = (await jsonOf(['approvals'], { env: environment() })) as { pending: Listed[] };
    const found = pending.find((one) => one.tool === tool);
    if (found === undefined) throw new Error(`nothing is asked about ${tool}`);
    return found;
  }, 60_000);

const escalated = (tool: string) => scene.escalated(tool);
const agent = (tool: string, more: Record<string, string> = {}) => scene.agent(tool, { ...environment(), ...more });

const approve = (id: string) =>
  eventually(async () => {
    const { code, stderr } = await runCli(['approve', id, '--by', 'alice', '--yes'], { env: environment() });
    expect(stderr).toBe('');
    expect(code).toBe(0);
  }, 60_000);

describe('between the question and the answer', () => {
  test.each(VICTIMS)('%s may be killed and come back, and the agent continues exactly once', async (victim) => {
    const tool = `held-${victim}`.toLowerCase();
    await escalated(tool);
    const { child, ran } = await agent(tool);
    const { id } = await open(tool);
    await stack.kill(victim);
    await stack.start(victim);
    if (victim === 'Postgres') await eventually(() => open(tool), 60_000);
    await approve(id);
    await child.exited;
    expect((await child.lastLogLines()).at(-1)).toBe('ran');
    expect(ran()).toHaveLength(1);
  });

  test('the agent may be killed: when it comes back it waits for the same answer', async () => {
    await escalated('held-agent');
    const { child } = await agent('held-agent');
    const question = await open('held-agent');
    await stack.killProgram(child);
    const back = await agent('held-agent');
    expect((await open('held-agent')).id).toBe(question.id);
    await approve(question.id);
    await back.child.exited;
    expect(back.ran()).toHaveLength(1);
  });

  test('a decision by signal that meets a dead Postgres is kept and counts', async () => {
    await escalated('held-signal');
    const { child, ran } = await agent('held-signal');
    const { id } = await open('held-signal');
    const pool = createPool(stack.databaseUrl(), { max: 1 });
    const { rows } = await pool.query<{ workflow: string }>(
      "select 'approval:' || identity || '/' || ordinal as workflow from approval where id = $1 and started_at is not null",
      [id],
    );
    await pool.end();
    await stack.kill('Postgres');
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: stack.temporal.address });
    const workflow = new Client({ connection }).workflow.getHandle(rows[0]?.workflow ?? '');
    await workflow.signal('approve', { by: 'dora' });
    // Away for longer than a few tries take: whoever gave up by then would have lost the decision.
    await eventually(async () => {
      const { pendingActivities } = (await workflow.describe()).raw;
      expect(pendingActivities?.[0]?.attempt).toBeGreaterThan(5);
    }, 60_000);
    await connection.close();
    await stack.start('Postgres');
    await child.exited;
    expect(ran()).toHaveLength(1);
    const { decided } = (await jsonOf(['approvals', '--decided'], { env: environment() })) as {
      decided: { id: string; endedBy: string; verified: boolean }[];
    };
    expect(decided.find((one) => one.id === id)).toMatchObject({ endedBy: 'dora', verified: false });
  });
});

describe('one approval', () => {
  test('is there again for a call that died before it ran, and for no other', async () => {
    await escalated('crashing');
    const CALL_ID = newOutcomeId();
    const first = await agent('crashing', { CALL_ID, DIES: 'yes' });
    const { id } = await open('crashing');
    await approve(id);
    expect(await first.child.exited).toContain('SIGKILL');
    expect(first.ran()).toEqual([]);
    const other = await agent('crashing', { CALL_ID: newOutcomeId(), WAIT_MS: '0' });
    await other.child.exited;
    expect((await other.child.lastLogLines()).at(-1)).toContain('ApprovalRequired');
    const same = await agent('crashing', { CALL_ID });
    await same.child.exited;
    expect(same.ran()).toHaveLength(1);
  });
});
