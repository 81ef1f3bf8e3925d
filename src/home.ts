import { access, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem, codeOf, reasonOf } from './problem.ts';

/** Where things lie inside the data directory. */
export interface Home {
  readonly root: string;
  /** Programs we had to download. */
  readonly bin: string;
  /** The Temporal dev server's SQLite file; its `-wal` file beside it is part of it. */
  readonly temporalDatabase: string;
  /** Holds the Postgres cluster and its password. Belongs to whoever Postgres runs as. */
  readonly postgres: string;
  readonly logs: string;
  /** The record of tool calls. */
  readonly audit: string;
  /** Programs that refuse, in the names of those that are blocked. */
  readonly refusing: string;
  /** One file for each process that holds, or contends for, this directory. */
  readonly locks: string;
  /** How to reach the running stack. */
  readonly stackFile: string;
  /** The first admin token, readable by its owner alone. */
  readonly adminToken: string;
}

export function homeAt(root: string): Home {
  return {
    root,
    bin: join(root, 'bin'),
    temporalDatabase: join(root, 'temporal.db'),
    postgres: join(root, 'postgres'),
    logs: join(root, 'logs'),
    audit: join(root, 'audit'),
    refusing: join(root, 'refusing'),
    locks: join(root, 'locks'),
    stackFile: join(root, 'stack.json'),
    adminToken: join(root, 'admin-token'),
  };
}

/** Creates the data directory where it is missing, readable by nobody else, and resolves it to its real path. */
export async function openHome(root: string): Promise<Home> {
  try {
    await mkdir(root, { recursive: true, mode: 0o700 });
    // Orphans are recognised by the path on their command line, so it must not depend on a symlink taken to get here.
    const home = homeAt(await realpath(root));
    await access(home.root, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const directory of [home.logs, home.locks]) await mkdir(directory, { recursive: true, mode: 0o700 });
    return home;
  } catch (error) {
    throw await unusableHome(root, error);
  }
}

async function unusableHome(root: string, error: unknown): Promise<Problem> {
  const owner = codeOf(error) === 'EACCES' ? await ownerOf(root) : undefined;
  const because = owner === undefined ? reasonOf(error) : `it belongs to user id ${owner}`;
  return new Problem(
    `The data directory ${root} cannot be used: ${because}`,
    'Set SURETY_HOME to a directory you may write to, or change the owner of this one.',
    { cause: error },
  );
}

async function ownerOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    (found) => found.uid,
    () => undefined,
  );
}
