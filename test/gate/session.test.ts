import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ApprovalRequired, CallDenied, connect, InvalidReport } from '../../src/gate/index.ts';
import type { Gate } from '../../src/gate/index.ts';

let gate: Gate;

beforeEach(async () => {
  vi.stubEnv('SURETY_PERSIST', 'false');
  gate = await connect({ agent: 'a1' });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await gate.close();
});

const unavailable = { error: 'upstream exploded', http_status: 503 };
const url = 'https://api.example.com/data';

describe('trust that lives and dies with the process', () => {
  test('escalates at the third failure, for that scope alone', async () => {
    for (let i = 0; i < 3; i += 1) await gate.report({ tool: 'http_request', args: { url }, result: unavailable });
    expect(gate.check({ tool: 'http_request', args: { url } })).toMatchObject({ decision: 'ask', via: 'person' });
    expect(gate.check({ tool: 'http_request', args: { url: 'https://other.com' } }).decision).toBe('allow');
  });

  test('the same call, reported again and again, has failed once', async () => {
    for (let i = 0; i < 9; i += 1) await gate.report({ tool: 't', callId: 'c1', result: unavailable });
    expect(gate.check({ tool: 't' }).decision).toBe('allow');
  });

  test('a server that only the arguments name is the one that was reported', async () => {
    const call = { tool: 'mcp_atlassian_search', args: { _mcp_server: 'atlassian' } };
    for (let i = 0; i < 2; i += 1) await gate.report({ ...call, error: 'Request timed out' });
    expect(gate.check(call)).toMatchObject({ decision: 'ask', escalation: { server: 'atlassian' } });
  });

  test("the application's own permission may be a function; the stricter answer holds, and nonsense allows nothing", () => {
    expect(gate.check({ tool: 'z', permission: () => 'deny' }).decision).toBe('deny');
    expect(gate.check({ tool: 'z', permission: () => true }).decision).toBe('allow');
    expect(gate.check({ tool: 'z', permission: () => false })).toMatchObject({ decision: 'ask', via: 'person' });
    expect(gate.check({ tool: 'z', permission: 'yes' as never }).decision).toBe('ask');
  });

  test('SURETY_THRESHOLD and SURETY_WINDOW set the default rule', async () => {
    vi.stubEnv('SURETY_THRESHOLD', '1');
    const strict = await connect();
    await strict.report({ tool: 't', result: unavailable });
    expect(strict.check({ tool: 't' }).decision).toBe('ask');
    await strict.close();
  });

  test('SURETY_ENABLED=false allows everything and records nothing', async () => {
    vi.stubEnv('SURETY_ENABLED', 'false');
    const off = await connect();
    for (let i = 0; i < 9; i += 1) await off.report({ tool: 't', severity: 'security', error: 'x' });
    expect(off.check({ tool: 't' }).decision).toBe('allow');
    await off.close();
  });
});

describe('guard', () => {
  test('runs, returns, and reports what became of it', async () => {
    const fails = gate.guard('http_request', (_: { url: string }) =>
      Promise.reject(new Error('503 Service Unavailable')),
    );
    for (let i = 0; i < 3; i += 1) await expect(fails({ url })).rejects.toThrow('503');
    const refused = await fails({ url }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApprovalRequired);
    expect((refused as ApprovalRequired).escalation).toMatchObject({
      state: 'ESCALATED',
      failureCount: 3,
      scope: 'api.example.com',
    });
    expect((refused as ApprovalRequired).prompt).toContain('requires approval');
  });

  test('a blocked tool is not run at all', async () => {
    let ran = 0;
    const bash = gate.guard('bash', (_: { command: string }) => ((ran += 1), { error: 'Permission denied' }));
    await bash({ command: 'sudo rm -rf /' });
    await expect(bash({ command: 'ls' })).rejects.toThrow(CallDenied);
    expect(ran).toBe(1);
  });

  test('the application’s own permission is heard, and the stricter answer holds', async () => {
    const work = gate.guard('t', () => 'done', { permission: () => false });
    await expect(work(undefined)).rejects.toThrow(ApprovalRequired);
    for (let i = 0; i < 3; i += 1) await gate.report({ tool: 't', result: unavailable });
    const whitelisted = gate.guard('t', () => 'done', { permission: () => 'allow' });
    await expect(whitelisted(undefined)).rejects.toThrow(ApprovalRequired);
  });
});

describe('listeners', () => {
  test('cannot break each other, nor the gate', async () => {
    vi.stubEnv('SURETY_THRESHOLD', '1');
    const errors: unknown[] = [];
    const own = await connect({ onListenerError: (error) => errors.push(error) });
    const heard: string[] = [];
    own.on('escalated', () => {
      throw new Error('first');
    });
    own.on('escalated', () => Promise.reject(new Error('second')));
    const off = own.on('escalated', () => heard.push('never'));
    own.on('escalated', ({ notice }) => heard.push(notice));
    off();
    await own.report({ tool: 't', result: unavailable });
    await new Promise((done) => setTimeout(done, 5));
    expect(errors).toHaveLength(2);
    expect(heard).toEqual([expect.stringContaining('t now requires approval')]);
    await own.close();
  });
});

test.each([[{}], [{ tool: '' }], [{ tool: 't', sucess: true }], [{ tool: 't', at: 'yesterday' }], [null], [42]])(
  'the report %j is refused with the reason, and nothing is recorded',
  async (report) => {
    await expect(gate.report(report as never)).rejects.toThrow(InvalidReport);
  },
);

test('the answer without exceptions is one shared frozen object', () => {
  const tool = gate.tool('local', 'ls');
  expect(tool.check({})).toBe(tool.check({}));
  expect(Object.isFrozen(tool.check())).toBe(true);
});
