import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../problem.ts';

/** The variable by which every process of one command is known, also one that has left its group. */
export const MARK = 'SURETY_EXECUTION';

const ROUNDS = 50;
const ROUND_MS = 20;

/**
 * Tells a command that its time is up. bubblewrap would take everything with it at once: under it, only what runs within is
 * told, which is in a session of its own.
 */
export async function tellToEnd(group: number, mark: string, isWithinBubblewrap: boolean): Promise<void> {
  if (!isWithinBubblewrap) {
    signalGroup(group, 'SIGTERM');
    return;
  }
  const within = (await ownProcesses(group, mark)).filter((each) => each.group !== group);
  for (const { pid } of within) signalled(pid, 'SIGTERM');
}

/** Signals a group; false if there is none left. */
export function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  return signalled(-group, signal);
}

/**
 * Ends what is left of a command: its group, and whatever carries its mark, until nothing does. Answers how many of them
 * there were at first. A process that has left the group and wiped its environment is not found; only a sandbox holds it.
 */
export async function endAll(group: number, mark: string): Promise<number> {
  let found = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const living = await ownProcesses(group, mark);
    if (round === 0) found = living.length;
    if (living.length === 0) return found;
    signalGroup(group, 'SIGKILL');
    for (const { pid } of living) signalled(pid, 'SIGKILL');
    await sleep(ROUND_MS);
  }
  return found;
}

/** Linux tells group and environment of our own processes; elsewhere all that is known is whether the group is empty. */
async function ownProcesses(
  group: number,
  mark: string,
): Promise<readonly { readonly pid: number; readonly group: number }[]> {
  if (process.platform !== 'linux') return signalGroup(group, 'SIGCONT') ? [{ pid: group, group }] : [];
  const wanted = `${MARK}=${mark}`;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      // One that has ended meanwhile, or is somebody else's, is not ours.
      const [stat, environment] = await Promise.all([
        readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ''),
        readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''),
      ]);
      // "pid (name) state parent group …", and a name may hold anything.
      const [state, , inGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const isOurs = Number(inGroup) === group || environment.split('\0').includes(wanted);
      // The dead are their parent's business.
      return isOurs && state !== 'Z' && state !== 'X' ? [{ pid: Number(pid), group: Number(inGroup) }] : [];
    }),
  );
  return found.flat();
}

function signalled(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    // EPERM: there is one, and it is no longer ours (macOS says so of the dead as well).
    if (codeOf(error) === 'ESRCH' || codeOf(error) === 'EPERM') return false;
    throw error;
  }
}
