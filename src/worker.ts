import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { DefaultLogger, makeTelemetryFilterString, Runtime, Worker } from '@temporalio/worker';
import type { WorkflowBundle } from '@temporalio/worker';
import { createActivities } from '../activities/index.ts';
import { createPool } from './postgres/pool.ts';
import type { TemporalTarget } from './temporal/connection.ts';
import { connectWorker } from './temporal/native-connection.ts';
import { startUpkeep } from './upkeep/upkeep.ts';

export interface WorkerOptions {
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  readonly taskQueue: string;
  readonly log: (message: string) => void;
  /** Workflow code that was bundled already; the build's own bundle otherwise. */
  readonly bundle?: WorkflowBundle | { readonly codePath: string };
}

export interface RunningWorker {
  /** Settles when the worker ends, by `stop` or by a failure. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

const BUNDLE = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));

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
    workflowBundle: options.bundle ?? { codePath: builtBundle() },
    dataConverter: { payloadConverterPath: converterPath() },
    maxCachedWorkflows: 2000,
    maxConcurrentWorkflowTaskExecutions: 40,
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
    logger: new DefaultLogger('WARN', ({ level, message }) => log(`${level.toLowerCase()}: ${message}`)),
    telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) } },
  });
}

/** Workers load one prebuilt bundle: building it at start would cost seconds, and could differ from what was tested. */
function builtBundle(): string {
  if (existsSync(BUNDLE)) return BUNDLE;
  throw new Error(`there is no ${BUNDLE}: run \`npm run build\``);
}

function converterPath(): string {
  const built = new URL('../workflows/total-converter.js', import.meta.url);
  return fileURLToPath(existsSync(built) ? built : new URL('../workflows/total-converter.ts', import.meta.url));
}
