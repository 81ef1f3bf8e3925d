import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { outcomeId } from '../../src/postgres/outcome-id.ts';
import { serverKey, toolKey } from '../../src/domain/key/tool-key.ts';
import type { Parts } from '../../src/domain/trust/parts.ts';
import { WHOLE } from '../../src/domain/trust/parts.ts';
import type { Recovering, TrustState } from '../../src/domain/trust/trust.ts';
import type { Gate } from '../../src/gate/index.ts';
import type { RunningWorker } from '../../src/temporal/start-worker.ts';
import { createInstallation, eventually } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { createAgents } from './lease-agents.ts';
import type { Agent, Agents } from './lease-agents.ts';

const PROCESSES = 8;
const ATTEMPTS = 1000;

const RULE = {
  escalationDurationSeconds: 1,
  cooldownSeconds: 1,
  successCountToRecover: 1_000_000,
  blockAfterRelapses: null,
  probeLeaseSeconds: 1,
  probeWaitMs: 20,
};
const RULES = {
  defaultRule: RULE,
  serverRules: { remote: RULE, distant: RULE },
  toolRules: { awaited: { ...RULE, probeWaitMs: 5000 }, curable: { ...RULE, successCountToRecover: 2 } },
};

let installation: Installation;
let worker: RunningWorker;
let gate: Gate;
let agents: Agents;
let all: Agent[];

beforeAll(async () => {
  installation = await createInstallation(RULES);
  worker = await installation.startWorker();
  gate = await installation.connect({ agent: 'test' });
  agents = await createAgents();
  all = await Promise.all(Array.from({ length: PROCESSES }, (_, i) => start(`agent-${i + 1}`)));
});
afterAll(async () => {
  await agents.close();
  await installation.close();
});

let started = 0;
/** Every other agent speaks HTTP: a probe is one at a time whichever way it is asked for. */
async function start(name: string): Promise<Agent> {
  started += 1;
  if (started % 2 === 1) return agents.start(name, { DATABASE_URL: installation.databaseUrl });
  const { url, token } = await installation.remote(name);
  return agents.start(name, { SURETY_URL: url, SURETY_TOKEN: token });
}

const [SUCCESS, FAILURE, UNKNOWN] = [0, 1, 2];
const [LIVE, LAPSED] = [0, 1];

const broken = { success: false, error: 'it exploded' };
const unreachable = { success: false, error: 'connect ECONNREFUSED 10.0.0.7:443' };

async function state(key: string): Promise<TrustState | undefined> {
  const found = await installation.pool.query<{ parts: Parts }>(
    'select t.parts from trust t join subject s on s.id = t.subject where s.key = $1',
    [key],
  );
  return found.rows[0]?.parts[WHOLE];
}

async function recovering(key: string): Promise<Recovering> {
  return eventually(async () => {
    const found = await state(key);
    if (found?.status !== 'RECOVERING') throw new Error(`${key} is ${found?.status ?? 'unknown'}`);
    return found;
  });
}

/** Breaks a tool and waits until it may be tried again. Every agent knows by then. */
async function breakTool(name: string, server = 'local'): Promise<void> {
  for (let i = 0; i < 3; i += 1) await gate.report({ tool: name, server, ...broken });
  await recovering(toolKey(server, name));
  await sleep(300);
}

interface Row {
  readonly kind: number;
  readonly probe: number | null;
  readonly call: string | null;
}

async function rowsOf(key: string): Promise<Row[]> {
  const found = await installation.pool.query<Row>(
    `select l.kind, l.probe, l.detail ->> 'callId' as call from ledger l join subject s on s.id = l.subject
     where s.key = $1 order by l.seq`,
    [key],
  );
  return found.rows;
}

/** Attempts shared out to all agents, each one after the other. Answers what became of them and who ran beside whom. */
async function crowd(tools: readonly { server?: string; tool: string }[], attempts: number, slowEvery = 0) {
  const overlaps: string[] = [];
  const counts: Record<string, number> = {};
  let made = 0;
  await Promise.all(
    all.map(async (agent) => {
      while (made < attempts) {
        made += 1;
        const order = tools[made % tools.length] ?? { tool: '' };
        const runMs = slowEvery > 0 && made % slowEvery === 0 ? 2200 : made % 7;
        const call = agent.call({ ...order, runMs });
        void call.started.then((beside) => {
          if (beside.length > 0) overlaps.push(`${agent.name} beside ${beside.join()}`);
        });
        const { event } = await call.ended;
        counts[event] = (counts[event] ?? 0) + 1;
      }
    }),
  );
  return { overlaps, counts };
}

describe('the probe of a recovering tool', () => {
  test(`is one at a time, whoever tries: ${PROCESSES} processes, ${ATTEMPTS} attempts`, async () => {
    await breakTool('crowded');
    const { overlaps, counts } = await crowd([{ tool: 'crowded' }], ATTEMPTS, 400);
    console.log(counts);
    expect(overlaps).toEqual([]);
    const { ran = 0, asked = 0, ...others } = counts;
    expect(others).toEqual({});
    expect(ran + asked).toBe(ATTEMPTS);
    expect(ran).toBeGreaterThan(50);
    expect(asked).toBeGreaterThan(50);
    // Each run was under a live lease, also those that took twice as long as one lasts, and each counts once.
    await eventually(async () => expect(await state(toolKey('local', 'crowded'))).toMatchObject({ successes: ran }));
    expect((await rowsOf(toolKey('local', 'crowded'))).filter(({ probe }) => probe === 1)).toEqual([]);
  }, 120_000);

  test('stays with a slow holder that lives, and is lost by one that dies: the tool relapses, and recovers later', async () => {
    const [holder, other] = await pair();
    await breakTool('curable');
    const callId = 'a call by any name';
    const call = holder.call({ tool: 'curable', callId, runMs: 60_000 });
    await call.started;
    for (const wait of [900, 900, 900]) {
      await sleep(wait);
      expect(await other.call({ tool: 'curable', runMs: 0 }).ended).toMatchObject({ event: 'asked' });
    }
    await holder.kill();
    const key = toolKey('local', 'curable');
    await relapsedOnce(key);
    const silent = (await rowsOf(key)).filter(({ kind }) => kind === UNKNOWN);
    expect(silent).toEqual([
      { kind: UNKNOWN, probe: LAPSED, call: outcomeId(callId, 'local', 'curable', holder.name) },
    ]);
    await recovering(key);
    for (let i = 0; i < 2; i += 1) await succeed(other, 'curable');
    await eventually(() => expect(gate.check({ tool: 'curable' })).toMatchObject({ decision: 'allow' }));
    expect((await rowsOf(key)).filter(({ kind }) => kind === UNKNOWN)).toHaveLength(1);
  });
});

describe('a holder that is stopped past its deadline', () => {
  test('was given up: the tool has relapsed, and its late success is kept but does not count', async () => {
    const [holder] = await pair();
    const key = toolKey('local', 'stalled');
    await breakTool('stalled');
    const call = holder.call({ tool: 'stalled', runMs: 200 });
    await call.started;
    holder.signal('SIGSTOP');
    await relapsedOnce(key);
    const before = await recovering(key);
    holder.signal('SIGCONT');
    expect(await call.ended).toMatchObject({ event: 'ran' });
    await applied(key);
    expect((await rowsOf(key)).slice(3).map(({ kind, probe }) => [kind, probe])).toEqual([
      [UNKNOWN, LAPSED],
      [SUCCESS, LAPSED],
    ]);
    expect(await state(key)).toEqual(before);
  });

  test('has lost its lease to another, whose success counts while its own does not', async () => {
    const [holder, other] = await pair();
    const key = toolKey('local', 'overtaken');
    await breakTool('overtaken');
    // With no worker to look after them, leases still lapse: by the ledger's clock, at the next who asks.
    await worker.stop();
    const call = holder.call({ tool: 'overtaken', runMs: 200 });
    await call.started;
    holder.signal('SIGSTOP');
    await sleep(1200);
    expect(await other.call({ tool: 'overtaken', runMs: 0 }).ended).toMatchObject({ event: 'ran' });
    holder.signal('SIGCONT');
    expect(await call.ended).toMatchObject({ event: 'ran' });
    worker = await installation.startWorker();
    await applied(key);
    expect((await rowsOf(key)).slice(3).map(({ kind, probe }) => [kind, probe])).toEqual([
      [SUCCESS, LIVE],
      [SUCCESS, LAPSED],
    ]);
    expect(await state(key)).toMatchObject({ status: 'RECOVERING', successes: 1, relapses: [] });
  });

  test('still condemns the tool when what it brings is a failure', async () => {
    const [holder] = await pair();
    const key = toolKey('local', 'condemned');
    await breakTool('condemned');
    await worker.stop();
    const call = holder.call({ tool: 'condemned', runMs: 200, fails: true });
    await call.started;
    holder.signal('SIGSTOP');
    await sleep(1200);
    holder.signal('SIGCONT');
    expect(await call.ended).toMatchObject({ event: 'failed', because: 'it exploded' });
    worker = await installation.startWorker();
    await applied(key);
    expect((await rowsOf(key)).slice(3).map(({ kind, probe }) => [kind, probe])).toEqual([[FAILURE, LAPSED]]);
    expect(await recovering(key)).toMatchObject({ relapses: [expect.any(Number)], successes: 0 });
  });
});

test('whoever waits for a probe is not let in by its failure', async () => {
  const [holder, other] = await pair();
  await breakTool('awaited');
  const call = holder.call({ tool: 'awaited', runMs: 700, fails: true });
  await call.started;
  const waiting = other.call({ tool: 'awaited', runMs: 0 });
  expect(await call.ended).toMatchObject({ event: 'failed' });
  expect(await waiting.ended).toMatchObject({ event: 'asked' });
  expect((await rowsOf(toolKey('local', 'awaited'))).slice(3)).toHaveLength(1);
});

describe('a server and its tools that recover together', () => {
  test('share one probe: whichever tool is tried, one runs at a time, and each success counts for both', async () => {
    await breakTogether('remote', ['search', 'write']);
    const tools = [
      { server: 'remote', tool: 'search' },
      { server: 'remote', tool: 'write' },
    ];
    const { overlaps, counts } = await crowd(tools, 200);
    console.log(counts);
    expect(overlaps).toEqual([]);
    const { ran = 0, asked = 0, ...others } = counts;
    expect(others).toEqual({});
    expect(ran + asked).toBe(200);
    expect(ran).toBeGreaterThan(10);
    await Promise.all(tools.map(({ tool }) => applied(toolKey('remote', tool))));
    await applied(serverKey('remote'));
    const [search, write, server] = await Promise.all(
      [toolKey('remote', 'search'), toolKey('remote', 'write'), serverKey('remote')].map(recovering),
    );
    expect([(search?.successes ?? 0) + (write?.successes ?? 0), server?.successes]).toEqual([ran, ran]);
  });

  test('relapse together when the one that tried both is killed', async () => {
    const [holder] = await pair();
    await breakTogether('distant', ['search', 'write']);
    const call = holder.call({ server: 'distant', tool: 'search', runMs: 60_000 });
    await call.started;
    await holder.kill();
    for (const key of [toolKey('distant', 'search'), serverKey('distant')]) await relapsedOnce(key);
    expect(await state(toolKey('distant', 'write'))).toMatchObject({ status: 'RECOVERING', relapses: [] });
  });
});

async function breakTogether(server: string, tools: readonly string[]): Promise<void> {
  for (const tool of tools) await gate.report({ tool, server, ...unreachable });
  await Promise.all(tools.map((tool) => breakTool(tool, server)));
  await recovering(serverKey(server));
  await sleep(300);
}

async function relapsedOnce(key: string): Promise<void> {
  await eventually(async () => expect(await state(key)).toMatchObject({ relapses: [expect.any(Number)] }));
}

/** Everything in the ledger has been judged and shown. */
async function applied(key: string): Promise<void> {
  await eventually(async () => {
    const found = await installation.pool.query('select 1 from subject where key = $1 and ring_seq <= applied_seq', [
      key,
    ]);
    expect(found.rowCount).toBe(1);
  });
}

/** Two fresh agents: what a test does to them is nobody else's business. */
async function pair(): Promise<[Agent, Agent]> {
  const number = randomUUID().slice(0, 4);
  return Promise.all([start(`holder-${number}`), start(`other-${number}`)]);
}

async function succeed(agent: Agent, tool: string): Promise<void> {
  await eventually(async () => {
    const { event, because } = await agent.call({ tool, runMs: 0 }).ended;
    if (event !== 'ran') throw new Error(`${event}: ${because}`);
  });
}
