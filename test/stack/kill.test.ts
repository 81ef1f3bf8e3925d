import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { openHome } from '../../src/home.ts';
import type { Child } from '../../src/stack/child.ts';
import { findProcess, isRunning } from '../../src/stack/process.ts';
import type { ProcessRef } from '../../src/stack/process.ts';
import { readStack } from '../../src/stack/stack-file.ts';
import { findTemporal } from '../../src/temporal/binary.ts';
import { startDevServer } from '../../src/temporal/dev-server.ts';
import { freePort } from '../support/free-port.ts';
import { SHARED_CACHE, runStack, serversOn, stackEnvironment, temporaryHome } from './support.ts';

interface Held {
  readonly home: string;
  readonly env: Record<string, string>;
  readonly parent: ChildProcess;
  readonly guard: ProcessRef;
}

/** A stack in a process of its own, ready to be killed. */
async function holdStack(): Promise<Held> {
  const home = await temporaryHome();
  const env = await stackEnvironment(home);
  const script = new URL('hold-stack.ts', import.meta.url).pathname;
  const parent = spawn(process.execPath, ['--import', 'tsx', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    for (const pid of serversOn(home)) process.kill(pid, 'SIGKILL');
    parent.kill('SIGKILL');
  });
  for await (const line of createInterface({ input: parent.stdout })) if (line === 'READY') break;
  expect(serversOn(home)).toHaveLength(2);
  return { home, env, parent, guard: guardOf(parent) };
}

/** Its own: other tests, and other people on this machine, have theirs. */
function guardOf(parent: ChildProcess): ProcessRef {
  const table = execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  const line = table.find(
    (row) => row.includes('/stack/guard.ts') && row.trim().split(/\s+/)[1] === String(parent.pid),
  );
  const guard = findProcess(Number(line?.trim().split(/\s+/)[0]));
  if (guard === undefined) throw new Error('no guard was started');
  return guard;
}

async function kill(held: Held): Promise<void> {
  held.parent.kill('SIGKILL');
  await once(held.parent, 'exit');
}

async function nothingRunsOn(home: string, withinMs: number): Promise<void> {
  await until(() => serversOn(home).length === 0, withinMs);
}

async function until(holds: () => boolean, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!holds() && Date.now() < deadline) await sleep(25);
  expect(holds()).toBe(true);
}

describe('kill -9', { timeout: 120_000 }, () => {
  it('of the parent leaves no server behind', async () => {
    const held = await holdStack();
    await kill(held);
    await nothingRunsOn(held.home, 15_000);
    const status = await readStack(held.home);
    expect(status).toEqual({ running: false, because: expect.stringContaining('ended without stopping') as string });
    await until(() => !isRunning(held.guard), 5_000);
  });

  it('of the parent and its guard is repaired by the next start', async () => {
    const held = await holdStack();
    process.kill(held.guard.pid, 'SIGKILL');
    await kill(held);
    await sleep(500);
    expect(serversOn(held.home)).toHaveLength(2);
    const said: string[] = [];
    const stack = await runStack(loadConfig(held.env), { progress: (message) => said.push(message) });
    expect(said.sort()).toEqual([
      expect.stringMatching(/^Stopping Postgres \(pid \d+\), left behind by an earlier run$/),
      expect.stringMatching(/^Stopping Temporal \(pid \d+\), left behind by an earlier run$/),
    ]);
    expect(serversOn(held.home)).toHaveLength(2);
    await stack.stop();
    expect(serversOn(held.home)).toEqual([]);
  });

  it('of the parent, started again at once, does not lose to the guard that is still at work', async () => {
    const held = await holdStack();
    await kill(held);
    await runStack(loadConfig(held.env));
    await sleep(3_000);
    expect(serversOn(held.home)).toHaveLength(2);
  });

  it('of Temporal in the middle of its very first start does not spoil the next one', async () => {
    const home = await openHome(await temporaryHome());
    const { searchPath } = loadConfig();
    const binary = await findTemporal({ searchPath, cache: SHARED_CACHE }, () => undefined);
    const ports = { temporal: await freePort(), ui: await freePort() };
    const start = (onSpawn: (child: Child) => void) =>
      startDevServer({ home, binary, ports, namespace: 'default', onSpawn });
    for (const afterMs of [40, 60, 80]) {
      const killed = start(({ process: { pid } }) => void setTimeout(() => process.kill(pid, 'SIGKILL'), afterMs));
      await expect(killed).rejects.toThrow('ended before it was ready (signal SIGKILL)');
    }
    await writeFile(home.temporalDatabase, ''); // The worst moment of all.
    const child = await start(() => undefined);
    await child.stop();
    const again = await start(() => undefined);
    await again.stop();
  });

  it('of everything loses nothing that was committed', async () => {
    const held = await holdStack();
    const status = await readStack(held.home);
    if (!status.running) throw new Error(status.because);
    const client = new Client({ connectionString: status.stack.databaseUrl });
    client.on('error', () => undefined);
    await client.connect();
    await client.query("CREATE TABLE kept AS SELECT 'committed' AS word");
    for (const pid of [held.guard.pid, ...serversOn(held.home)]) process.kill(pid, 'SIGKILL');
    await kill(held);
    const stack = await runStack(loadConfig(held.env));
    const again = new Client({ connectionString: stack.databaseUrl });
    await again.connect();
    expect((await again.query('SELECT word FROM kept')).rows).toEqual([{ word: 'committed' }]);
    await again.end();
  });

  it('of one server is told to whoever runs the stack', async () => {
    const home = await temporaryHome();
    const told: unknown[] = [];
    await runStack(loadConfig(await stackEnvironment(home)), { onChildExit: (name, how) => told.push([name, how]) });
    for (const pid of serversOn(home)) process.kill(pid, 'SIGKILL');
    for (const deadline = Date.now() + 5_000; told.length < 2 && Date.now() < deadline;) await sleep(20);
    expect(told.sort()).toEqual([
      ['Postgres', 'signal SIGKILL'],
      ['Temporal', 'signal SIGKILL'],
    ]);
  });
});
