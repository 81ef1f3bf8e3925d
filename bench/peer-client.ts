import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import type { BenchStack } from './stack.ts';

/** The trivial workflow and everything it takes to signal it. */
export interface Peer {
  readonly client: Client;
  start(id: string): Promise<WorkflowHandle>;
  stop(): Promise<void>;
}

export async function startPeer({ temporalAddress, namespace }: BenchStack): Promise<Peer> {
  const program = fileURLToPath(new URL('./peer-worker.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', program, temporalAddress, namespace], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((done, failed) => {
    child.stdout.once('data', () => done());
    child.once('exit', (code) => failed(new Error(`the peer's worker ended with ${code ?? 'a signal'}`)));
  });
  const connection = await Connection.connect({ address: temporalAddress });
  const client = new Client({ connection, namespace });
  return {
    client,
    start: (id) => client.workflow.start('counter', { taskQueue: 'bench-peer', workflowId: id }),
    stop: async () => {
      child.kill('SIGTERM');
      await new Promise((done) => child.once('exit', done));
      await connection.close();
    },
  };
}

/** Signals per second to one workflow, 50 on their way at a time. */
export async function signalsPerSecond(handle: WorkflowHandle, count: number): Promise<number> {
  const begin = performance.now();
  let next = 0;
  const send = async () => {
    for (let mine = next++; mine < count; mine = next++) await handle.signal('poke', { at: mine });
  };
  await Promise.all(Array.from({ length: 50 }, send));
  return count / ((performance.now() - begin) / 1000);
}
