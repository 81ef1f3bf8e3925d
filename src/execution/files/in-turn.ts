import { realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { FileSandbox } from './sandbox.ts';

/** What is under way on a path, by the path: the end of the last of a row. */
const rows = new Map<string, Promise<unknown>>();

/**
 * One after the other for the same file, within this process: of two that change it the second has to see what the first has done. Between
 * processes a change since it was looked at is noticed instead, but for the moment between the last look and the rename.
 */
export async function inTurn<T>({ base }: FileSandbox, path: string, run: () => Promise<T>): Promise<T> {
  const at = resolve(base, path);
  const key = await realpath(at).catch(
    async () => `${await realpath(dirname(at)).catch(() => dirname(at))}/${basename(at)}`,
  );
  const before = rows.get(key) ?? Promise.resolve();
  const mine = before.then(run, run);
  rows.set(key, mine);
  try {
    return await mine;
  } finally {
    if (rows.get(key) === mine) rows.delete(key);
  }
}
