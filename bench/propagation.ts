import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { connect } from 'surety';
import { createPool } from '../src/postgres/pool.ts';
import { percentile, percentileByRound, row } from './measure.ts';
import type { Row } from './measure.ts';
import { startPeer } from './peer-client.ts';
import { untilApplied } from './stack.ts';
import type { BenchStack } from './stack.ts';

const TOOLS = 250;

/** The third failure is acknowledged here; how long until the gate of another process asks? */
export async function propagation(stack: BenchStack): Promise<readonly Row[]> {
  const peer = await startPeer(stack);
  const handle = await peer.start('updated');
  const gate = await connect({ databaseUrl: stack.databaseUrl });
  const pool = createPool(stack.databaseUrl, { max: 1 });
  const watcher = watch(stack, TOOLS);
  await watcher.ready;
  const [ours, updates]: [number[], number[]] = [[], []];
  const fail = async (tool: string) => {
    const failure = { tool, success: false, error: { message: 'upstream exploded', status: 500 } };
    for (let n = 0; n < 2; n += 1) await gate.report(failure);
    await gate.report(failure);
    const acknowledged = Date.now();
    ours.push(Math.max(0, (await watcher.asked(tool)) - acknowledged));
    // Ours has still something to write down; it must not fall on the update.
    await untilApplied(pool);
  };
  const update = async () => {
    const begin = performance.now();
    await handle.executeUpdate('answer');
    updates.push(performance.now() - begin);
  };
  for (let i = 0; i < TOOLS; i += 1) {
    if (i % 2 === 0) await update();
    await fail(`far-${i}`);
    if (i % 2 === 1) await update();
  }
  watcher.stop();
  await gate.close();
  await pool.end();
  await peer.stop();
  const p = percentileByRound;
  const slow = (samples: readonly number[]) => [percentile(samples, 0.99)];
  return [
    row('third failure → another gate asks, p50 / update p50', 'ms', p(ours, 0.5), p(updates, 0.5)),
    row('third failure → another gate asks, p99 / update p99', 'ms', p(ours, 0.99), p(updates, 0.99), { atMost: 5 }),
    row('third failure → another gate asks, p99 of all / update p99 of all', 'ms', slow(ours), slow(updates), {
      atMost: 5,
    }),
  ];
}

/** Another process with a gate of its own, which says when it first asks about each tool. */
function watch(stack: BenchStack, tools: number) {
  const program = fileURLToPath(new URL('./propagation-watcher.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program, stack.databaseUrl, String(tools)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const seen = new Map<string, number>();
  const waiting = new Map<string, (at: number) => void>();
  let markReady: () => void = () => undefined;
  const ready = new Promise<void>((done) => {
    markReady = done;
  });
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === 'ready') markReady();
      const [tool = '', at = ''] = line.split(' ');
      seen.set(tool, Number(at));
      waiting.get(tool)?.(Number(at));
    }
  });
  return {
    ready,
    asked: (tool: string) =>
      seen.has(tool)
        ? Promise.resolve(seen.get(tool) ?? NaN)
        : new Promise<number>((done) => void waiting.set(tool, done)),
    stop: () => void child.kill('SIGTERM'),
  };
}
