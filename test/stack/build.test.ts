import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeStale } from '../../scripts/remove-stale.mjs';

const SOURCES = [
  'src/a.ts',
  'src/postgres/migrations/0001-new-name.sql',
  'src/console/index.html',
  'workflows/index.ts',
];
const BUILT = [
  'dist/console/index.html',
  'dist/console/main.js',
  'dist/src/a.d.ts',
  'dist/src/a.js',
  'dist/src/a.js.map',
  'dist/src/postgres/migrations/0001-new-name.sql',
  'dist/tsconfig.tsbuildinfo',
  'dist/workflow-bundle.js',
  'dist/workflows/index.js',
];
const LEFT_BEHIND = [
  'dist/console/old.html',
  'dist/src/gone.js',
  'dist/src/gone/deep.d.ts',
  'dist/src/postgres/migrations/0001-old-name.sql',
];

test('a build keeps nothing whose source is gone, and everything else', async () => {
  const root = await mkdtemp(join(tmpdir(), 'surety-build-'));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const file of [...SOURCES, ...BUILT, ...LEFT_BEHIND]) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), '');
  }
  expect(await removeStale(root)).toEqual(LEFT_BEHIND.map((file) => file.slice('dist/'.length)));
  const left = await readdir(join(root, 'dist'), { recursive: true, withFileTypes: true });
  expect(
    left
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .toSorted(),
  ).toEqual(BUILT.map((file) => join(root, file)));
});
