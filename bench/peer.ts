import { condition, defineQuery, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';

export const poke = defineSignal<[unknown]>('poke');
export const answer = defineUpdate<number>('answer');

/** The least a workflow can do with a signal: count it. What bare signals and updates are measured on. */
export async function counter(): Promise<void> {
  let count = 0;
  setHandler(poke, () => {
    count += 1;
  });
  setHandler(answer, () => count);
  await condition(() => false);
}

export const waits = defineQuery<boolean>('waits');

/** The least a workflow can do for somebody who waits for it: end when it is told to. */
export async function waiter(): Promise<void> {
  let isOver = false;
  setHandler(poke, () => {
    isOver = true;
  });
  setHandler(waits, () => !isOver);
  await condition(() => isOver);
}
