import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'surety';
import { createPool } from '../src/postgres/pool.ts';
import { percentile, row } from './measure.ts';
import type { Row } from './measure.ts';
import { until } from './stack.ts';
import type { BenchStack } from './stack.ts';

const TOOLS = 10_000;
const PASSES = 4;

/** Ten thousand tools, each used now and then: what the worker holds, what Temporal burns, and who lags behind. */
export async function scale(stack: BenchStack): Promise<readonly Row[]> {
  const pool = createPool(stack.databaseUrl, { max: 2 });
  const gate = await connect({ databaseUrl: stack.databaseUrl });
  const failure = { success: false, error: { message: 'upstream exploded', status: 500 } };
  const worker = pidOf('up', stack.home);
  const temporal = pidOf('server start-dev', stack.home);
  const applied = () =>
    until(
      async () => (await pool.query('select 1 from subject where ring_seq > applied_seq limit 1')).rowCount === 0,
      'every outcome applied',
      900_000,
    );
  const [memory, lags]: [number[], number[]] = [[], []];
  let [cpu, outcomes] = [0, 0];
  for (let pass = 0; pass < PASSES; pass += 1) {
    const before = cpuSecondsOf(temporal);
    for (let from = 0; from < TOOLS; from += 500) {
      // One call in ten fails; a tool has seen at most one failure by the end, so none is held.
      await Promise.all(
        Array.from({ length: 500 }, (_, i) => {
          const fails = (from + i) % (10 * PASSES) === pass * 10;
          return gate.report({ tool: `scale-${from + i}`, ...(fails ? failure : { success: true }) });
        }),
      );
      outcomes += 500;
    }
    const begin = performance.now();
    await applied();
    lags.push(performance.now() - begin);
    cpu += cpuSecondsOf(temporal) - before;
    memory.push(rssOf(worker) / 1e6);
  }
  await gate.close();
  await pool.end();
  const [first = NaN, last = NaN] = [memory[1], memory.at(-1)];
  return [
    row(`worker memory after ${PASSES} passes / after 2, ${TOOLS} tools`, 'MB', [last], [first], { atMost: 1.2 }),
    row('Temporal CPU per 1,000 outcomes', 's', [(cpu / outcomes) * 1000]),
    row('projection lag after a burst, p50', 'ms', [percentile(lags, 0.5)]),
  ];
}

function pidOf(words: string, home: string): number {
  const lines = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
  const isOurs = (line: string) =>
    words === 'up'
      ? line.includes('main.js up') && environmentOf(line).includes(home)
      : line.includes(words) && line.includes(home);
  const found = lines.find(isOurs);
  if (found === undefined) throw new Error(`no process of ${home}: ${words}`);
  return Number(found.trim().split(/\s+/)[0]);
}

function environmentOf(line: string): string {
  return readFileSync(`/proc/${Number(line.trim().split(/\s+/)[0])}/environ`, 'utf8');
}

function rssOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

/** User and system time; a tick is a hundredth of a second. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
