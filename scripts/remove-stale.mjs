import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** What the build makes of many sources, or of itself. */
const MADE = [
  /^tsconfig\.tsbuildinfo$/,
  /^workflow-bundle\.js$/,
  /^console\/(main|theme)\.(js|css)$/,
  /^src\/cli\/bundled\//,
];

/**
 * Removes from `dist` whatever no source stands for any more: a migration that was renamed would be run under both names.
 * File by file and not all at once, because something may be running from there, and because tsc writes only what changed.
 */
export async function removeStale(root) {
  const dist = join(root, 'dist');
  const found = await readdir(dist, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  const stale = files.map((file) => relative(dist, file)).filter((file) => !isMade(root, file));
  await Promise.all(stale.map((file) => rm(join(dist, file))));
  return stale.toSorted();
}

function isMade(root, file) {
  if (MADE.some((made) => made.test(file))) return true;
  if (file.startsWith('console/')) return existsSync(join(root, 'src', file));
  const [, name, compiled] = /^(.*?)(\.d\.ts|\.js|\.js\.map)?$/.exec(file);
  return existsSync(join(root, compiled === undefined ? file : `${name}.ts`));
}
