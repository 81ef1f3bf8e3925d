import { row } from './measure.ts';
import type { Row } from './measure.ts';
import type { BenchStack } from './stack.ts';

/** From the command to ready, with the binaries cached: Postgres, Temporal with its UI, and the worker. */
export async function start(stack: BenchStack, moved: (stack: BenchStack) => void): Promise<readonly Row[]> {
  const seconds: number[] = [];
  for (let round = 0, now = stack; round < 5; round += 1) {
    now = await now.restart({ words: ['npm', 'start'] });
    moved(now);
    seconds.push(now.readyMs / 1000);
  }
  return [
    row('ready after npm start, binaries cached', 's', seconds, null, { atMost: 10 }),
    row('the first start of all, which makes the database, without npm', 's', [stack.readyMs / 1000], null, {
      atMost: 10,
    }),
  ];
}
