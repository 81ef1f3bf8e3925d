import { execFile } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { isWithin } from '../domain/files/path-text.ts';
import { reasonOf } from '../problem.ts';
import { findProgram } from './find-program.ts';

/** What the operating system offers to confine a command with. */
export type Sandbox =
  | { readonly kind: 'bubblewrap'; readonly program: string }
  | { readonly kind: 'sandbox-exec'; readonly program: string }
  | { readonly kind: 'none'; readonly because: string };

/** What a confined command may touch. All of them real paths. */
export interface Confinement {
  readonly writable: readonly string[];
  /** Neither read nor written nor run, directories and files, where they exist. */
  readonly hidden: readonly string[];
  /** Files that are read and not written, where they exist. */
  readonly readOnly: readonly string[];
  readonly network: boolean;
}

const run = promisify(execFile);
const TRIED_WITHIN_MS = 5000;
const SCRATCH = '/tmp';

/** Looks for a sandbox (see `trustedPlaces`) and tries it: many containers have the program and do not let it work. */
export async function findSandbox(places: readonly string[], platform = process.platform): Promise<Sandbox> {
  const kind = platform === 'linux' ? 'bubblewrap' : platform === 'darwin' ? 'sandbox-exec' : undefined;
  if (kind === undefined) return none(`there is none for ${platform}`);
  const name = kind === 'bubblewrap' ? 'bwrap' : 'sandbox-exec';
  const program = await findProgram(name, places);
  if (program === undefined) return none(`${name} is not installed`);
  const found: Sandbox = { kind, program };
  const nothing = { writable: [await realpath(tmpdir())], hidden: [], readOnly: [], network: false };
  const [file, ...args] = confine(found, nothing, '/', ['/bin/sh', '-c', 'true']);
  try {
    await run(file, args, { timeout: TRIED_WITHIN_MS });
    return found;
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    return none(`${program} does not work here: ${stderr === '' ? reasonOf(error) : stderr}`);
  }
}

function none(because: string): Sandbox {
  return { kind: 'none', because };
}

/** The command line that runs `command` confined; the command itself where there is no sandbox. */
export function confine(
  sandbox: Sandbox,
  confinement: Confinement,
  cwd: string,
  command: readonly [string, ...string[]],
): readonly [string, ...string[]] {
  switch (sandbox.kind) {
    case 'none':
      return command;
    case 'bubblewrap':
      return [sandbox.program, ...bubblewrapOptions(confinement, cwd), '--', ...command];
    case 'sandbox-exec':
      return [sandbox.program, '-p', profileOf(confinement), ...command];
  }
}

/** What of the files a confined command does not see as they are: `scratch` is a directory to itself, empty when it begins. */
export function seenFrom({ kind }: Sandbox): { readonly scratch?: string; readonly isCovered: boolean } {
  return { ...(kind === 'bubblewrap' ? { scratch: SCRATCH } : {}), isCovered: kind !== 'none' };
}

/** In order: a later mount lies over an earlier one. */
function bubblewrapOptions({ writable, hidden, readOnly, network }: Confinement, cwd: string): string[] {
  const isAllWritable = writable.includes('/');
  return [
    ...[isAllWritable ? '--bind' : '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run'],
    // What lies in a root is what others see there.
    ...(isAllWritable ? [] : ['--tmpfs', SCRATCH]),
    // Root needs no capability to write there, and core_pattern names a program that the kernel runs outside.
    ...['--ro-bind-try', '/proc/sys', '/proc/sys'],
    ...writable.flatMap((path) => (isOfTheSandbox(path) ? [] : ['--bind', path, path])),
    // What something is mounted on cannot be renamed: what lies below it stays where Surety looks for it.
    ...directoriesAbove([...readOnly, ...hidden], writable).flatMap((path) => ['--bind-try', path, path]),
    // Sockets of daemons lie in /run; names are resolved by what lies there, too.
    ...['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve'],
    ...readOnly.flatMap((path) => ['--ro-bind-try', path, path]),
    ...hidden.flatMap(mask),
    // Ends with us, and everything in it ends with it: no process leaves a process namespace.
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...(network ? [] : ['--unshare-net']),
    // What they name lies outside, where nothing can be written.
    ...['TMPDIR', 'TMP', 'TEMP'].flatMap((name) => ['--unsetenv', name]),
    ...['--chdir', cwd],
  ];
}

/** Devices and processes are those of the sandbox, whatever the roots are: those of the machine would lead out of it. */
function isOfTheSandbox(path: string): boolean {
  return path === '/' || path === '/dev' || isWithin('/proc', path);
}

/** Those that a command could rename, the outer ones first. */
function directoriesAbove(paths: readonly string[], writable: readonly string[]): readonly string[] {
  const isRenamable = (path: string) => writable.some((root) => root !== path && isWithin(root, path));
  const found = new Set<string>();
  for (const path of paths)
    for (let above = dirname(path); isRenamable(above); above = dirname(above)) found.add(above);
  return [...found].sort((one, other) => one.length - other.length);
}

/** A directory is empty, a file cannot be opened. What is not there yet cannot be covered. */
function mask(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return ['--tmpfs', path];
  return found?.isFile() === true ? ['--ro-bind', '/dev/null', path] : [];
}

/** Of two lines that match, the later holds. */
function profileOf({ writable, hidden, readOnly, network }: Confinement): string {
  const below = (path: string) => `(subpath ${JSON.stringify(path)})`;
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${[...writable, '/dev'].map(below).join(' ')})`,
    ...(readOnly.length === 0 ? [] : [`(deny file-write* ${readOnly.map(below).join(' ')})`]),
    ...(hidden.length === 0 ? [] : [`(deny file-read* file-write* process-exec ${hidden.map(below).join(' ')})`]),
    ...(network ? [] : ['(deny network*)']),
  ].join('\n');
}
