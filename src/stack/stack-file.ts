import { rm } from 'node:fs/promises';
import * as z from 'zod';
import { homeAt } from '../home.ts';
import type { Home } from '../home.ts';
import { readJson, writeJson } from './json-file.ts';
import { findProcess, isRunning } from './process.ts';

const StackFile = z.object({
  pid: z.number(),
  /** Tells the process that wrote this from a later one with its number. */
  processStartedAt: z.string(),
  databaseUrl: z.string(),
  temporalAddress: z.string(),
  namespace: z.string(),
  uiUrl: z.string().optional(),
  startedAt: z.iso.datetime(),
});

/** What the stack that runs on a data directory tells other processes. Holds the database's password. */
export type StackFile = z.infer<typeof StackFile>;

export type StackStatus =
  { readonly running: true; readonly stack: StackFile } | { readonly running: false; readonly because: string };

/** Finds the stack that runs on the data directory at `root`. A file whose process is gone counts as none. */
export async function readStack(root: string): Promise<StackStatus> {
  const stack = await readJson(homeAt(root).stackFile, StackFile);
  if (stack === undefined) return { running: false, because: `nothing is running on ${root}` };
  if (isRunning({ pid: stack.pid, startedAt: stack.processStartedAt })) return { running: true, stack };
  return { running: false, because: `the stack on ${root} (pid ${stack.pid}) ended without stopping` };
}

export async function writeStack(
  home: Home,
  facts: Omit<StackFile, 'pid' | 'processStartedAt' | 'startedAt'>,
): Promise<void> {
  const stack: StackFile = {
    pid: process.pid,
    processStartedAt: findProcess(process.pid)?.startedAt ?? '',
    ...facts,
    startedAt: new Date().toISOString(),
  };
  await writeJson(home.stackFile, stack);
}

export async function removeStack(home: Home): Promise<void> {
  await rm(home.stackFile, { force: true });
}
