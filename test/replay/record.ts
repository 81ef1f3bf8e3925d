// Records the histories that replay.test.ts replays: npx tsx test/replay/record.ts [name...]
// A stack of its own, the stories below, and then `temporal workflow show --output json` of every run. A recorded file is
// never edited; it is deleted only when no such run can exist any more. Run it again after a deliberate change.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { connect } from '../../src/gate/index.ts';
import { prepare } from '../../src/prepare.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { addWebhook, removeWebhook } from '../../src/postgres/webhooks.ts';
import { publishRules } from '../../src/postgres/rules.ts';
import { startStack } from '../../src/stack/stack.ts';
import { quietRuntime, startWorker } from '../../src/temporal/start-worker.ts';
import { decideAs } from '../support/decide-as.ts';
import { stackConfig } from '../stack/support.ts';
import { listen } from '../support/receiver.ts';
import { block, outcomesReported, recover, reset } from '../../workflows/messages.ts';

const home = mkdtempSync(join(tmpdir(), 'surety-record-'));
quietRuntime(() => undefined);
const stack = await startStack(await stackConfig(home));
const { databaseUrl, temporal } = stack;
await prepare(databaseUrl, temporal, false);
const pool = createPool(databaseUrl);
const rules = { escalationDurationSeconds: 1, cooldownSeconds: 0, successCountToRecover: 2, blockAfterRelapses: null };
await publishRules(pool, parseRules({ defaultRule: rules }), 'record');
const worker = await startWorker({
  databaseUrl,
  temporal,
  taskQueue: 'surety',
  publicUrl: 'http://127.0.0.1:7400',
  log: () => undefined,
});
const connection = await Connection.connect({ address: temporal.address });
const client = new Client({ connection, namespace: temporal.namespace });
const gate = await connect({ databaseUrl, agent: 'recorder' });

const failing = (tool: string, more = {}) =>
  gate.report({ tool, success: false, severity: 'server_error', error: 'boom', ...more });
const working = (tool: string, more = {}) => gate.report({ tool, success: true, ...more });
const handle = (key: string) => client.workflow.getHandle(key);

async function until(key: string, status: string): Promise<void> {
  for (let i = 0; i < 200; i += 1) {
    const found = await pool.query<{ status: string }>(
      'select t.status from trust t join subject s on s.id = t.subject where s.key = $1',
      [key],
    );
    if (found.rows[0]?.status === status) return;
    await sleep(50);
  }
  throw new Error(`${key} did not become ${status}`);
}

/** Every state: escalated, recovering, relapsed, trusted again, blocked, reset; orders; a change of rules; garbage. */
async function everyState(): Promise<void> {
  const key = 'tool:local/states';
  for (let i = 0; i < 3; i += 1) await failing('states');
  await until(key, 'ESCALATED');
  await until(key, 'RECOVERING');
  await failing('states');
  await until(key, 'ESCALATED');
  await publishRules(pool, parseRules({ defaultRule: { ...rules, escalationDurationSeconds: 600 } }), 'record');
  await sleep(1500);
  await handle(key).executeUpdate(recover, { args: [{ by: 'eva', reason: 'it is well' }] });
  for (let i = 0; i < 2; i += 1) await working('states');
  await until(key, 'TRUSTED');
  await handle(key).signal(outcomesReported, {
    outcomes: [{ id: 'f1', success: false, severity: 'crash' }, 'garbage'],
  });
  await handle(key).signal('nobodyKnowsThis', { x: 1 });
  await handle(key).executeUpdate(block, { args: [{ by: 'eva', reason: 'looks bad' }] });
  await working('states');
  await handle(key).executeUpdate(reset, { args: [{ by: 'eva' }] });
  for (let i = 0; i < 3; i += 1) await failing('states', { scope: 'host:api.example.com' });
  await until(key, 'ESCALATED');
  await working('states');
  await publishRules(pool, parseRules({ defaultRule: rules }), 'record');
  await until(key, 'RECOVERING');
}

/** Enough bells to continue as new in the middle of an escalation, and some life in the run after it. */
async function continued(): Promise<void> {
  const key = 'tool:local/continued';
  for (let i = 0; i < 3; i += 1) await failing('continued', { severity: 'crash' });
  await until(key, 'ESCALATED');
  await until(key, 'RECOVERING');
  for (let i = 0; i < 90; i += 1) {
    await failing('continued', { severity: 'not_found' });
    await sleep(60);
  }
  for (let i = 0; i < 2; i += 1) await working('continued');
  await until(key, 'TRUSTED');
  for (let i = 0; i < 3; i += 1) await failing('continued', { severity: 'crash' });
  await until(key, 'ESCALATED');
  await until(key, 'RECOVERING');
}

async function server(): Promise<void> {
  for (let i = 0; i < 2; i += 1) await gate.report({ server: 'svc', tool: `t${i}`, error: 'timeout after 30s' });
  await until('server:svc', 'ESCALATED');
  await until('server:svc', 'RECOVERING');
  for (let i = 0; i < 2; i += 1) await working('t0', { server: 'svc' });
  await until('server:svc', 'TRUSTED');
  for (let i = 0; i < 2; i += 1) await gate.report({ server: 'svc', tool: `t${i}`, error: 'timeout after 30s' });
  await until('server:svc', 'ESCALATED');
}

/** A question that is brought to mind, passed on, extended, decided by somebody who may not, and then approved. */
async function asked(): Promise<string> {
  const approval = {
    ...{ expiresAfterSeconds: 600, remindAt: [0.002], approvers: [['ann'], ['bob']], nextApproverAfterSeconds: 2 },
  };
  await publishRules(pool, parseRules({ defaultRule: { escalationDurationSeconds: 600, approval } }), 'record');
  for (let i = 0; i < 3; i += 1) await failing('asked');
  await until('tool:local/asked', 'ESCALATED');
  const waiting = gate.guard('asked', () => 'ran')({});
  await sleep(4000);
  const found = await pool.query<{ id: string; workflow: string }>(
    "select id, 'approval:' || identity || '/' || ordinal as workflow from approval where tool = 'asked'",
  );
  const [row] = found.rows;
  if (row === undefined) throw new Error('nobody was asked');
  const { id, workflow } = row;
  await decideAs(pool, { approval: id, verb: 'deny', by: 'zoe', reason: 'not hers to say' });
  await decideAs(pool, { approval: id, verb: 'extend', by: 'ann', reason: '', extendSeconds: 60 });
  await handle(workflow).signal('approve', 'garbage');
  await decideAs(pool, { approval: id, verb: 'approve', by: 'bob', reason: 'fine' });
  await waiting;
  return workflow;
}

/** One message that is taken at the second attempt, and one that is refused for good. */
async function told(path: string): Promise<string> {
  let asked = 0;
  const receiver = await listen(({ url }, response) => {
    asked += 1;
    response.writeHead(url === '/gone' ? 410 : asked === 1 ? 503 : 204).end();
  });
  const url = `${receiver.url}${path}`;
  const { id } = await addWebhook(pool, { url, events: [], allowPrivate: true, retrySeconds: 60, by: 'eva' });
  const tool = `told${path.slice(1)}`;
  for (let i = 0; i < 3; i += 1) await failing(tool);
  await until(`tool:local/${tool}`, 'ESCALATED');
  await sleep(4000);
  const found = await pool.query<{ id: string }>('select id from webhook_delivery where webhook = $1', [id]);
  await removeWebhook(pool, id, 'eva');
  await receiver.close();
  return `webhook:${found.rows[0]?.id ?? ''}/1`;
}

async function save(name: string, workflowId: string): Promise<void> {
  const runs: string[] = [];
  for await (const run of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) runs.unshift(run.runId);
  for (const [index, runId] of runs.entries()) {
    const flags = ['--address', temporal.address, '--namespace', temporal.namespace, '--output', 'json'];
    const json = execFileSync(
      resolve('.surety/cache/temporal'),
      ['workflow', 'show', '-w', workflowId, '-r', runId, ...flags],
      { maxBuffer: 1e8 },
    );
    const file = `test/replay/histories/${name}${runs.length > 1 ? `-${index + 1}` : ''}.json`;
    writeFileSync(file, json);
    console.log(file);
  }
}

const STORIES: Readonly<Record<string, () => Promise<string>>> = {
  'every-state': () => everyState().then(() => 'tool:local/states'),
  continued: () => continued().then(() => 'tool:local/continued'),
  server: () => server().then(() => 'server:svc'),
  approval: asked,
  'webhook-delivered': () => told('/up'),
  'webhook-dead': () => told('/gone'),
};
const names = process.argv.slice(2);
for (const [name, story] of Object.entries(STORIES)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const workflowId = await story();
  await sleep(1000);
  await save(name, workflowId);
}

await gate.close();
await worker.stop();
await connection.close();
await pool.end();
await stack.stop();
rmSync(home, { recursive: true, force: true });
