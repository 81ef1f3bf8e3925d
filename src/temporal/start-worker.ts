import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import { createActivities } from '../../activities/index.ts';
import { createPool } from '../postgres/pool.ts';
import type { TemporalTarget } from './connection.ts';
import { connectWorker } from './native-connection.ts';
import { startUpkeep } from '../upkeep/upkeep.ts';

export interface WorkerOptions {
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  readonly taskQueue: string;
  readonly log: (message: string) => void;
}

export interface RunningWorker {
  /** Settles when the worker ends, by `stop` or by a failure. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** Runs the workflows, their activities, and the upkeep of the ledger, until stopped. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { databaseUrl, temporal, taskQueue, log } = options;
  const pool = createPool(databaseUrl, { max: 20, name: 'surety worker' });
  const connection = await connectWorker(temporal);
  const worker = await Worker.create({
    connection,
    namespace: temporal.namespace,
    taskQueue,
    activities: createActivities(pool),
    workflowBundle: { codePath: built('workflow-bundle.js') },
    dataConverter: { payloadConverterPath: built('workflows/total-converter.js') },
    maxCachedWorkflows: 2000,
    maxConcurrentWorkflowTaskExecutions: 16,
    shutdownGraceTime: '5 seconds',
    shutdownForceTime: '10 seconds',
  });
  const client = new Client({ connection, namespace: temporal.namespace });
  const upkeep = startUpkeep({ pool, databaseUrl, client, taskQueue, log });
  const ended = worker.run().finally(async () => {
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
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
    },
  };
}

/** Once per process, before anything else of the SDK: its own signal handling would stop things out of order. */
export function quietRuntime(log: (message: string) => void): void {
  Runtime.install({
    shutdownSignals: [],
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      const workflow = typeof meta?.['workflowId'] === 'string' ? `${meta['workflowId']}: ` : '';
      log(`${level.toLowerCase()}: ${workflow}${message}`);
    }),
    telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) } },
  });
}

/** Workers load what was built: bundling at start would cost seconds, and could differ from what was tested. */
function built(path: string): string {
  const root = new URL('../../', import.meta.url);
  for (const file of [new URL(path, root), new URL(`dist/${path}`, root)]) {
    if (existsSync(file)) return fileURLToPath(file);
  }
  throw new Error(`${path} has not been built: run \`npm run build\``);
}
