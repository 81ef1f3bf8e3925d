import { existsSync } from 'node:fs';

/** Code is run from source, as it was compiled, or in a bundle: only package.json lies above all of them. */
const ROOT = rootAbove(new URL('./', import.meta.url));

function rootAbove(directory: URL): URL {
  if (existsSync(new URL('package.json', directory))) return directory;
  const parent = new URL('../', directory);
  if (parent.href === directory.href) throw new Error(`there is no package.json above ${import.meta.url}`);
  return rootAbove(parent);
}

export const isSource = import.meta.url.endsWith('.ts');

export function packageFile(path: string): URL {
  return new URL(path, ROOT);
}

/** A file that lies beside our code and goes where that goes. */
export function codeFile(path: string): URL {
  return packageFile(isSource ? path : `dist/${path}`);
}

/** A file that only the build makes: workers and threads load these, also when run from source. */
export function builtFile(path: string): URL {
  const file = packageFile(`dist/${path}`);
  if (!existsSync(file)) throw new Error(`${path} has not been built: run \`npm run build\``);
  return file;
}
