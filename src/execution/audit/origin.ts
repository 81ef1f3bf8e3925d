import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../problem.ts';

/** What tells the files of this directory from those of others, wherever it is moved. Made when it is first asked for. */
export async function originOf(directory: string): Promise<string> {
  const file = join(directory, 'origin');
  try {
    await writeFile(file, `${randomUUID()}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  return (await readFile(file, 'utf8')).trim();
}
