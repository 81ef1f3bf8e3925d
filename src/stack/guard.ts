/**
 * A program of its own: ends the servers of a parent that can no longer do it.
 *
 * The parent writes the processes to watch to our standard input and holds it open. However the parent goes, also by
 * `kill -9`, the kernel closes that pipe; what is still watched then is ended, each by its own signals in turn.
 */
import { createInterface } from 'node:readline';
import { endProcess } from './process.ts';
import { GuardOrder } from './start-guard.ts';

// Ctrl-C, a closed terminal and a supervisor's signal to the whole group are for the parent, which stops in order.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const watched = new Map<number, Extract<GuardOrder, { order: 'watch' }>>();

for await (const line of createInterface({ input: process.stdin })) {
  const order = readOrder(line);
  if (order?.order === 'watch') watched.set(order.process.pid, order);
  if (order?.order === 'forget') watched.delete(order.pid);
}

await Promise.all([...watched.values()].map(({ process, stop }) => endProcess(process, stop)));

function readOrder(line: string): GuardOrder | undefined {
  try {
    return GuardOrder.parse(JSON.parse(line));
  } catch {
    return undefined; // The parent died in the middle of a line. The next start looks for what we did not hear of.
  }
}
