// The part of the build that tsc does not do: SQL files, and the one bundle of workflow code that workers load.
import { chmod, cp, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

await cp(at('src/postgres/migrations'), at('dist/src/postgres/migrations'), { recursive: true });
await chmod(at('dist/src/cli/main.js'), 0o755);
const quiet = { trace() {}, debug() {}, info() {}, log() {}, warn: console.warn, error: console.error };
const { code } = await bundleWorkflowCode({
  workflowsPath: at('dist/workflows/index.js'),
  payloadConverterPath: at('dist/workflows/total-converter.js'),
  logger: quiet,
});
await writeFile(at('dist/workflow-bundle.js'), code);
