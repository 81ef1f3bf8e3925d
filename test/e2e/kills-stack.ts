import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openHome } from '../../src/home.ts';
import type { Home } from '../../src/home.ts';
import { startPostgres } from '../../src/postgres/embedded.ts';
import { startChild, waitUntilReady } from '../../src/stack/child.ts';
import type { Child } from '../../src/stack/child.ts';
import { findProcess } from '../../src/stack/process.ts';
import { startGuard } from '../../src/stack/start-guard.ts';
import { findTemporal } from '../../src/temporal/binary.ts';
import { localTarget } from '../../src/temporal/connection.ts';
import type { TemporalTarget } from '../../src/temporal/connection.ts';
import { startDevServer } from '../../src/temporal/dev-server.ts';
import { freePort } from '../support/free-port.ts';

export const VICTIMS = ['worker', 'Temporal', 'Postgres'] as const;
export type Victim = (typeof VICTIMS)[number];
/** What can be killed where agents speak HTTP. */
export const PARTS = [...VICTIMS, 'server'] as const;
export type Part = (typeof PARTS)[number];

/** Postgres, Temporal and a worker on data of their own, each a process that can be killed and started again alone. */
export interface KillableStack {
  readonly home: Home;
  readonly postgresPort: number;
  readonly temporal: TemporalTarget;
  databaseUrl(): string;
  /** Where the server offers the API, once it was started. */
  readonly httpUrl: string;
  start(part: Part): Promise<void>;
  /** SIGKILL. Of Postgres either the postmaster alone, whose backends may still finish, or all its processes at once. */
  kill(part: Part, howMuch?: 'whole' | 'head'): Promise<void>;
  /** A program of ours beside them, ended with the stack at the latest. */
  run(name: string, program: string, env: Record<string, string>): Promise<Child>;
  killProgram(program: Child): Promise<void>;
  /** Lets it end by itself, and insists that it does so in order. */
  stopProgram(program: Child): Promise<void>;
  /** What ended although nobody killed it. */
  readonly surprises: readonly string[];
  stop(): Promise<void>;
}

const LOADER = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const WORKER = fileURLToPath(new URL('../../dist/src/worker.js', import.meta.url));
const CLI = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
const STOP = [
  { signal: 'SIGTERM', waitMs: 8000 },
  { signal: 'SIGKILL', waitMs: 2000 },
] as const;

export async function createKillableStack(): Promise<KillableStack> {
  const home = await openHome(await mkdtemp(join(tmpdir(), 'surety-kills-')));
  const [postgresPort, temporalPort, uiPort] = [await freePort(), await freePort(), await freePort()];
  const httpPort = await freePort();
  const searchPath = (process.env['PATH'] ?? '').split(':');
  const binary = await findTemporal({ searchPath, cache: resolve('.surety/cache') }, () => undefined);
  const temporal = localTarget(temporalPort, {});
  const guard = startGuard();
  const running = new Map<string, Child>();
  const expected = new Set<Child>();
  const surprises: string[] = [];
  let url = '';

  const onSpawn = (child: Child): void => {
    running.set(child.name, child);
    guard.watch(child);
    void child.exited.then(async (how) => {
      guard.forget(child);
      if (!expected.has(child))
        surprises.push(`${child.name} ended by itself (${how})\n${(await child.lastLogLines()).join('\n')}`);
    });
  };
  const run = async (name: string, args: readonly string[], env: Record<string, string>): Promise<Child> => {
    const child = await startChild({
      name,
      command: process.execPath,
      args,
      env: { PATH: process.env['PATH'] ?? '', ...env },
      logFile: join(home.logs, `${name}.log`),
      stop: STOP,
    });
    onSpawn(child);
    return child;
  };
  const starts: Record<Part, () => Promise<void>> = {
    Postgres: async () => {
      ({ url } = await startPostgres({ home, port: postgresPort, progress: () => undefined, onSpawn }));
    },
    Temporal: async () => {
      const ports = { temporal: temporalPort, ui: uiPort };
      await startDevServer({ home, binary, ports, namespace: temporal.namespace, onSpawn });
    },
    worker: async () => {
      const child = await run('worker', [WORKER], { DATABASE_URL: url, TEMPORAL_ADDRESS: temporal.address });
      const runs = async () => (await child.lastLogLines()).some((line) => line.includes('worker runs on'));
      await waitUntilReady(child, runs, 30_000);
    },
    server: async () => {
      const own = { DATABASE_URL: url, SURETY_HTTP_PORT: String(httpPort), SURETY_HOME: home.root };
      const child = await run('server', [CLI, 'serve'], own);
      const serves = async () => (await child.lastLogLines()).some((line) => line.includes('The console is at'));
      await waitUntilReady(child, serves, 30_000);
    },
  };
  return {
    home,
    postgresPort,
    temporal,
    surprises,
    databaseUrl: () => url,
    httpUrl: `http://127.0.0.1:${httpPort}`,
    start: (victim) => starts[victim](),
    kill: async (victim, howMuch = 'whole') => {
      const child = running.get(victim);
      if (child === undefined) throw new Error(`${victim} was never started`);
      expected.add(child);
      const backends = victim === 'Postgres' ? childrenOf(child.process.pid) : [];
      killIfThere(child.process.pid);
      if (howMuch === 'whole') for (const pid of backends) killIfThere(pid);
      await child.exited;
      // A backend finishes its statement before it notices; until then no other server may touch the data.
      while (backends.some((pid) => findProcess(pid) !== undefined)) await sleep(5);
    },
    run: (name, program, env) => {
      const path = fileURLToPath(new URL(`programs/${program}`, import.meta.url));
      return run(name, program.endsWith('.ts') ? ['--import', LOADER, path] : [path], env);
    },
    killProgram: async (program) => {
      expected.add(program);
      process.kill(program.process.pid, 'SIGKILL');
      await program.exited;
    },
    stopProgram: async (program) => {
      expected.add(program);
      process.kill(program.process.pid, 'SIGTERM');
      const how = await program.exited;
      if (how !== 'exit code 0')
        surprises.push(`${program.name}: ${how}\n${(await program.lastLogLines()).join('\n')}`);
    },
    stop: async () => {
      for (const child of running.values()) expected.add(child);
      const { worker, Temporal, Postgres, ...others } = Object.fromEntries(running);
      await Promise.all(Object.values(others).map((child) => child.stop()));
      for (const child of [worker, Temporal, Postgres]) await child?.stop();
      await guard.close();
      await rm(home.root, { recursive: true, force: true });
    },
  };
}

function childrenOf(parent: number): number[] {
  if (!existsSync('/proc/self/stat')) {
    return execFileSync('ps', ['-axo', 'pid=,ppid='], { encoding: 'utf8' })
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number))
      .flatMap(([pid, ppid]) => (pid !== undefined && ppid === parent ? [pid] : []));
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined; // It ended meanwhile.
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already: a backend that noticed the end of its parent, or a surprise.
  }
}
