import { temporal as proto } from '@temporalio/proto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toolKey } from '../../src/domain/key/tool-key.ts';
import { InvalidReport } from '../../src/gate/index.ts';
import type { Gate, Report } from '../../src/gate/index.ts';
import type { RunningWorker } from '../../src/temporal/start-worker.ts';
import { hostile } from '../domain/outcome/hostile.ts';
import { createInstallation, eventually, TASK_QUEUE } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import {
  auditOf,
  countOf,
  eventsOf,
  fail,
  failedTasks,
  failure,
  headOf,
  keyOf,
  pause,
  projected,
  ring,
  runsOf,
  success,
  typeOf,
  untilApplied,
  untilStatus,
  viewOf,
} from './support.ts';

let installation: Installation;
let gate: Gate;
let worker: RunningWorker;

// A burst must not end in a block before it has been seen to escalate.
const RULES = { toolRules: { sprawling: { blockAfter: null }, exploding: { blockAfter: null } } };

beforeAll(async () => {
  installation = await createInstallation(RULES);
  worker = await installation.startWorker();
  gate = await installation.connect({ agent: 'a1' });
});
afterAll(() => installation.close());

const { UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED: COMPLETED } =
  proto.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;

const samples = (count: number) => fc.sample(hostile, { numRuns: count, seed: 20_261_116 });

/** The proof that a tool's workflow is well: three failures more, and everybody knows. */
async function stillWorks(server: string, tool: string): Promise<void> {
  const key = toolKey(server, tool);
  await fail(gate, tool, 3, { server });
  await untilApplied(installation, key);
  const { status } = await projected(installation, key);
  expect(['ESCALATED', 'BLOCKED']).toContain(status);
}

const NAMES = [
  'x'.repeat(10_240),
  '漢'.repeat(10_000),
  '漢'.repeat(199),
  '\u{1F9E8}'.repeat(120),
  'lone \ud800 surrogate',
  '\udfff',
  'nul \0 inside',
  '\0',
  ' ',
  '../../etc/passwd',
  '| `a` <b> [c](d) |\n# head',
  '__proto__',
  'constructor',
  'toString',
  'a/b',
  'a%2Fb',
  '*',
  "'; drop table ledger; --",
  '\u202Egnirts desrever',
  'e\u0301 is not é',
  'token ghp_0123456789abcdefghijklmnopqrstuvwxyzAB',
];

async function namedAnyhow(name: string): Promise<void> {
  // Agents and sessions are identities: those are refused if they hold what no text holds.
  const agent = name.replace(/[\p{Cc}\p{Surrogate}]/gu, '?').slice(0, 1024);
  const call = { server: `srv ${name}`.slice(0, 10_240), tool: name, scope: name, agent };
  for (let i = 0; i < 3; i += 1) {
    await gate.report({ ...failure(name, { ...call, session: agent }), args: { [name]: name } });
  }
  expect(gate.check(call), JSON.stringify(name).slice(0, 80)).toMatchObject({ decision: 'ask' });
  const { key } = gate.tool(call.server, name);
  await untilStatus(installation, key, 'ESCALATED', 40_000);
  await installation.client.workflow.getHandle(key).executeUpdate('block', { args: [{ by: 'ann' }] });
  await eventually(() => expect(gate.check(call)).toMatchObject({ decision: 'deny' }));
}

describe('a gate', () => {
  test('takes any text for the name of a tool, a server, a scope', async () => {
    await Promise.all(NAMES.map((name) => namedAnyhow(name)));
  });

  test('takes anything for arguments, results, errors and contexts', async () => {
    const values = samples(150);
    await Promise.all(
      values.map(async (make, i) => {
        const given = { tool: 'anything', args: make(), result: make(), context: make() };
        await gate.report(i % 2 === 0 ? given : { ...given, success: false, error: make() });
      }),
    );
    expect(await headOf(installation, keyOf('anything'))).toMatchObject({ outcomes: values.length });
    await stillWorks('local', 'anything');
    for (const make of values) {
      expect(['ask', 'deny']).toContain(gate.check({ tool: 'anything', args: make() }).decision);
    }
  });

  test('refuses what is no report, and says so', async () => {
    const throwing = Object.defineProperty({ tool: 'x' }, 'success', {
      enumerable: true,
      get: () => {
        throw new Error('trap');
      },
    });
    const refused: unknown[] = [
      undefined,
      null,
      7,
      'report',
      [],
      {},
      throwing,
      { tool: '' },
      { tool: 5 },
      { tool: 'x'.repeat(10_241) },
      { tool: 'x', sucess: true },
      { tool: 'x', success: 'yes' },
      { tool: 'x', at: Number.NaN },
      { tool: 'x', at: Number.POSITIVE_INFINITY },
      { tool: 'x', at: -1 },
      { tool: 'x', at: 1e300 },
      { tool: 'x', startedAt: new Date(Number.NaN) },
      { tool: 'x', trustVersion: 1.5 },
      { tool: 'x', trustVersion: 2 ** 60 },
      { tool: 'x', agent: 'nul \0' },
      { tool: 'x', session: 'half \ud800' },
      { tool: 'x', callId: '' },
      { tool: 'x', callId: 'x'.repeat(2000) },
      { tool: 'x', severity: 'bad' },
      { tool: 'x', outcome: 'known' },
      { tool: 'x', probe: 'not a token' },
      { tool: 'x', probe: '99999999999999999999' },
      ...samples(100).map((make) => make()),
    ];
    for (const value of refused) {
      await expect(gate.report(value as Report)).rejects.toBeInstanceOf(InvalidReport);
    }
    expect(gate.pressure).toMatchObject({ waiting: 0, failing: null });
  });

  test('answers or refuses a call that is none, and never lets it pass', async () => {
    await fail(gate, 'doubted', 3);
    await untilStatus(installation, keyOf('doubted'), 'ESCALATED');
    for (const make of samples(100)) {
      const value = make();
      const answers = [
        () => gate.check(value as never),
        () => gate.check({ tool: value as never }),
        () => gate.tool('local', 'doubted').check(value, value as never),
        () => gate.check({ tool: 'doubted', scope: value as never, agent: value as never }),
      ].map((ask) => {
        try {
          return ask().decision;
        } catch (error) {
          return error;
        }
      });
      expect(answers[2]).toSatisfy((answer) => answer === 'ask' || answer instanceof Error);
      expect(answers[3]).toSatisfy((answer) => answer === 'ask' || answer instanceof Error);
    }
    await stillWorks('local', 'doubted');
  });

  test('clamps clocks that are off by years', async () => {
    const year = 31_536_000_000;
    for (const at of [0, Date.now() - 30 * year, Date.now() + 30 * year, 8.64e15]) {
      await gate.report(failure('skewed', { at, startedAt: at }));
    }
    const rows = await installation.pool.query<{ skew: number }>(
      `select extract(epoch from received_at - at)::float8 as skew from ledger l join subject s on s.id = l.subject
       where s.key = $1 order by l.seq`,
      [keyOf('skewed')],
    );
    // An hour is what `maxLatenessSeconds` allows; the future is now.
    expect(rows.rows.map(({ skew }) => Math.round(skew / 60))).toEqual([60, 60, 0, 0]);
    await stillWorks('local', 'skewed');
  });
});

/** Payloads as bytes, so that they need not be what they say. */
const bytes = (text: string) => new TextEncoder().encode(text);
const payload = (encoding: string, data: string) => ({ metadata: { encoding: bytes(encoding) }, data: bytes(data) });

const BROKEN_PAYLOADS = [
  [payload('json/plain', `${'['.repeat(5000)}${']'.repeat(5000)}`)],
  [payload('json/plain', '{"outcomes": [')],
  [payload('json/plain', '')],
  [payload('json/plain', '\u0000\u0001')],
  [{ metadata: { encoding: bytes('json/plain') }, data: new Uint8Array([0xff, 0xfe, 0x00, 0xc3]) }],
  [payload('json/protobuf', '{"a": 1}')],
  [payload('binary/protobuf', 'not protobuf')],
  [payload('who/knows', '{}')],
  [{ metadata: {}, data: bytes('{}') }],
  [{}],
  [],
  [payload('binary/plain', '\u0000')],
  [payload('json/plain', '7'), payload('json/plain', '}{')],
];

const BROKEN_VALUES: unknown[] = [
  null,
  7,
  'outcomes',
  [],
  [[]],
  {},
  { outcomes: null },
  { outcomes: {} },
  { outcomes: 'all of them' },
  { outcome: [] },
  { outcomes: [null] },
  { outcomes: [[]] },
  { outcomes: [{}] },
  { outcomes: [{ success: 'false' }] },
  { outcomes: [{ kind: 'reset' }] },
  { outcomes: [{ success: false, severity: 'dreadful' }] },
  { outcomes: [{ success: false, severity: '__proto__' }] },
  { outcomes: [{ success: false, id: { a: 1 } }] },
  { outcomes: [{ success: false, id: 'x'.repeat(201) }] },
  JSON.parse('{"__proto__": {"outcomes": [{"success": false}]}}'),
];

/** What can be read in part: everything else about them is nonsense. */
const STRANGE_OUTCOMES = [
  { success: false, severity: 'server_error', at: 1e300, startedAt: 1e300 },
  { success: false, severity: 'server_error', at: -5, startedAt: 'yesterday' },
  { success: false, severity: 'server_error', at: '9999-12-31T23:59:59Z' },
  { success: false, severity: 'server_error', at: '+275760-09-13T00:00:00Z' },
  {
    success: false,
    severity: 'server_error',
    scope: '\ud800\0',
    agent: '\udfff\0',
    session: '\0',
    message: '\ud800\0',
  },
  { success: false, severity: 'server_error', scope: '__proto__', agent: 'constructor' },
  { success: false, severity: 'server_error', scope: 'constructor' },
  { success: false, severity: 'server_error', scope: 'hasOwnProperty' },
  { success: false, severity: 'server_error', scope: '漢'.repeat(5000), message: '漢'.repeat(5000) },
  { success: false, severity: 'server_error', id: '\ud800\0', category: 'sabotage', recoverable: 'no' },
  { success: true, severity: 'server_error', scope: 5, agent: {}, session: [], message: null },
  { kind: 'unknown', scope: 'host:', agent: '' },
];

const signalRaw = (key: string, signalName: string, payloads: object[]) =>
  installation.client.workflowService.signalWorkflowExecution({
    namespace: installation.temporal.namespace,
    workflowExecution: { workflowId: key },
    signalName,
    input: { payloads },
    requestId: crypto.randomUUID(),
  });

test('signals with anything in them are counted and left out', async () => {
  const key = keyOf('signalled');
  await fail(gate, 'signalled', 1);
  await untilApplied(installation, key);
  const handle = installation.client.workflow.getHandle(key);
  for (const payloads of BROKEN_PAYLOADS) await signalRaw(key, 'outcomesReported', payloads);
  for (const value of BROKEN_VALUES) await handle.signal('outcomesReported', value);
  const names = ['nobodyKnows', 'x'.repeat(900), '漢字', '__proto__', 'constructor', 'ledgerAdvanced\0'];
  for (const name of names) await handle.signal(name, { anything: true });
  const unreadable = BROKEN_PAYLOADS.length + BROKEN_VALUES.length + names.length;
  await eventually(async () => expect(await headOf(installation, key)).toMatchObject({ rejected: unreadable }));
  expect((await viewOf(installation, key)).rejected).toBe(unreadable);
  expect(await headOf(installation, key)).toMatchObject({ outcomes: 1 });

  // The doorbell takes no arguments; whatever comes with it is nobody's business.
  for (const payloads of BROKEN_PAYLOADS) await signalRaw(key, 'ledgerAdvanced', payloads);
  for (const outcome of STRANGE_OUTCOMES) await handle.signal('outcomesReported', { outcomes: [outcome] });
  const readable = STRANGE_OUTCOMES.length + 1;
  await eventually(async () => expect(await headOf(installation, key)).toMatchObject({ outcomes: readable }));
  expect(await headOf(installation, key)).toMatchObject({ rejected: unreadable });
  await stillWorks('local', 'signalled');
});

test('signals as large as the server lets them be are taken in, piece by piece', async () => {
  const key = keyOf('large');
  await fail(gate, 'large', 1);
  await untilApplied(installation, key);
  const outcomes = (batch: number) =>
    Array.from({ length: 1000 }, (_, i) => ({
      success: true,
      id: `${batch}-${i}-`.padEnd(200, '\u0001'),
      message: '\u0001'.repeat(50),
    }));
  const handle = installation.client.workflow.getHandle(key);
  // Together they would be more than one activity, or one continue-as-new, may carry.
  await Promise.all([1, 2, 3].map((batch) => handle.signal('outcomesReported', { outcomes: outcomes(batch) })));
  await handle.signal('outcomesReported', { outcomes: Array.from({ length: 3000 }, () => ({ success: true })) });
  // What was refused is told once everything else is in the ledger.
  const taken = { outcomes: 4001, rejected: 2000 };
  await eventually(async () => expect(await headOf(installation, key)).toMatchObject(taken), 40_000);
  await stillWorks('local', 'large');
});

test('updates with anything in them are refused', async () => {
  const key = keyOf('updated');
  await fail(gate, 'updated', 1);
  await untilApplied(installation, key);
  const { namespace } = installation.temporal;
  for (const name of ['reset', 'block', 'recover', 'destroy']) {
    for (const payloads of BROKEN_PAYLOADS.filter(([first]) => first !== undefined)) {
      const answer = installation.client.workflowService.updateWorkflowExecution({
        namespace,
        workflowExecution: { workflowId: key },
        request: {
          meta: { updateId: crypto.randomUUID(), identity: 'test' },
          input: { name, args: { payloads } },
        },
        waitPolicy: { lifecycleStage: COMPLETED },
      });
      await expect(answer.then(({ outcome }) => outcome?.failure ?? outcome)).resolves.toHaveProperty('message');
    }
  }
  expect((await projected(installation, key).catch(() => undefined))?.status ?? 'TRUSTED').toBe('TRUSTED');
  await stillWorks('local', 'updated');
});

test('a workflow started with anything either works or ends at once', async () => {
  const start = (workflowId: string, ...args: unknown[]) =>
    installation.client.workflow.start('toolTrust', { workflowId, taskQueue: TASK_QUEUE, args });
  const useless: unknown[][] = [
    [],
    [null],
    [7],
    ['tool'],
    [[]],
    [{}],
    [{ server: 'local' }],
    [{ server: '', name: '' }],
    [{ server: 5, name: 6 }],
    [{ kind: 'planet', server: 'local' }],
    [{ kind: 'tool', server: 'local', name: ['x'] }],
  ];
  for (const [i, args] of useless.entries()) {
    const handle = await start(`useless-${i}`, ...args);
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
  }
  const carried: unknown[] = [
    5,
    'x',
    null,
    [],
    {},
    { memory: 5 },
    { memory: {} },
    { memory: null, rejected: 'many', reported: 7 },
    { memory: { parts: { '': { status: 'BLOCKED' } }, watermark: null }, rejected: -1, reported: [null, 5, {}] },
    { memory: { subject: {}, watermark: {}, version: 'x', rules: {}, parts: { '': 5 } }, reported: 'abc' },
  ];
  for (const [i, garbage] of carried.entries()) {
    const tool = `carried_${i}`;
    await start(keyOf(tool), { server: 'local', name: tool, carried: garbage });
    expect(await viewOf(installation, keyOf(tool))).toMatchObject({ status: 'TRUSTED', rejected: 0 });
    await stillWorks('local', tool);
  }
  // A subject that is not the workflow's own: it may watch nothing and write nowhere.
  await start('tool:local/innocent', { server: 'local', name: 'other' });
  const handle = installation.client.workflow.getHandle('tool:local/innocent');
  await handle.signal('outcomesReported', { outcomes: [{ success: false }, { success: false }, { success: false }] });
  await eventually(async () => expect(await handle.query('trust')).toMatchObject({ rejected: 3, status: 'TRUSTED' }));
  await expect(headOf(installation, keyOf('innocent'))).rejects.toThrow('no head row');
});

test('ten thousand scopes of one tool escalate the tool, and stay small', async () => {
  const key = keyOf('sprawling');
  const scope = (i: number) => `host:${'very-long-label.'.repeat(8)}number-${i}.example.com`;
  for (let from = 0; from < 10_000; from += 1000) {
    await Promise.all(
      Array.from({ length: 1000 }, (_, i) => gate.report(failure('sprawling', { scope: scope(from + i) }))),
    );
  }
  const head = await untilApplied(installation, key);
  expect(head).toMatchObject({ outcomes: 10_000 });
  const { parts, status } = await projected(installation, key);
  expect(status).toBe('ESCALATED');
  expect(parts['']).toMatchObject({ status: 'ESCALATED', reason: 'too many failing scopes' });
  expect(JSON.stringify(parts).length).toBeLessThan(1_000_000);
  expect(gate.check({ tool: 'sprawling', scope: 'host:never.seen.example' })).toMatchObject({ decision: 'ask' });
  await stillWorks('local', 'sprawling');
  // What an operator opens in the UI, or a cold worker reads, must fit into a message.
  for (const { runId } of await runsOf(installation, key)) {
    const { historySize } = await installation.client.workflow.getHandle(key, runId).describe();
    expect(historySize).toBeLessThan(4_000_000);
  }
});

test('scopes that all escalate while nobody looks are shown in bounded pieces', async () => {
  const key = keyOf('exploding');
  await worker.stop();
  for (let from = 0; from < 1500; from += 250) {
    for (let round = 0; round < 3; round += 1) {
      const scopes = Array.from({ length: 250 }, (_, i) => `host:h${from + i}.example.com`);
      await Promise.all(scopes.map((scope) => gate.report(failure('exploding', { scope }))));
    }
  }
  worker = await installation.startWorker();
  await untilApplied(installation, key);
  expect((await projected(installation, key)).parts['']).toMatchObject({ status: 'ESCALATED' });
  expect((await auditOf(installation, key)).length).toBeGreaterThan(1000);
  const runs = await runsOf(installation, key);
  const projections = runs
    .flatMap(({ events }) => events)
    .filter((event) => typeOf(event) === 'activity_task_scheduled');
  expect(projections.length).toBeGreaterThan(1);
});

describe('what somebody wrote into the database by hand', () => {
  test('rules that cannot be read are passed over: the newest that can be hold', async () => {
    const version = await installation.publish({ ...RULES, defaultRule: { countThreshold: 2 } });
    const bodies = [5, [], 'x', { defaultRule: 7 }, { version: 99 }, { toolRules: { x: { countThreshold: -1 } } }];
    for (const body of bodies) {
      const values = [JSON.stringify(body)];
      await installation.pool.query("insert into rules (body, published_by) values ($1, 'by hand')", values);
    }
    await fail(gate, 'ruled', 2);
    const key = keyOf('ruled');
    const { rulesVersion } = await untilStatus(installation, key, 'ESCALATED');
    expect(rulesVersion).toBe(version);
    const late = await installation.connect();
    expect(late.situation).toBe('fresh');
    // Nobody keeps ringing a tool to give it rules that cannot be given.
    await pause(1000);
    const { length } = await eventsOf(installation, key);
    await pause(2500);
    expect((await eventsOf(installation, key)).length - length).toBeLessThanOrEqual(6);
    const next = await installation.publish(RULES);
    await eventually(async () => expect((await projected(installation, key)).rulesVersion).toBe(next));
  });

  const unreadable: unknown[] = [
    5,
    null,
    [],
    { '': null },
    { '': { status: 'ESCALATED' } },
    { '': { status: 'WONDERFUL', tally: {} } },
    { '': { status: 'ESCALATED', tally: { consecutive: 0, failures: [] }, since: 1e300 } },
    { 'host:x': { status: 'TRUSTED' } },
  ];

  test('a projection that cannot be read is read as its status alone', async () => {
    const tools = unreadable.map((_, i) => `projected_${i}`);
    await Promise.all(tools.map((tool) => fail(gate, tool, 3)));
    for (const tool of tools) await untilStatus(installation, keyOf(tool), 'ESCALATED');
    // Nobody is about to write it anew, or to say how far it has read.
    await worker.stop();
    for (const [i, tool] of tools.entries()) {
      const values = [keyOf(tool), JSON.stringify(unreadable[i])];
      await installation.pool.query(
        'update trust set parts = $2 from subject s where s.id = subject and s.key = $1',
        values,
      );
      await installation.client.workflow.getHandle(keyOf(tool)).terminate('by hand');
    }
    worker = await installation.startWorker();
    // A gate that starts now has nothing else to read.
    const late = await installation.connect();
    expect(late.situation).toBe('fresh');
    for (const tool of tools) expect(late.check({ tool })).toMatchObject({ decision: 'ask' });
    await Promise.all(tools.map((tool) => adoptsStatus(tool)));
  });

  /** Nor has a workflow that lost its own memory. */
  async function adoptsStatus(tool: string): Promise<void> {
    await gate.report(success(tool));
    await untilApplied(installation, keyOf(tool));
    expect((await projected(installation, keyOf(tool))).parts['']).toMatchObject({ status: 'ESCALATED' });
    expect((await auditOf(installation, keyOf(tool))).at(-1)).toMatchObject({ action: 'disagreement' });
    await stillWorks('local', tool);
  }
});

test('bells that nobody asked for change nothing', async () => {
  const key = keyOf('peaceful');
  await fail(gate, 'peaceful', 1);
  await untilApplied(installation, key);
  for (let i = 0; i < 20; i += 1) await ring(installation, key);
  await viewOf(installation, key);
  expect(countOf(await eventsOf(installation, key), 'activity_task_scheduled')).toBe(0);
  await stillWorks('local', 'peaceful');
});

test('whatever was thrown at them, no workflow has stumbled', async () => {
  expect((await failedTasks(installation)).join('\n')).toBe('');
});
