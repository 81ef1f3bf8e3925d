import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { openAudit } from '../../src/execution/audit/audit.ts';
import type { Audit } from '../../src/execution/audit/audit.ts';
import type { Executed } from '../../src/execution/call.ts';
import { answerQuestion, ConfirmedCall } from '../../src/execution/confirmation.ts';
import { createExecution } from '../../src/execution/execute.ts';
import type { Execution } from '../../src/execution/execute.ts';
import type { ExecutionParts } from '../../src/execution/in-order.ts';
import type { Terms } from '../../src/execution/terms.ts';
import { executorOf, firstOf } from '../../src/execution/executor.ts';
import { controlsIn } from '../../src/execution/open.ts';
import { trustedPlaces } from '../../src/execution/find-program.ts';
import { executionRules } from '../../src/execution/rules.ts';
import { fetchTool } from '../../src/execution/tools/fetch.ts';
import { fileExecutor } from '../../src/execution/tools/files.ts';
import { findBash } from '../../src/execution/shell/bash.ts';
import { shellTool } from '../../src/execution/tools/shell.ts';
import { takeQuota } from '../../src/postgres/execution-quota.ts';
import { throwKillSwitch } from '../../src/postgres/kill-switch.ts';
import { readPending } from '../../src/postgres/read-approvals.ts';
import { breakGlass } from '../../src/postgres/snapshot.ts';
import { decideAs } from '../support/decide-as.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { escalateTool } from '../workflow/support.ts';

let installation: Installation;
beforeAll(async () => {
  installation = await createInstallation();
  await installation.startWorker();
});
const audits: Audit[] = [];
afterAll(async () => {
  await Promise.all(audits.map((audit) => audit.close().catch(() => undefined)));
  await installation.close();
});

const bash = await findBash(await trustedPlaces([], []));
interface Scene {
  readonly execution: Execution;
  readonly root: string;
  readonly audit: Audit;
  readonly lines: () => Record<string, unknown>[];
}

async function scene(rules: object = {}, more: Partial<ExecutionParts & Terms> = {}): Promise<Scene> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'surety-order-')));
  const directory = mkdtempSync(join(tmpdir(), 'surety-order-audit-'));
  const audit = openAudit(directory, { fsync: 'never', maxFileBytes: 1_000_000 });
  audits.push(more.audit ?? audit);
  const ready = await executionRules(parseRules({ runner: { sandbox: 'off' }, ...rules }), root);
  const current: Terms = {
    rules: ready,
    sandbox: { kind: 'none', because: 'not wanted here' },
    confinement: { writable: [root], hidden: [], readOnly: [], network: true },
    commandFiles: ready.files,
    executor: firstOf([
      executorOf(shellTool(ready, { PATH: process.env['PATH'] ?? '' }, bash)),
      fileExecutor(ready.files),
    ]),
    ...more,
  };
  const terms = { current, renewed: () => Promise.resolve(current) };
  const execution = createExecution({ audit, gate: undefined, controls: undefined, terms, ...more });
  const lines = () =>
    readdirSync(directory)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => readFileSync(join(directory, name), 'utf8').trim().split('\n'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { execution, root, audit, lines };
}

const shell = (command: string, more: object = {}) => ({
  tool: 'shell',
  args: { command },
  agent: 'a',
  session: 's',
  ...more,
});

function questionOf(executed: Executed) {
  if (executed.status !== 'ask') throw new Error(`expected a question, got ${JSON.stringify(executed)}`);
  return executed.question;
}

it('runs, refuses and asks, and writes a line for each', async () => {
  const { execution, lines, root } = await scene();
  expect(await execution.execute(shell('echo warn >&2'))).toMatchObject({ status: 'done', output: { exitCode: 0 } });
  expect(await execution.execute(shell('exit 3'))).toMatchObject({
    status: 'failed',
    error: { category: 'permanent_failure' },
  });
  expect(await execution.execute(shell('sudo id'))).toMatchObject({ status: 'refused', refusal: { stage: 'policy' } });
  expect(await execution.execute(shell('rm x'))).toMatchObject({
    status: 'ask',
    error: { category: 'confirmation_required' },
  });
  expect(await execution.execute({ tool: 'dance', args: {} })).toMatchObject({ error: { category: 'tool_not_found' } });
  expect(await execution.execute({ tool: 'read', args: { path: 5 } })).toMatchObject({
    error: { category: 'type_mismatch' },
  });
  expect(await execution.execute({ tool: 'read', args: {} })).toMatchObject({
    error: { category: 'invalid_parameters' },
  });
  expect(await execution.execute({ tool: 'read', args: { path: '/etc/passwd' } })).toMatchObject({ status: 'refused' });
  expect(await execution.execute(shell('cat < /etc/passwd'))).toMatchObject({ status: 'refused' });
  expect(await execution.execute(shell('true', { args: { command: 'true', cwd: '/' } }))).toMatchObject({
    status: 'refused',
  });
  writeFileSync(join(root, 'there'), 'x');
  expect(await execution.execute({ tool: 'read', args: { path: 'there' } })).toMatchObject({ status: 'done' });
  expect(lines().map(({ result, exit_code }) => [result, exit_code])).toEqual([
    ['success', 0],
    ['error', 3],
    ...Array.from({ length: 8 }, () => ['blocked', null]),
    ['success', null],
  ]);
});

it('runs a confirmed call once, and only the call that was asked about', async () => {
  const { execution, root } = await scene();
  writeFileSync(join(root, 'x'), '');
  const asked = questionOf(await execution.execute(shell('rm x')));
  const other = answerQuestion({ ...asked, call: { ...asked.call, args: { command: 'rm y' } } }, 'alice');
  expect(await execution.executeConfirmed(other)).toMatchObject({
    status: 'refused',
    error: { category: 'confirmation_required' },
  });
  const disguised = answerQuestion({ ...asked, call: { ...asked.call, caller: 'reviewer' } }, 'alice');
  expect(await execution.executeConfirmed(disguised)).toMatchObject({ status: 'refused' });
  for (const nobody of ['', 'a\nb', 'x'.repeat(2000)])
    expect(() => answerQuestion(asked, nobody)).toThrow(/whoever says yes has a name/);
  const yes = answerQuestion(asked, 'alice');
  expect(() => answerQuestion(asked, 'alice')).toThrow('this question has been answered');
  expect(await execution.executeConfirmed(yes)).toMatchObject({ status: 'done' });
  expect(existsSync(join(root, 'x'))).toBe(false);
  expect(await execution.executeConfirmed(yes)).toMatchObject({
    status: 'refused',
    error: { category: 'confirmation_required' },
  });
});

it('makes every other check of a confirmed call', async () => {
  const { execution } = await scene();
  const asked = questionOf(await execution.execute(shell('rm x')));
  const { execution: stricter } = await scene({ shell: { deny: ['rm *'] } });
  expect(await stricter.executeConfirmed(answerQuestion(asked, 'alice'))).toMatchObject({
    status: 'refused',
    refusal: { stage: 'policy' },
  });
});

it('does not let a wrapper mistake one way for the other', () => {
  const made: [never, string, string] = [{} as never, 'me', ''];
  const wrappers = (inner: Execution) => [
    // @ts-expect-error A confirmed call is no call.
    (confirmed: ConfirmedCall) => inner.execute(confirmed),
    // @ts-expect-error A call is no confirmed call.
    (call: Parameters<Execution['execute']>[0]) => inner.executeConfirmed(call),
    // @ts-expect-error A wrapper has both.
    (): Execution => ({ tools: inner.tools, execute: (call) => inner.execute(call) }),
    // @ts-expect-error Neither stands in for the other.
    (): Execution => ({ ...inner, executeConfirmed: inner.execute }),
    // @ts-expect-error Nobody makes one but by answering.
    (): unknown => new ConfirmedCall(...made),
  ];
  expect(wrappers).toHaveLength(1);
});

it('gives a call to the first that claims it, and stops at an error', async () => {
  const { execution, root } = await scene();
  expect(execution.tools.map(({ name }) => name)).toEqual(
    'shell read write edit copy move delete glob grep'.split(' '),
  );
  const broken = {
    tools: [],
    claim: () => {
      throw new Error('out of order');
    },
  };
  const never = {
    tools: [],
    claim: () => {
      throw new Error('asked although another had claimed it');
    },
  };
  const ready = await executionRules(parseRules({}), root);
  const chained = (order: Parameters<typeof firstOf>[0]) => scene({}, { executor: firstOf(order) });
  const { execution: first } = await chained([fileExecutor(ready.files), never]);
  expect(await first.execute({ tool: 'glob', args: { pattern: '*' } })).toMatchObject({ status: 'done' });
  const { execution: second } = await chained([broken, fileExecutor(ready.files)]);
  await expect(second.execute({ tool: 'glob', args: { pattern: '*' } })).rejects.toThrow('out of order');
});

it('takes an exit code for what it is, whatever else a tool returns', async () => {
  const returning = (exitCode: number, value: unknown) =>
    executorOf({
      ...{ name: 'own', description: 'an operator’s own', risk: 'read', retryable: true, schema: z.object({}) },
      intent: () => ({ paths: [] }),
      run: () => Promise.resolve({ value, truncated: false, exitCode, text: 'no such account' }),
    });
  for (const value of ['as text', undefined, { rows: [] }]) {
    const { execution, lines } = await scene({}, { executor: returning(2, value) });
    expect(await execution.execute({ tool: 'own', args: {} })).toMatchObject({
      status: 'failed',
      error: { category: 'permanent_failure', message: expect.stringContaining('no such account') as string },
      attempts: 1,
    });
    expect(lines().at(-1)).toMatchObject({ exit_code: 2, result: 'error' });
  }
  const { execution } = await scene({}, { executor: returning(0, 'error: 429') });
  expect(await execution.execute({ tool: 'own', args: {} })).toMatchObject({ status: 'done' });
});

it('writes a line for what a tool gave, whatever that is', async () => {
  for (const given of [undefined, {}, { value: 1, truncated: false, exitCode: 1.5, text: '' }]) {
    const executor = executorOf({
      ...{ name: 'own', description: 'an operator’s own', risk: 'read', retryable: true, schema: z.object({}) },
      intent: () => ({ paths: [] }),
      run: () => Promise.resolve(given as never),
    });
    const { execution, lines } = await scene({}, { executor });
    expect(await execution.execute({ tool: 'own', args: {} })).toMatchObject({
      status: 'failed',
      error: { category: 'permanent_failure' },
    });
    expect(lines()).toMatchObject([{ result: 'error', error_category: 'permanent_failure' }]);
  }
});

it('holds what a tool finds below a directory to the rules about who may call what', async () => {
  const authorization = {
    ...{ enabled: true, default: 'allow' },
    rules: [
      { action: 'allow', tools: ['*'], callers: ['auditor'] },
      { action: 'deny', tools: ['*'], paths: ['top/d/**', 'top/keep.txt'] },
    ],
  };
  const { execution, root } = await scene({ authorization, shell: { trust: 'trusted' } });
  mkdirSync(join(root, 'top/d'), { recursive: true });
  for (const name of ['d/s', 'keep.txt', 'open.txt']) writeFileSync(join(root, 'top', name), 'private');
  const grep = { tool: 'grep', args: { pattern: 'private' } };
  const found = JSON.stringify(await execution.execute(grep));
  expect(found).toContain('top/open.txt');
  expect(found).not.toContain('top/d/s');
  expect(JSON.stringify(await execution.execute({ tool: 'glob', args: { pattern: '**' } }))).not.toContain('keep.txt');
  expect(JSON.stringify(await execution.execute({ ...grep, caller: 'auditor' }))).toContain('top/d/s');
  for (const call of [
    { tool: 'move', args: { from: 'top', to: 'moved' } },
    { tool: 'delete', args: { path: 'top', recursive: true } },
  ])
    expect(await execution.execute(call)).toMatchObject({ status: 'refused' });
  expect(readdirSync(join(root, 'top')).sort()).toEqual(['d', 'keep.txt', 'open.txt']);
});

it('asks before a directory goes with all that is in it, and takes a tool of another server for another tool', async () => {
  const { execution, root } = await scene();
  mkdirSync(join(root, 'd'));
  const asked = await execution.execute({ tool: 'delete', args: { path: 'd', recursive: true } });
  expect(asked).toMatchObject({ status: 'ask', question: { because: expect.stringContaining('confirmed') as string } });
  if (asked.status !== 'ask') return;
  expect(await execution.executeConfirmed(answerQuestion(asked.question, 'alice'))).toMatchObject({ status: 'done' });
  const elsewhere = await execution.execute({ tool: 'shell', server: 'other', args: { command: 'echo x' } });
  expect(elsewhere).toMatchObject({ status: 'refused', error: { category: 'tool_not_found' } });
});

it('refuses ids that no ledger takes, with a line that shows them', { timeout: 60_000 }, async () => {
  const gate = await installation.connect({ agent: 'a' });
  const { execution, lines } = await scene({}, { gate, controls: controlsIn(installation.pool) });
  for (const flawed of [{ session: '' }, { session: 'a\tb' }, { agent: '' }, { callId: '' }, { caller: 'x\0' }]) {
    expect(await execution.execute(shell('true', flawed))).toMatchObject({
      status: 'refused',
      refusal: { stage: 'claim', category: 'invalid_parameters' },
    });
  }
  expect(lines()).toHaveLength(5);
  expect(lines()[1]).toMatchObject({ result: 'blocked', session: 'a\ufffdb' });
});

it('asks once for arguments anew, and judges them like any others', async () => {
  const { execution, root } = await scene();
  writeFileSync(join(root, 'x'), 'text');
  let asked = 0;
  const reformat = (args: unknown) => () => Promise.resolve(((asked += 1), args));
  expect(
    await execution.execute({ tool: 'read', args: { file: 'x' } }, { reformat: reformat({ path: 'x' }) }),
  ).toMatchObject({ status: 'done' });
  expect(
    await execution.execute({ tool: 'read', args: {} }, { reformat: reformat({ path: '/etc/passwd' }) }),
  ).toMatchObject({ status: 'refused' });
  expect(await execution.execute({ tool: 'read', args: {} }, { reformat: reformat({}) })).toMatchObject({
    status: 'refused',
  });
  expect(asked).toBe(3);
});

it('runs nothing without an audit, and hands out nothing that is not written', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'surety-noaudit-')), 'file');
  writeFileSync(file, '');
  const impossible = openAudit(join(file, 'audit'), { fsync: 'never', maxFileBytes: 1024 });
  const { execution, root } = await scene({}, { audit: impossible });
  await expect(execution.execute(shell('touch ran'))).rejects.toThrow('The audit in');
  expect(existsSync(join(root, 'ran'))).toBe(false);
  const linked = mkdtempSync(join(tmpdir(), 'surety-linkedaudit-'));
  symlinkSync('/dev/null', join(linked, '0-000001.jsonl'));
  const misled = await scene({}, { audit: openAudit(linked, { fsync: 'never', maxFileBytes: 1024 }) });
  await expect(misled.execution.execute(shell('touch ran'))).rejects.toThrow('The audit in');
  expect(existsSync(join(misled.root, 'ran'))).toBe(false);
  // A directory that is there until the command has run.
  const directory = mkdtempSync(join(tmpdir(), 'surety-lostaudit-'));
  const lost = openAudit(join(directory, 'audit'), { fsync: 'never', maxFileBytes: 1024 });
  const { execution: unlucky } = await scene({}, { audit: lost });
  const run = unlucky.execute(shell('sleep 0.5; echo secret'));
  await sleep(200);
  await promisify(execFile)('rm', ['-r', join(directory, 'audit')]);
  writeFileSync(join(directory, 'audit'), 'in the way');
  await expect(run).rejects.toThrow('The audit in');
});

it('denies a command where a sandbox is required and there is none', async () => {
  const required = await scene({ runner: { sandbox: 'required' } });
  expect(await required.execution.execute(shell('true'))).toMatchObject({
    status: 'refused',
    refusal: { stage: 'authorisation' },
  });
  const rules = [{ action: 'allow', tools: ['shell'], sandbox: 'required' }];
  const byRule = await scene({ authorization: { enabled: true, rules } });
  expect(await byRule.execution.execute(shell('true'))).toMatchObject({
    status: 'refused',
    refusal: { stage: 'authorisation' },
  });
  const offline = await scene({ runner: { network: false } });
  expect(await offline.execution.execute(shell('true'))).toMatchObject({ status: 'refused' });
});

it(
  'counts exactly under 50 calls from two processes, and still knows after a restart',
  { timeout: 60_000 },
  async () => {
    const program = resolve('test/execution/programs/take-quota.ts');
    const taken = await Promise.all(
      ['one', 'two'].map(async () => {
        const args = ['--import', 'tsx', program, installation.databaseUrl, '25', '30'];
        return Number((await promisify(execFile)(process.execPath, args)).stdout);
      }),
    );
    expect(taken.reduce((sum, each) => sum + each, 0)).toBe(30);
    const request = { agent: 'a', session: 's', most: 30, windowSeconds: 3600 };
    expect(await takeQuota(installation.pool, request)).toMatchObject({
      allowed: false,
      used: 30,
    });
    const { execution } = await scene({ maxToolCallsPerSession: 30 }, { controls: controlsIn(installation.pool) });
    const refused = await execution.execute(shell('true'));
    expect(refused).toMatchObject({ status: 'refused', refusal: { stage: 'quota', code: 'quota_blocked' } });
    expect(refused.status === 'refused' && (refused.refusal.retryAt ?? 0)).toBeGreaterThan(Date.now());
    expect(await execution.execute(shell('true', { session: 'another' }))).toMatchObject({ status: 'done' });
  },
);

it('a refusal by an earlier stage is no part of the quota, and authorisation speaks before policy', async () => {
  const { execution } = await scene({ maxToolCallsPerSession: 1 }, { controls: controlsIn(installation.pool) });
  const mine = { session: 'order-of-stages' };
  const policy = { status: 'refused', refusal: { stage: 'policy' } };
  expect(await execution.execute(shell('sudo id', mine))).toMatchObject(policy);
  expect(await execution.execute(shell('sudo id', mine))).toMatchObject(policy);
  expect(await execution.execute(shell('true', mine))).toMatchObject({ status: 'done' });
  expect(await execution.execute(shell('true', mine))).toMatchObject({ refusal: { stage: 'quota' } });
  const closed = await scene({ authorization: { enabled: true, default: 'deny', rules: [] } });
  expect(await closed.execution.execute(shell('sudo id'))).toMatchObject({ refusal: { stage: 'authorisation' } });
});

it.each([
  ['write', { path: 'x', content: 'new' }],
  ['delete', { path: 'kept' }],
  ['shell', { command: 'touch x' }],
])('%s does nothing if it was stopped before it began', async (tool, args) => {
  const { execution, root } = await scene();
  writeFileSync(join(root, 'kept'), '');
  const stopped = await execution.execute({ tool, args, agent: 'a', session: 's' }, { stopped: AbortSignal.abort() });
  expect(stopped).toMatchObject({ status: 'failed', error: { category: 'cancelled' } });
  expect(readdirSync(root)).toEqual(['kept']);
});

it('who does not wait for a person any more is answered at once, and nothing runs later', async () => {
  const gate = await installation.connect({ agent: 'a' });
  const { execution, root, lines } = await scene({}, { gate });
  writeFileSync(join(root, 'victim'), '');
  const stop = new AbortController();
  const waiting = execution.execute(shell('rm victim'), { stopped: stop.signal, approvalWaitMs: 60_000 });
  const open = async () =>
    (await readPending(installation.pool, 100)).filter((each) => JSON.stringify(each).includes('rm victim'));
  await eventually(async () => expect(await open()).toHaveLength(1));
  stop.abort();
  expect(await waiting).toMatchObject({ status: 'failed', error: { category: 'cancelled' } });
  expect(lines().at(-1)).toMatchObject({ result: 'cancelled', error_category: 'cancelled' });
  await eventually(async () => expect(await open()).toHaveLength(0));
  expect(readdirSync(root)).toEqual(['victim']);
});

it('counts every call up to the limit, and anew after its time', async () => {
  const { pool } = installation;
  const request = { agent: 'b', session: 's', most: 1, windowSeconds: 1 };
  expect(await takeQuota(pool, request)).toMatchObject({ allowed: true, used: 1 });
  expect(await takeQuota(pool, request)).toMatchObject({ allowed: false, used: 1 });
  await sleep(1100);
  expect(await takeQuota(pool, request)).toMatchObject({ allowed: true, used: 1 });
  expect(await takeQuota(pool, { ...request, session: 'zero', most: 0 })).toMatchObject({ allowed: false, used: 0 });
  const { execution } = await scene({ maxToolCallsPerSession: 5 });
  expect(await execution.execute(shell('true'))).toMatchObject({ refusal: { code: 'quota_blocked' } });
});

it('names nobody who approved what was refused, unless somebody had', async () => {
  const { execution, root, lines } = await scene();
  writeFileSync(join(root, 'x'), '');
  const approver = () => [lines().at(-1)?.['result'], lines().at(-1)?.['approved_by']];
  await execution.execute(shell('true'));
  expect(approver()).toEqual(['success', 'auto']);
  await execution.execute(shell('exit 3'));
  expect(approver()).toEqual(['error', 'auto']);
  await execution.execute(shell('sudo id'));
  expect(approver()).toEqual(['blocked', null]);
  await execution.execute({ tool: 'dance', args: {} });
  expect(approver()).toEqual(['blocked', null]);
  const asked = questionOf(await execution.execute(shell('rm x')));
  expect(approver()).toEqual(['blocked', null]);
  await execution.executeConfirmed(answerQuestion(asked, 'alice'));
  expect(approver()).toEqual(['success', 'alice']);
});

it('counts by itself: no name that is given to a call makes it free, and asking and running is one call', async () => {
  const { execution, root } = await scene({ maxToolCallsPerSession: 3 }, { controls: controlsIn(installation.pool) });
  for (const name of ['x', 'y']) writeFileSync(join(root, name), '');
  const same = { session: 'reused', callId: 'the same' };
  const asked = questionOf(await execution.execute(shell('rm x', same)));
  expect(await execution.executeConfirmed(answerQuestion(asked, 'alice'))).toMatchObject({ status: 'done' });
  const statuses: string[] = [];
  for (let time = 0; time < 4; time += 1) statuses.push((await execution.execute(shell('true', same))).status);
  expect(statuses).toEqual(['done', 'done', 'refused', 'refused']);
  // A copy of the question is not the call that was counted.
  const forged = answerQuestion({ ...asked, call: { ...asked.call } }, 'alice');
  expect(await execution.executeConfirmed(forged)).toMatchObject({ refusal: { code: 'quota_blocked' } });
});

it('writes down what ran where a person has changed it, and what was asked for', { timeout: 60_000 }, async () => {
  const gate = await installation.connect({ agent: 'a', session: 'edits' });
  const { execution, root, lines } = await scene({ shell: { deny: ['echo forbidden'] } }, { gate });
  for (const name of ['x', 'y']) writeFileSync(join(root, name), '');
  const edited = async (command: string, instead: string) => {
    const asked = questionOf(await execution.execute(shell(command, { session: 'edits' })));
    await decideAs(installation.pool, {
      ...{ approval: asked.approval ?? '', verb: 'approve', by: 'alice', reason: 'rather this' },
      edit: { command: instead },
    });
    return eventually(async () => {
      const executed = await execution.execute(shell(command, { session: 'edits' }));
      if (executed.status === 'ask') throw new Error('not decided yet');
      return executed;
    });
  };
  expect(await edited('rm x', 'rm y')).toMatchObject({ status: 'done' });
  expect([existsSync(join(root, 'x')), existsSync(join(root, 'y'))]).toEqual([true, false]);
  expect(lines().at(-1)).toMatchObject({
    ...{ result: 'success', command: 'rm y', approved_by: 'alice' },
    ...{ arguments: { command: 'rm y' }, edited_from: { command: 'rm x' } },
  });
  expect(await edited('rm z', 'echo forbidden')).toMatchObject({ status: 'refused' });
  // Alice said yes to it, the policy did not.
  expect(lines().at(-1)).toMatchObject({
    ...{ result: 'blocked', approved_by: 'alice', arguments: { command: 'echo forbidden' } },
  });
});

it('takes back the question at the gate that was answered where it was asked', { timeout: 60_000 }, async () => {
  const gate = await installation.connect({ agent: 'a', session: 'answered' });
  const { execution, root } = await scene({}, { gate });
  writeFileSync(join(root, 'x'), '');
  const asked = questionOf(await execution.execute(shell('rm x', { session: 'answered' })));
  const statusOf = async () =>
    (await installation.pool.query<{ status: string }>('select status from approval where id = $1', [asked.approval]))
      .rows[0]?.status;
  expect(await statusOf()).toBe('pending');
  expect(await execution.executeConfirmed(answerQuestion(asked, 'alice'))).toMatchObject({ status: 'done' });
  await eventually(async () => expect(await statusOf()).toBe('withdrawn'));
});

it('hands the gate what a tool may do at worst: the first deletion there is asks', { timeout: 60_000 }, async () => {
  const gate = await installation.connect({ agent: 'a', session: 'risk' });
  const { execution, root } = await scene({}, { gate });
  for (const name of ['x', 'y']) writeFileSync(join(root, name), '');
  const call = (tool: string, path: string) => ({ tool, args: { path }, agent: 'a', session: 'risk' });
  expect(await execution.execute(call('read', 'x'))).toMatchObject({ status: 'done' });
  const asked = questionOf(await execution.execute(call('delete', 'x')));
  expect(asked.because).toContain('risk: destructive');
  expect(existsSync(join(root, 'x'))).toBe(true);
  await decideAs(installation.pool, { approval: asked.approval ?? '', verb: 'approve', by: 'alice', reason: '' });
  await eventually(async () => expect(await execution.execute(call('delete', 'x'))).toMatchObject({ status: 'done' }));
  // From now on it has been seen.
  await eventually(() => expect(gate.check({ tool: 'delete' })).toMatchObject({ decision: 'allow' }));
  expect(await execution.execute(call('delete', 'y'))).toMatchObject({ status: 'done' });
});

it('ends a fetch when the kill switch is thrown', { timeout: 60_000 }, async () => {
  const endless = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).flushHeaders();
  });
  await new Promise<void>((listening) => endless.listen(0, '127.0.0.1', listening));
  const address = endless.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;
  const controls = controlsIn(installation.pool);
  const executor = executorOf(fetchTool({ allowPrivate: true, timeoutMs: 50_000 }));
  const { execution } = await scene({}, { controls, executor });
  const fetching = execution.execute({ tool: 'fetch', args: { url } });
  await sleep(500);
  await throwKillSwitch(installation.pool, true, 'alice', 'enough');
  expect(await fetching).toMatchObject({ status: 'failed', error: { category: 'cancelled' } });
  await throwKillSwitch(installation.pool, false, 'alice', 'over');
  endless.closeAllConnections();
  endless.close();
});

it(
  'asks people through the gate, and the kill switch stops what waits and what runs',
  { timeout: 60_000 },
  async () => {
    const gate = await installation.connect({ agent: 'a', session: 's' });
    const { execution, root, lines } = await scene({}, { gate, controls: controlsIn(installation.pool) });
    for (const name of ['x', 'y']) writeFileSync(join(root, name), '');
    expect(await execution.execute(shell('echo trusted'))).toMatchObject({ status: 'done' });
    const asked = questionOf(await execution.execute(shell('rm x')));
    const [question] = await readPending(installation.pool, 1);
    expect(question).toMatchObject({ id: asked.approval, because: 'rm is to be confirmed' });
    await approve(asked.approval);
    expect(await eventually(async () => done(await execution.execute(shell('rm x'))))).toBe('done');
    expect(existsSync(join(root, 'x'))).toBe(false);
    expect(lines().at(-1)).toMatchObject({ result: 'success', approved_by: 'alice', trust: 'TRUSTED' });

    const waiting = execution.execute(shell('rm y'), { approvalWaitMs: 30_000 });
    // Whoever throws the switch does not wait for what will not listen.
    const running = execution.execute(shell("trap '' TERM; echo on > begun; sleep 30; sleep 30"));
    await eventually(() => expect(existsSync(join(root, 'begun'))).toBe(true));
    const open = await eventually(async () => {
      const found = await installation.pool.query<{ id: string }>("select id from approval where status = 'pending'");
      if (found.rows[0] === undefined) throw new Error('nobody was asked yet');
      return found.rows[0].id;
    });
    await throwKillSwitch(installation.pool, true, 'alice', 'enough');
    await approve(open);
    expect(await running).toMatchObject({ status: 'failed', error: { category: 'cancelled' } });
    expect(await waiting).toMatchObject({ status: 'refused', refusal: { stage: 'kill_switch' } });
    expect(existsSync(join(root, 'y'))).toBe(true);
    expect(await execution.execute(shell('true'))).toMatchObject({
      status: 'refused',
      refusal: { stage: 'kill_switch' },
    });
    await throwKillSwitch(installation.pool, false, 'alice', 'over');
    expect(await execution.execute(shell('true'))).toMatchObject({ status: 'done' });
    const counted = await installation.pool.query("select 1 from trust where status <> 'TRUSTED'");
    expect(counted.rowCount).toBe(0);
  },
);

it('lifts what the policy asks while the glass is broken, and never what is blocked unconditionally', async () => {
  const gate = await installation.connect({ agent: 'c' });
  await escalateTool(installation, gate, 'grep');
  await breakGlass(installation.pool, Date.now() + 60_000, 'alice', 'test');
  await eventually(() => expect(gate.brokenGlassUntil).not.toBeNull());
  const { execution, root, lines } = await scene({ shell: { deny: ['git *'] } }, { gate });
  writeFileSync(join(root, 'x'), '');
  expect(await execution.execute(shell('rm x'))).toMatchObject({ status: 'done' });
  expect(await execution.execute(shell('git --version'))).toMatchObject({ status: 'done' });
  expect(await execution.execute(shell('true'))).toMatchObject({ status: 'done' });
  expect(await execution.execute(shell('sudo id'))).toMatchObject({ status: 'refused' });
  expect(lines().map(({ approved_by }) => approved_by)).toEqual(['break glass', 'break glass', 'auto', null]);
  // What it lifts from is said as well.
  expect(await execution.execute({ tool: 'grep', args: { pattern: 'x' } })).toMatchObject({ status: 'done' });
  expect(lines().at(-1)).toMatchObject({ trust: 'ESCALATED', approved_by: 'break glass' });
  await breakGlass(installation.pool, Date.now(), 'alice', 'over');
});

it('refuses where the kill switch cannot be read', async () => {
  const controls = {
    killSwitch: () => Promise.reject(new Error('gone')),
    takeQuota: () => Promise.reject(new Error('gone')),
  };
  const { execution } = await scene({}, { controls });
  expect(await execution.execute(shell('true'))).toMatchObject({
    status: 'refused',
    refusal: { stage: 'kill_switch' },
  });
});

function done(executed: Executed): string {
  if (executed.status !== 'done') throw new Error(`not yet: ${executed.status}`);
  return executed.status;
}

async function approve(id: string | undefined): Promise<void> {
  if (id === undefined) throw new Error('nobody was asked');
  await decideAs(installation.pool, { approval: id, verb: 'approve', by: 'alice', reason: 'looked at it' });
}
