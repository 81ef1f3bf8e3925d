import { Problem } from './problem.ts';
import type { Config } from './config.ts';
import { claimInstallation } from './installation.ts';
import { createPartitions } from './postgres/partitions.ts';
import { migrate } from './postgres/migrate.ts';
import { createPool } from './postgres/pool.ts';
import { startStack } from './stack/stack.ts';
import type { Stack } from './stack/stack.ts';
import { connectTemporal } from './temporal/connection.ts';
import { quietRuntime, startWorker } from './worker.ts';

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
    const notes = await prepare(stack, adopt);
    const { databaseUrl, temporal } = stack;
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

async function prepare({ databaseUrl, temporal }: Stack, adopt: boolean): Promise<string[]> {
  const pool = createPool(databaseUrl, { max: 2, name: 'surety up' });
  const connection = await connectTemporal(temporal);
  try {
    await migrate(pool);
    await createPartitions(pool, Date.now());
    return await claimInstallation(pool, connection, temporal, { adopt });
  } finally {
    await connection.close();
    await pool.end();
  }
}
