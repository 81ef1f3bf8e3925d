// Exit 0 if the worker in this container polls the task queue (first argument), by the word of the server that gives it
// work: a process that runs but no longer polls is not healthy. Its identity must contain the host name, as the SDK's does.
import { hostname } from 'node:os';
import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';

const WORKFLOW_QUEUE = 1;
// A poll is renewed after a minute at most; the server remembers the last one for five.
const SILENT_AFTER_MS = 90_000;

const [, , queue = 'surety'] = process.argv;
const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
const connection = await Connection.connect({ ...connectionOptions, connectTimeout: 5_000 });
const { pollers } = await connection.workflowService.describeTaskQueue({
  namespace,
  taskQueue: { name: queue },
  taskQueueType: WORKFLOW_QUEUE,
});
await connection.close();

const polls = pollers.some(
  ({ identity, lastAccessTime }) =>
    identity.includes(hostname()) && Date.now() - Number(lastAccessTime.seconds) * 1000 < SILENT_AFTER_MS,
);
if (!polls) {
  process.stderr.write(`No worker of ${hostname()} polls task queue ${queue} in namespace ${namespace}.\n`);
  process.exitCode = 1;
}
