// The part of the build that tsc does not do: SQL files, the command line in few files, the console, and the one bundle of workflow code that workers load.
import { cp, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';
import { build } from 'esbuild';
import { bundleCli } from './bundle-cli.mjs';
import { removeStale } from './remove-stale.mjs';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

await removeStale(at('.'));
await cp(at('src/postgres/migrations'), at('dist/src/postgres/migrations'), { recursive: true });
await bundleCli(at('.'));
await build({
  entryPoints: ['main.tsx', 'theme.ts', 'main.css'].map((file) => at(`src/console/${file}`)),
  outdir: at('dist/console'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
});
for (const file of ['index.html', 'icon.svg']) await cp(at(`src/console/${file}`), at(`dist/console/${file}`));
const quiet = { trace() {}, debug() {}, info() {}, log() {}, warn: console.warn, error: console.error };
const { code } = await bundleWorkflowCode({
  workflowsPath: at('dist/workflows/index.js'),
  payloadConverterPath: at('dist/workflows/total-converter.js'),
  logger: quiet,
});
await writeFile(at('dist/workflow-bundle.js'), code);
