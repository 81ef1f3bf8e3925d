import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openHome } from '../../src/home.ts';
import { acquireLock } from '../../src/stack/lock.ts';
import { temporaryHome } from './support.ts';

describe('the lock', () => {
  it('is never held by two of many that start at once over a dead holder, and is free when they are gone', async () => {
    const root = await temporaryHome();
    await mkdir(join(root, 'locks'));
    await writeFile(join(root, 'locks/999999999'), JSON.stringify({ pid: 999999999, startedAt: 'x' }));
    const script = new URL('contend-for-lock.ts', import.meta.url).pathname;
    const at = String(Date.now() + 4_000);
    const contenders = Array.from({ length: 6 }, () =>
      promisify(execFile)(process.execPath, ['--import', 'tsx', script, root, at]),
    );
    const said = (await Promise.all(contenders)).map(({ stdout }) => stdout.trim());
    expect(said).toHaveLength(6);
    expect(said.filter((word) => word === 'held').length).toBeLessThanOrEqual(1);

    const lock = await acquireLock(await openHome(root)); // Nobody released: they only ended.
    await lock.release();
  }, 30_000);

  it('is refused to the process that holds it already, and given again after release', async () => {
    const home = await openHome(await temporaryHome());
    const lock = await acquireLock(home);
    await expect(acquireLock(home)).rejects.toThrow(`already running on ${home.root} (pid ${process.pid})`);
    await lock.release();
    await (await acquireLock(home)).release();
  });
});
