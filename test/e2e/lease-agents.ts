import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CallOrder, Said } from './programs/prober.ts';

export type Ended = Extract<Said, { because: string }>;

/** One call of an agent in another process. */
export interface AgentCall {
  /** When the tool runs, with the agents whose tools ran at that moment. Never, where the gate holds the call. */
  readonly started: Promise<readonly string[]>;
  readonly ended: Promise<Ended>;
}

export interface Agent {
  readonly name: string;
  call(order: Omit<CallOrder, 'id'>): AgentCall;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  kill(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('programs/prober.ts', import.meta.url));
const LOADER = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** How an agent speaks with the ledger: itself, or through a server. */
export type Access = { readonly DATABASE_URL: string } | { readonly SURETY_URL: string; readonly SURETY_TOKEN: string };

/** Agents in processes of their own, all with the same tools. */
export async function createAgents() {
  const running = await mkdtemp(join(tmpdir(), 'surety-running-'));
  const processes: ChildProcess[] = [];

  async function start(name: string, access: Access): Promise<Agent> {
    const env = { PATH: process.env['PATH'] ?? '', AGENT: name, RUNNING: running, ...access };
    const child = fork(PROGRAM, { execArgv: ['--import', LOADER], env });
    processes.push(child);
    const calls = new Map<number, { started: (beside: readonly string[]) => void; ended: (ended: Ended) => void }>();
    let number = 0;
    await new Promise<void>((ready, failed) => {
      child.once('exit', () => failed(new Error(`agent ${name} ended before it was ready`)));
      child.on('message', (said: Said) => {
        if ('ready' in said) ready();
        else if (said.event === 'started') calls.get(said.id)?.started(said.beside);
        else calls.get(said.id)?.ended(said);
      });
    });
    return {
      name,
      call(order) {
        const id = (number += 1);
        let begun: (beside: readonly string[]) => void = () => undefined;
        let done: (ended: Ended) => void = () => undefined;
        const started = new Promise<readonly string[]>((resolve) => (begun = resolve));
        const ended = new Promise<Ended>((resolve) => (done = resolve));
        calls.set(id, { started: begun, ended: done });
        child.send({ ...order, id } satisfies CallOrder);
        return { started, ended };
      },
      signal: (signal) => void child.kill(signal),
      async kill() {
        child.kill('SIGKILL');
        await new Promise((gone) => child.once('exit', gone));
        await rm(join(running, name), { force: true });
      },
    };
  }

  return {
    start,
    close: async () => {
      // A stopped process hears nothing else.
      for (const child of processes) child.kill('SIGKILL');
      await rm(running, { recursive: true, force: true });
    },
  };
}

export type Agents = Awaited<ReturnType<typeof createAgents>>;
