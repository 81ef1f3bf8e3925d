import { condition, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';

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
