import type { Config } from './config.ts';
import { prepare } from './prepare.ts';
import { reasonOf } from './problem.ts';
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
    onChildExit = onTrouble,
  }: {
    progress: (message: string) => void;
    adopt: boolean;
    onTrouble: (message: string) => void;
    /** Told when a server has ended although nobody stopped it, with what it wrote last. */
    onChildExit?: (message: string) => void;
  },
): Promise<Up> {
  const stack = await startStack(config, {
    progress,
    onChildExit: (name, how, lines) => onChildExit(`${name} ended (${how})\n${lines.join('\n')}`),
  });
  try {
    const { databaseUrl, temporal } = stack;
    const notes = await prepare(databaseUrl, temporal, adopt);
    // Only now: once installed, the SDK's runtime keeps the process alive until a worker has run and ended.
    quietRuntime(onTrouble);
    const worker = await startWorker({ databaseUrl, temporal, taskQueue: config.taskQueue, log: onTrouble });
    const stop = async () => {
      // A worker whose server is gone may fail to stop; what we started is stopped all the same.
      await worker.stop().catch((error: unknown) => onTrouble(`the worker did not stop cleanly: ${reasonOf(error)}`));
      await stack.stop();
    };
    return { stack, notes: [...stack.notes, ...notes], ended: worker.ended, stop };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}
