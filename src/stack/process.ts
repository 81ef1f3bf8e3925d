import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../problem.ts';

/** A process that cannot be mistaken for a later one with the same number. */
export interface ProcessRef {
  readonly pid: number;
  /** When the kernel started it, in whatever unit the platform has; only ever compared. */
  readonly startedAt: string;
}

/** A signal and how long to wait for it to work before the next one. */
export interface StopStep {
  readonly signal: NodeJS.Signals;
  readonly waitMs: number;
}

const HAS_PROC = existsSync('/proc/self/stat');

/** The running process with this number, or `undefined` when there is none. */
export function findProcess(pid: number): ProcessRef | undefined {
  const startedAt = HAS_PROC ? startTimeFromProc(pid) : startTimeFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

export function isRunning(process: ProcessRef): boolean {
  return findProcess(process.pid)?.startedAt === process.startedAt;
}

/** Sends each signal in turn until the process is gone. Returns whether it is. */
export async function endProcess(target: ProcessRef, steps: readonly StopStep[]): Promise<boolean> {
  for (const { signal, waitMs } of steps) {
    const deadline = Date.now() + waitMs;
    if (!isRunning(target)) return true;
    if (!sendSignal(target.pid, signal)) return false;
    while (isRunning(target) && Date.now() < deadline) await sleep(25);
  }
  return !isRunning(target);
}

/** Every process we may look at, its arguments joined by spaces and ended by one. */
export function listCommandLines(): { pid: number; commandLine: string }[] {
  if (HAS_PROC) {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => ({ pid: Number(name), commandLine: readProc(name, 'cmdline')?.replaceAll('\0', ' ') ?? '' }));
  }
  const table = execFileSync('ps', ['-axww', '-o', 'pid=,args='], { encoding: 'utf8' });
  return table.split('\n').map((line) => {
    const [, pid = '0', args = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return { pid: Number(pid), commandLine: `${args} ` };
  });
}

function startTimeFromProc(pid: number): string | undefined {
  const stat = readProc(String(pid), 'stat');
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold anything; the rest follows the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A zombie has ended; in a container whose first process does not reap, it stays in the table for ever.
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  // Ticks since boot repeat after a reboot, and so do process numbers.
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19] ?? ''}`;
}

function startTimeFromPs(pid: number): string | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
  } catch {
    return undefined; // `ps` exits 1 when there is no such process.
  }
}

function readProc(pid: string, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined; // It ended between the listing and the reading, or is not ours to read.
  }
}

/** Whether we were allowed to. */
function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) === 'EPERM') return false;
    if (codeOf(error) !== 'ESRCH') throw error;
  }
  return true;
}
