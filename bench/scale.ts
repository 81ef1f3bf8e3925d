import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'surety';
import { createPool } from '../src/postgres/pool.ts';
import { parseRules } from '../src/domain/rules/parse-rules.ts';
import { publishRules } from '../src/postgres/rules.ts';
import { row } from './measure.ts';
import type { Row } from './measure.ts';
import { untilApplied } from './stack.ts';
import type { BenchStack } from './stack.ts';

const TOOLS = 10_000;
const PASSES = 10;
const AT_ONCE = 500;
const PAUSE_MS = 300;

/** Ten thousand tools, each used now and then: what the worker holds, what Temporal burns, and who lags behind. */
export async function scale(stack: BenchStack): Promise<readonly Row[]> {
  const pool = createPool(stack.databaseUrl, { max: 2 });
  // The same tools fail again and again, and that is how they are: none is held, and none is new after the first pass.
  await publishRules(pool, parseRules({ defaultRule: { rateThreshold: 0.9, minSamples: 1000 } }), 'bench');
  const gate = await connect({ databaseUrl: stack.databaseUrl });
  const failure = { success: false, error: { message: 'upstream exploded', status: 500 } };
  const worker = pidOf('up', stack.home);
  const temporal = pidOf('server start-dev', stack.home);
  const [memory, lags]: [number[], number[]] = [[], []];
  let [cpu, outcomes] = [0, 0];
  for (let pass = 0; pass < PASSES; pass += 1) {
    const before = cpuSecondsOf(temporal);
    for (let from = 0; from < TOOLS; from += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, i) => {
          const fails = (from + i) % 40 === 0;
          return gate.report({ tool: `scale-${from + i}`, ...(fails ? failure : { success: true }) });
        }),
      );
      outcomes += AT_ONCE;
      const acknowledged = performance.now();
      await untilApplied(pool, 900_000);
      lags.push(performance.now() - acknowledged);
      await sleep(PAUSE_MS);
    }
    cpu += cpuSecondsOf(temporal) - before;
    memory.push(rssOf(worker) / 1e6);
  }
  await gate.close();
  await pool.end();
  const half = PASSES / 2;
  return [
    row(`worker memory, later passes / first ones, ${TOOLS} tools`, 'MB', memory.slice(half), memory.slice(0, half), {
      atMost: 1.2,
    }),
    row('Temporal CPU per 1,000 outcomes', 's', [(cpu / outcomes) * 1000]),
    row(
      'acknowledged → judged, a trickle, later passes / first ones',
      'ms',
      lags.slice(lags.length / 2),
      lags.slice(TOOLS / AT_ONCE, lags.length / 2),
      { atMost: 1.5 },
    ),
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
