import type { Home } from '../home.ts';
import { Problem } from '../problem.ts';
import { POSTGRES_STOP, postgresCommandLine } from '../postgres/embedded.ts';
import { TEMPORAL_STOP, temporalCommandLine } from '../temporal/dev-server.ts';
import { endProcess, findProcess, listCommandLines } from './process.ts';

/**
 * Ends servers that an earlier run on this data directory left behind. Only sensible while holding the lock.
 *
 * They are recognised by the path of our data on their command line, not by a recorded number: no moment between
 * starting and recording can be missed, and no unrelated process that got the number later is touched.
 */
export async function endOrphans(home: Home, progress: (message: string) => void): Promise<void> {
  const kinds = [
    { name: 'Temporal', mark: temporalCommandLine(home), stop: TEMPORAL_STOP },
    { name: 'Postgres', mark: postgresCommandLine(home), stop: POSTGRES_STOP },
  ];
  const running = listCommandLines();
  await Promise.all(
    kinds.flatMap(({ name, mark, stop }) =>
      running
        .filter(({ commandLine }) => commandLine.includes(mark))
        .map(async ({ pid }) => {
          const orphan = findProcess(pid);
          if (orphan === undefined) return;
          progress(`Stopping ${name} (pid ${pid}), left behind by an earlier run`);
          if (!(await endProcess(orphan, stop))) throw cannotEnd(name, pid, home);
        }),
    ),
  );
}

function cannotEnd(name: string, pid: number, home: Home): Problem {
  return new Problem(
    `${name} (pid ${pid}) of an earlier run still holds ${home.root} and cannot be stopped`,
    `End it (kill -9 ${pid}) and start again.`,
  );
}
