import type { Config } from './config.ts';
import { prepare } from './prepare.ts';
import { startStack } from './stack/stack.ts';
import type { Stack } from './stack/stack.ts';
import { quietRuntime, startWorker } from './temporal/start-worker.ts';

export interface Up {
  readonly stack: Stack;
  readonly notes: readonly string[];
  /** Settles when the worker ends. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Everything in one process tree: Postgres, Temporal, the schema, the worker. */
export async function bringUp(
  config: Config,
  {
    progress,
    adopt,
    onTrouble,
  }: { progress: (message: string) => void; adopt: boolean; onTrouble: (message: string) => void },
): Promise<Up> {
  quietRuntime(onTrouble);
  const stack = await startStack(config, {
    progress,
    onChildExit: (name, how, lines) => onTrouble(`${name} ended (${how})\n${lines.join('\n')}`),
  });
  try {
    const { databaseUrl, temporal } = stack;
    const notes = await prepare(databaseUrl, temporal, adopt);
    const worker = await startWorker({ databaseUrl, temporal, taskQueue: config.taskQueue, log: onTrouble });
    const stop = async () => {
      await worker.stop();
      await stack.stop();
    };
    return { stack, notes: [...stack.notes, ...notes], ended: worker.ended, stop };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}
