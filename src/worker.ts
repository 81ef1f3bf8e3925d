// A worker alone, for servers that run elsewhere: DATABASE_URL and TEMPORAL_ADDRESS say where.
import { loadConfig } from './config.ts';
import { prepare } from './prepare.ts';
import { Problem } from './problem.ts';
import { connectTemporal, targetFromEnvironment } from './temporal/connection.ts';
import { prepareNamespace } from './temporal/namespace.ts';
import { quietRuntime, startWorker } from './temporal/start-worker.ts';

const say = (message: string) => process.stderr.write(`${new Date().toISOString()} ${message}\n`);

async function main(): Promise<void> {
  const config = loadConfig();
  const { databaseUrl, taskQueue } = config;
  if (databaseUrl === undefined) {
    throw new Problem('DATABASE_URL is not set.', 'Set it, or run `surety up`, which brings a database of its own.');
  }
  const temporal = targetFromEnvironment(config.temporal.env);
  quietRuntime(say);
  const connection = await connectTemporal(temporal);
  const notes = await prepareNamespace(connection, temporal, false).finally(() => connection.close());
  for (const note of [...notes, ...(await prepare(databaseUrl, temporal, false))]) say(note);
  const worker = await startWorker({ databaseUrl, temporal, taskQueue, publicUrl: config.publicUrl, log: say });
  say(`worker runs on ${temporal.address}, namespace ${temporal.namespace}, task queue ${taskQueue}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void worker.stop());
  await worker.ended;
  say('worker stopped');
}

main().catch((error: unknown) => {
  say(error instanceof Problem ? `${error.message}\n${error.wayOut}` : String(error));
  process.exitCode = 1;
});
