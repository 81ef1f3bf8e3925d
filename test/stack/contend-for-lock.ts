// Run as a process of its own: tries for the lock when told to, says what became of it, and holds on until told to go.
import { once } from 'node:events';
import { openHome } from '../../src/home.ts';
import { Problem } from '../../src/problem.ts';
import { acquireLock } from '../../src/stack/lock.ts';

const home = await openHome(process.argv[2] ?? '');
console.log('ready');
await once(process.stdin, 'data');
try {
  await acquireLock(home);
  console.log('held');
} catch (error) {
  if (!(error instanceof Problem)) throw error;
  console.log('refused');
}
await once(process.stdin, 'end');
