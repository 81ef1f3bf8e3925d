import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/gate/index.ts';
import { newOutcomeId } from '../../src/postgres/outcome-id.ts';
import { createPool } from '../../src/postgres/pool.ts';
import type { Child } from '../../src/stack/child.ts';
import { eventually } from '../support/installation.ts';
import { jsonOf, runCli } from '../support/run-cli.ts';
import { createKillableStack, VICTIMS } from './kills-stack.ts';
import type { KillableStack } from './kills-stack.ts';

let stack: KillableStack;
const folder = mkdtempSync(join(tmpdir(), 'surety-held-'));
const environment = () => ({ DATABASE_URL: stack.databaseUrl() });

beforeAll(async () => {
  stack = await createKillableStack();
  for (const part of ['Postgres', 'Temporal', 'worker'] as const) await stack.start(part);
});
afterAll(() => stack.stop());

interface Listed {
  readonly id: string;
  readonly tool: string;
  readonly version: number;
}

async function escalated(tool: string): Promise<void> {
  const gate = await connect({ databaseUrl: stack.databaseUrl() });
  for (let i = 0; i < 3; i += 1) await gate.report({ tool, success: false, severity: 'server_error', error: 'x' });
  await eventually(() => expect(gate.check({ tool }).decision).toBe('ask'), 60_000);
  await gate.close();
}

const open = (tool: string) =>
  eventually(async () => {
    const { pending } = (await jsonOf(['approvals'], { env: environment() })) as { pending: Listed[] };
    const found = pending.find((one) => one.tool === tool);
    if (found === undefined) throw new Error(`nothing is asked about ${tool}`);
    return found;
  }, 60_000);

/** An agent in a process of its own, and what its tool has left behind. */
async function agent(tool: string, more: Record<string, string> = {}): Promise<{ child: Child; ran: () => string[] }> {
  const LOG = join(folder, `${tool}.jsonl`);
  writeFileSync(LOG, '', { flag: 'a' });
  const child = await stack.run(`agent-${newOutcomeId()}`, 'held-agent.ts', {
    ...environment(),
    LOG,
    TOOL: tool,
    ...more,
  });
  return { child, ran: () => readFileSync(LOG, 'utf8').split('\n').filter(Boolean) };
}

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
    await new Client({ connection }).workflow.getHandle(rows[0]?.workflow ?? '').signal('approve', { by: 'dora' });
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
  test('lets one of many processes run', async () => {
    await escalated('raced');
    const first = await agent('raced', { WAIT_MS: '0' });
    await first.child.exited;
    const { id } = await open('raced');
    await approve(id);
    const racers = await Promise.all(Array.from({ length: 12 }, () => agent('raced', { WAIT_MS: '0' })));
    await Promise.all(racers.map(({ child }) => child.exited));
    expect(first.ran()).toHaveLength(1);
  });

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
