import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, rename, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem, reasonOf } from '../problem.ts';
import { endProcess, findProcess } from './process.ts';
import type { ProcessRef, StopStep } from './process.ts';

/** A server program to run beside us for as long as we run. */
export interface ChildSpec {
  /** As in messages: "Postgres", "Temporal". */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: what happens to be set in a shell must not change how a server behaves. */
  readonly env: Readonly<Record<string, string>>;
  readonly runAs?: { readonly uid: number; readonly gid: number } | undefined;
  readonly logFile: string;
  readonly stop: readonly StopStep[];
}

export interface Child {
  readonly name: string;
  readonly process: ProcessRef;
  readonly stopSteps: readonly StopStep[];
  readonly logFile: string;
  /** Resolves, never rejects, with how it ended: "exit code 1", "signal SIGKILL". */
  readonly exited: Promise<string>;
  /** What it wrote to its log since this start, the end of it. */
  lastLogLines(): Promise<string[]>;
  stop(): Promise<void>;
}

const LOG_LIMIT_BYTES = 10_000_000;
const LAST_LINES = 20;
const LAST_BYTES = 32_768;

/**
 * Starts a child in a process group of its own, so that Ctrl-C in the terminal reaches us alone and the order of
 * stopping stays ours. It writes to its log file directly: nothing it says is lost, or blocks it, when we die.
 */
export async function startChild(spec: ChildSpec): Promise<Child> {
  await rotate(spec.logFile);
  const log = await open(spec.logFile, 'a', 0o600);
  const logStart = (await log.stat()).size;
  try {
    const child = withPrivateFiles(() =>
      spawn(spec.command, spec.args, {
        stdio: ['ignore', log.fd, log.fd],
        env: spec.env,
        cwd: '/',
        detached: true,
        ...spec.runAs,
      }),
    );
    const exited = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal === null ? `exit code ${String(code)}` : `signal ${signal}`));
    });
    await once(child, 'spawn');
    // One that has ended already has no entry any more; any reference then names nothing, which is right.
    const process = findProcess(child.pid ?? 0) ?? { pid: child.pid ?? 0, startedAt: 'ended' };
    return {
      name: spec.name,
      process,
      stopSteps: spec.stop,
      logFile: spec.logFile,
      exited,
      lastLogLines: () => readLastLines(spec.logFile, logStart),
      stop: async () => {
        if (await endProcess(process, spec.stop)) await exited;
      },
    };
  } catch (error) {
    throw new Problem(
      `${spec.name} could not be started: ${reasonOf(error)}`,
      `Check that ${spec.command} exists and may be executed.`,
      { cause: error },
    );
  } finally {
    await log.close();
  }
}

/** What the child writes only its user may read: Temporal would let everybody. */
function withPrivateFiles<Result>(start: () => Result): Result {
  const ours = process.umask(0o077);
  try {
    return start();
  } finally {
    process.umask(ours);
  }
}

/** Asks until the child is ready, at least ten times a second. One that ends first is a Problem with what it said last. */
export async function waitUntilReady(child: Child, isReady: () => Promise<boolean>, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  let ended: string | undefined;
  void child.exited.then((how) => (ended = how));
  for (let pauseMs = 25; !(await isReady()); pauseMs = Math.min(100, pauseMs * 1.2)) {
    if (ended !== undefined) throw await notReady(child, `ended before it was ready (${ended})`);
    if (Date.now() > deadline) throw await notReady(child, `was not ready within ${withinMs / 1000} s`);
    await sleep(pauseMs);
  }
}

async function notReady(child: Child, what: string): Promise<Problem> {
  const lines = await child.lastLogLines();
  const said = lines.length === 0 ? ' It wrote nothing.' : ` It wrote:\n${lines.map((line) => `  ${line}`).join('\n')}`;
  return new Problem(
    `${child.name} ${what}.${said}`,
    `Correct what it complains of and start again. Its log: ${child.logFile}`,
  );
}

async function rotate(logFile: string): Promise<void> {
  const size = await stat(logFile).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_LIMIT_BYTES) await rename(logFile, `${logFile}.1`);
}

async function readLastLines(logFile: string, start: number): Promise<string[]> {
  const log = await open(logFile, 'r');
  try {
    const { size } = await log.stat();
    const from = Math.max(start, size - LAST_BYTES);
    const { buffer } = await log.read({ buffer: Buffer.alloc(size - from), position: from });
    const lines = buffer.toString('utf8').split('\n');
    return lines.filter((line) => line.trim() !== '').slice(-LAST_LINES);
  } finally {
    await log.close();
  }
}
