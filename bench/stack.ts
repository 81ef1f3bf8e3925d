import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { freePort } from '../test/support/free-port.ts';

/** What `npm start` runs, on a data directory of its own. */
export interface BenchStack {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly home: string;
  /** From the command to the line that says it is ready. */
  readonly readyMs: number;
  /** The environment in which the command line finds it. */
  readonly env: NodeJS.ProcessEnv;
  /** Ends the process that holds the worker, and starts all of it again on the same data. */
  restart(command?: Command): Promise<BenchStack>;
  stop(): Promise<void>;
}

interface Command {
  readonly words: readonly string[];
  readonly cwd?: string;
}

const UP = [process.execPath, resolve('dist/src/cli/main.js'), 'up'];

export async function startStack(): Promise<BenchStack> {
  const home = await mkdtemp(join(tmpdir(), 'surety-bench-'));
  const [temporal, ui, postgres, http] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  const env = {
    ...process.env,
    SURETY_HOME: home,
    SURETY_CACHE: resolve('.surety', 'cache'),
    SURETY_TEMPORAL_PORT: String(temporal),
    SURETY_UI_PORT: String(ui),
    SURETY_POSTGRES_PORT: String(postgres),
    SURETY_HTTP_PORT: String(http),
  };
  return bringUp(home, env);
}

async function bringUp(
  home: string,
  env: NodeJS.ProcessEnv,
  { words, cwd }: Command = { words: UP, cwd: home },
): Promise<BenchStack> {
  const start = performance.now();
  const [program = '', ...rest] = words;
  const child = spawn(program, rest, { env, cwd, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  await untilSays(child, 'Ctrl-C stops everything');
  const readyMs = performance.now() - start;
  const stack = JSON.parse(await readFile(join(home, 'stack.json'), 'utf8')) as {
    databaseUrl: string;
    temporalAddress: string;
    namespace: string;
  };
  const end = async () => {
    // As Ctrl-C on a terminal does it: npm passes on to its shell what it is sent, and no further.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGINT');
    if (child.exitCode === null) await new Promise((done) => child.once('exit', done));
  };
  return {
    ...stack,
    ...{ home, readyMs, env },
    restart: async (next) => {
      await end();
      return bringUp(home, env, next);
    },
    stop: async () => {
      await end();
      await rm(home, { recursive: true, force: true });
    },
  };
}

function untilSays(child: ChildProcess, words: string): Promise<void> {
  return new Promise((done, failed) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes(words)) done();
    });
    child.once('exit', (code) => failed(new Error(`surety up ended with ${code ?? 'a signal'}:\n${said}`)));
  });
}

/** Asks until it is so. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string, withinMs = 120_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(5);
  }
}

/** Until the workflows have judged everything that was reported. */
export async function untilApplied(pool: pg.Pool, withinMs?: number): Promise<void> {
  const isApplied = async () => {
    const found = await pool.query('select 1 from subject where ring_seq > applied_seq limit 1');
    return found.rowCount === 0;
  };
  await until(isApplied, 'every outcome applied', withinMs);
}
