import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import type { Config } from '../../src/config.ts';
import { homeAt } from '../../src/home.ts';
import { postgresCommandLine } from '../../src/postgres/embedded.ts';
import { listCommandLines } from '../../src/stack/process.ts';
import { startStack } from '../../src/stack/stack.ts';
import type { Stack, StackOptions } from '../../src/stack/stack.ts';
import { temporalCommandLine } from '../../src/temporal/dev-server.ts';
import { freePort } from '../support/free-port.ts';

/** Where the suite keeps the one temporal program it fetches; an empty one is filled by the first test that needs it. */
export const SHARED_CACHE = resolve('.surety/cache');

/** A data directory that is gone after the test. */
export async function temporaryHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'surety-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** The environment of a stack on this data directory that meets no other one. */
export async function stackEnvironment(home: string): Promise<Record<string, string>> {
  return {
    PATH: process.env['PATH'] ?? '',
    SURETY_HOME: home,
    SURETY_CACHE: SHARED_CACHE,
    SURETY_TEMPORAL_PORT: String(await freePort()),
    SURETY_UI_PORT: String(await freePort()),
    SURETY_POSTGRES_PORT: String(await freePort()),
    SURETY_HTTP_PORT: String(await freePort()),
  };
}

export async function stackConfig(home: string, extra: Record<string, string> = {}): Promise<Config> {
  return loadConfig({ ...(await stackEnvironment(home)), ...extra });
}

/** Starts a stack that is stopped after the test, whatever happens in it. */
export async function runStack(config: Config, options?: StackOptions): Promise<Stack> {
  const stack = await startStack(config, options);
  onTestFinished(() => stack.stop());
  return stack;
}

/** The servers that run on a data directory. */
export function serversOn(root: string): number[] {
  const home = homeAt(root);
  const marks = [temporalCommandLine(home), postgresCommandLine(home)];
  return listCommandLines()
    .filter(({ commandLine }) => marks.some((mark) => commandLine.includes(mark)))
    .map(({ pid }) => pid);
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Whether this machine lets us make user namespaces; many containers do not. */
export function canUnshare(): boolean {
  try {
    execFileSync('unshare', ['--user', '--map-user=1', '--map-group=1', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export function hasProgram(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((directory) => existsSync(join(directory, name)));
}
