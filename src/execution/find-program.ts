import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

/** The first of these directories that has such a program. */
export async function findProgram(name: string, directories: readonly string[]): Promise<string | undefined> {
  for (const directory of directories) {
    const file = join(directory, name);
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return file;
  }
  return undefined;
}
