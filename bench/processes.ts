import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The processes of the stack whose data lies in `home`. */
export function pidsOf(home: string): {
  readonly worker: number;
  readonly temporal: number;
  readonly postgres: number;
} {
  const find = (what: string, isIt: (pid: number, words: string) => boolean) => {
    const found = processes().find(({ pid, words }) => isIt(pid, words));
    if (found === undefined) throw new Error(`no process of ${home}: ${what}`);
    return found.pid;
  };
  return {
    worker: find('worker', (pid, words) => words.includes('main.js up') && environmentOf(pid).includes(home)),
    temporal: find('Temporal', (_, words) => words.includes('server start-dev') && words.includes(home)),
    postgres: find('Postgres', (_, words) => /bin\/postgres /.test(words) && words.includes(home)),
  };
}

/** User and system time of a process alone: what it has started counts by itself. A tick is a hundredth of a second. */
export function ownCpuSecondsOf(pid: number): number {
  return ticksOf(pid, 2) / 100;
}

/** The same with its children, also those that have ended. */
export function cpuSecondsOf(pid: number): number {
  const ofItself = ticksOf(pid, 4);
  const ofChildren = processes().filter(({ parent }) => parent === pid);
  return ofChildren.reduce((sum, child) => sum + ticksOf(child.pid, 2), ofItself) / 100;
}

export function rssOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

function processes(): readonly { readonly pid: number; readonly parent: number; readonly words: string }[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.map((line) => {
    const [pid = '', parent = '', ...words] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), words: words.join(' ') };
  });
}

/** Of itself with two fields, and with four of the children that it has waited for. */
function ticksOf(pid: number, fields: 2 | 4): number {
  const all = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return all.slice(11, 11 + fields).reduce((sum, ticks) => sum + Number(ticks), 0);
}

function environmentOf(pid: number): string {
  return readFileSync(`/proc/${pid}/environ`, 'utf8');
}
