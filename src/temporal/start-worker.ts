import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import { createActivities, createDeliveries } from '../../activities/index.ts';
import { builtFile } from '../package-files.ts';
import { createPool } from '../postgres/pool.ts';
import type { TemporalTarget } from './connection.ts';
import { connectWorker } from './native-connection.ts';
import { startUpkeep } from '../upkeep/upkeep.ts';

export interface WorkerOptions {
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  readonly taskQueue: string;
  /** Where people find the console, for the links that webhooks carry. */
  readonly publicUrl: string;
  readonly log: (message: string) => void;
}

export interface RunningWorker {
  /** Settles when the worker ends, by `stop` or by a failure. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Runs the workflows, their activities, and the upkeep of the ledger, until stopped. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { databaseUrl, temporal, taskQueue, publicUrl, log } = options;
  const pool = createPool(databaseUrl, { max: 20, name: 'surety worker' });
  const connection = await connectWorker(temporal);
  const shared = {
    connection,
    namespace: temporal.namespace,
    dataConverter: { payloadConverterPath: fileURLToPath(builtFile('workflows/total-converter.js')) },
    shutdownGraceTime: '5 seconds',
    shutdownForceTime: '10 seconds',
  } as const;
  const worker = await Worker.create({
    ...shared,
    taskQueue,
    activities: createActivities(pool),
    workflowBundle: { codePath: fileURLToPath(builtFile('workflow-bundle.js')) },
    maxCachedWorkflows: 2000,
    maxConcurrentWorkflowTaskExecutions: 16,
  });
  const deliverer = await Worker.create({
    ...shared,
    taskQueue: `${taskQueue}-webhooks`,
    activities: createDeliveries({ pool, publicUrl }),
    maxConcurrentActivityTaskExecutions: 50,
    // Whoever has not answered by then is told again by the next worker.
    shutdownGraceTime: '1 second',
  });
  const client = new Client({ connection, namespace: temporal.namespace });
  const upkeep = startUpkeep({ pool, databaseUrl, client, taskQueue, log });
  const ended = runTogether([worker, deliverer]).finally(async () => {
    await upkeep.stop();
    await connection.close();
    await pool.end();
  });
  // Whoever stops the worker waits for it; a failure before that is reported by `ended` itself.
  ended.catch(() => undefined);
  return {
    ended,
    stop: async () => {
      await upkeep.stop();
      shutDown([worker, deliverer]);
      await ended;
    },
  };
}

/** Until all have ended; one that fails takes the others with it. */
async function runTogether(workers: readonly Worker[]): Promise<void> {
  const runs = workers.map((worker) => worker.run().finally(() => shutDown(workers)));
  await Promise.allSettled(runs);
  await Promise.all(runs);
}

function shutDown(workers: readonly Worker[]): void {
  for (const worker of workers) {
    if (worker.getState() === 'RUNNING') worker.shutdown();
  }
}

/** Once per process, before anything else of the SDK: its own signal handling would stop things out of order. */
export function quietRuntime(log: (message: string) => void): void {
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      // One of ours has none, and that is as it should be.
      if (message.startsWith('No workflows registered')) return;
      const workflow = typeof meta?.['workflowId'] === 'string' ? `${meta['workflowId']}: ` : '';
      log(`${level.toLowerCase()}: ${workflow}${message}`);
    }),
    telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) } },
  });
}
