import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { CalledPath } from '../domain/execution/authorisation.ts';
import { checkPath } from './files/check.ts';
import type { FileSandbox } from './files/sandbox.ts';

/** Devices that are no files: reading them tells nothing, writing them changes nothing. */
const HARMLESS = /^\/dev\/(?:null|zero|full|u?random|stdin|stdout|stderr|tty|fd\/\d+)$/;

export interface TouchedPath extends CalledPath {
  /** Why it may not be touched; undefined where it may. */
  readonly refusal: string | undefined;
}

/**
 * Where the paths of a call really lead, and whether they may be touched. By the same walk that the file tools take; what
 * changes between this and the run only a sandbox stops.
 */
export async function touchedPaths(files: FileSandbox, paths: readonly CalledPath[]): Promise<readonly TouchedPath[]> {
  return Promise.all(
    paths
      .filter(({ path }) => !HARMLESS.test(path))
      .map(async ({ path: given, access, known }) => {
        const path = known ? resolve(files.base, given.replace(/^~(?=\/|$)/, homedir())) : given;
        if (!known) return { path, access, known, refusal: undefined };
        const found = await checkPath(files, access, beforeGlob(path));
        const refusal = found.verdict === 'deny' ? `${found.because} (${found.rule})` : undefined;
        return { path: found.path ?? path, access, known, refusal };
      }),
  );
}

/** `src/*.ts` is about `src`: which names match is not known before it runs. */
function beforeGlob(path: string): string {
  const at = path.search(/[*?[{]/);
  return at === -1 ? path : path.slice(0, path.lastIndexOf('/', at) + 1) || '.';
}
