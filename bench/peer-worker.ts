// A worker for the trivial workflow, in a process of its own as Surety's worker is.
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

const [address = '', namespace = ''] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger('ERROR') });
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('./peer.ts', import.meta.url)),
  logger: new DefaultLogger('ERROR'),
});
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({ connection, namespace, taskQueue: 'bench-peer', workflowBundle });
process.once('SIGTERM', () => worker.shutdown());
console.log('ready');
await worker.run();
await connection.close();
