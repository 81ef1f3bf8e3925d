import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openHome } from '../../src/home.ts';
import { acquireLock } from '../../src/stack/lock.ts';
import { temporaryHome } from './support.ts';

interface Contender {
  readonly nextWord: () => Promise<string | undefined>;
  readonly go: () => void;
  readonly end: () => Promise<unknown>;
}

function startContender(root: string): Contender {
  const script = new URL('contend-for-lock.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', script, root], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: AsyncIterator<string, undefined> = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    nextWord: async () => (await lines.next()).value,
    go: () => void child.stdin.write('go\n'),
    end: () => {
      child.stdin.end();
      return once(child, 'exit');
    },
  };
}

describe('the lock', () => {
  it('is never held by two of many that start at once over a dead holder, and is free when they are gone', async () => {
    const root = await temporaryHome();
    await mkdir(join(root, 'locks'));
    await writeFile(join(root, 'locks/999999999'), JSON.stringify({ pid: 999999999, startedAt: 'x' }));
    const contenders = Array.from({ length: 6 }, () => startContender(root));
    await Promise.all(contenders.map(({ nextWord }) => nextWord()));
    for (const { go } of contenders) go();
    const words = await Promise.all(contenders.map(({ nextWord }) => nextWord()));
    expect(words.filter((word) => word === 'held').length).toBeLessThanOrEqual(1);
    expect(words.filter((word) => word === 'refused').length).toBeGreaterThanOrEqual(5);

    await Promise.all(contenders.map(({ end }) => end()));
    const lock = await acquireLock(await openHome(root)); // Nobody released: they only ended.
    await lock.release();
  }, 60_000);

  it('is refused to the process that holds it already, and given again after release', async () => {
    const home = await openHome(await temporaryHome());
    const lock = await acquireLock(home);
    await expect(acquireLock(home)).rejects.toThrow(`already running on ${home.root} (pid ${process.pid})`);
    await lock.release();
    await (await acquireLock(home)).release();
  });
});
