import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import type { Home } from '../home.ts';
import { Problem } from '../problem.ts';
import { readJson, writeJson } from './json-file.ts';
import { findProcess, isRunning } from './process.ts';
import type { ProcessRef } from './process.ts';

const LockFile = z.object({ pid: z.number(), startedAt: z.string() });

/** What this very process holds: its own file cannot tell it that. */
const heldHere = new Set<string>();

export interface Lock {
  release(): Promise<void>;
}

/**
 * Makes this process the only one that runs a stack on this data directory, until it releases or dies.
 *
 * Each contender first puts down a file of its own, then looks at the others; whoever sees another one alive takes its
 * file away again. Taking over from the dead is then no step of its own that two could take at once, as it is with a
 * single file: the worst two simultaneous starts can do is both step back, so each tries a second time.
 */
export async function acquireLock(home: Home): Promise<Lock> {
  const self = findProcess(process.pid);
  if (self === undefined) throw new Error(`cannot find this process (${process.pid}) in the process table`);
  const file = join(home.locks, String(self.pid));
  const release = async () => {
    await rm(file, { force: true });
    heldHere.delete(home.root);
  };
  for (let attempt = 1; ; attempt++) {
    if (heldHere.has(home.root)) throw alreadyRunning(home, self);
    heldHere.add(home.root);
    await writeJson(file, self);
    const holder = await findHolder(home, self);
    if (holder === undefined) return { release };
    await release();
    if (attempt === 2) throw alreadyRunning(home, holder);
    await sleep(20 + Math.random() * 200);
  }
}

/** Another live process with a file here; files of the dead are cleared away. */
async function findHolder(home: Home, self: ProcessRef): Promise<ProcessRef | undefined> {
  for (const name of await readdir(home.locks)) {
    if (!/^\d+$/.test(name) || name === String(self.pid)) continue;
    const file = join(home.locks, name);
    const holder = await readJson(file, LockFile);
    if (holder !== undefined && isRunning(holder)) return holder;
    await rm(file, { force: true });
  }
  return undefined;
}

function alreadyRunning(home: Home, holder: ProcessRef): Problem {
  return new Problem(
    `Surety is already running on ${home.root} (pid ${holder.pid})`,
    `Use the running one, stop it (kill ${holder.pid}), or set SURETY_HOME to another directory.`,
  );
}
