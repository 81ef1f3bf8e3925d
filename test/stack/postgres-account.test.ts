import { chmod, mkdir, stat, writeFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { openHome } from '../../src/home.ts';
import type { Home } from '../../src/home.ts';
import { rootAccounts } from '../../src/postgres/embedded-account.ts';
import type { Account } from '../../src/postgres/embedded-account.ts';
import { startPostgres } from '../../src/postgres/embedded.ts';
import { freePort } from '../support/free-port.ts';
import { canUnshare, hasProgram, isRoot, temporaryHome } from './support.ts';

const accounts = isRoot() ? await rootAccounts() : [];
const [inNamespace, asUser, asUserWithAccess] = accounts;

/** A data directory that others may or may not pass to. */
async function homeIn(mode: number): Promise<Home> {
  const outer = await temporaryHome();
  await chmod(outer, mode);
  return openHome(join(outer, 'data'));
}

/** Starts Postgres in one way only, counts a start, and stops it. */
async function countStart(home: Home, account: Account | undefined, stop: NodeJS.Signals = 'SIGINT'): Promise<number> {
  if (account === undefined) throw new Error('no such account');
  const options = { home, port: await freePort(), progress: () => undefined, onSpawn: () => undefined };
  const { url, child } = await startPostgres({ ...options, accounts: [account] });
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('CREATE TABLE IF NOT EXISTS starts (at timestamptz NOT NULL DEFAULT now())');
    await client.query('INSERT INTO starts DEFAULT VALUES');
    const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM starts');
    return Number(rows[0]?.count);
  } finally {
    await client.end();
    process.kill(child.process.pid, stop);
    await child.exited;
  }
}

describe.runIf(isRoot())('Postgres started by root', { timeout: 60_000 }, () => {
  it.runIf(canUnshare())('runs in a user namespace, also where only root may enter', async () => {
    const home = await homeIn(0o700);
    expect(await countStart(home, inNamespace)).toBe(1);
    expect(await countStart(home, inNamespace)).toBe(2);
  });

  it('runs as a system user where that one may enter', async () => {
    const home = await homeIn(0o755);
    expect(await countStart(home, asUser)).toBe(1);
    expect((await stat(join(home.postgres, 'data'))).uid).toBe(asUser?.owner.uid);
    expect((await stat(join(home.postgres, 'password'))).mode & 0o777).toBe(0o600);
  });

  it("says which directory a system user cannot reach, and runs it with root's access to files instead", async () => {
    const home = await homeIn(0o700);
    await expect(countStart(home, asUser)).rejects.toThrow(home.postgres);
    if (hasProgram('setpriv')) expect(await countStart(home, asUserWithAccess)).toBe(1);
  });

  it.runIf(canUnshare())('goes on with a directory that was made in the other way, also after kill -9', async () => {
    const home = await homeIn(0o755);
    expect(await countStart(home, inNamespace, 'SIGKILL')).toBe(1);
    expect(await countStart(home, asUser, 'SIGKILL')).toBe(2);
    expect(await countStart(home, inNamespace, 'SIGKILL')).toBe(3);
    expect(await countStart(home, inNamespace)).toBe(4);
  });
});

describe('Postgres', { timeout: 60_000 }, () => {
  it('is not fooled by a stale postmaster.pid whose number now belongs to somebody else', async () => {
    const home = await homeIn(0o755);
    const any = accounts[canUnshare() ? 0 : 1] ?? { how: '', prefix: [], owner: { uid: 0, gid: 0 } };
    expect(await countStart(home, any, 'SIGKILL')).toBe(1);
    const file = join(home.postgres, 'data/postmaster.pid');
    const lines = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, ['1', ...lines.slice(1)].join('\n'));
    expect(await countStart(home, any)).toBe(2);
  });

  it('starts over when its first start was killed halfway', async () => {
    const home = await homeIn(0o755);
    await mkdir(join(home.postgres, 'data.new/base'), { recursive: true });
    await chmod(home.postgres, 0o700);
    const any = accounts[canUnshare() ? 0 : 1] ?? { how: '', prefix: [], owner: { uid: 0, gid: 0 } };
    expect(await countStart(home, any)).toBe(1);
  });
});
