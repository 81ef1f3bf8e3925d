// Run as a process of its own: tries for the lock at a given moment, says what became of it, and holds on a while.
import { setTimeout as sleep } from 'node:timers/promises';
import { openHome } from '../../src/home.ts';
import { Problem } from '../../src/problem.ts';
import { acquireLock } from '../../src/stack/lock.ts';

const [, , root = '', at = '0'] = process.argv;
const home = await openHome(root);
await sleep(Math.max(0, Number(at) - Date.now()));
try {
  await acquireLock(home);
  console.log('held');
  await sleep(1_000);
} catch (error) {
  if (!(error instanceof Problem)) throw error;
  console.log('refused');
}
