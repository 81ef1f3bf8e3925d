import { readFile, rename, writeFile } from 'node:fs/promises';
import type * as z from 'zod';
import { codeOf } from '../problem.ts';

/** Writes a file only we may read, all of it or nothing. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  const unfinished = `${file}.${process.pid}.new`;
  await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}

/** `undefined` when there is no such file, or when it is not one of ours: a power cut can leave it empty. */
export async function readJson<Schema extends z.ZodType>(
  file: string,
  schema: Schema,
): Promise<z.output<Schema> | undefined> {
  try {
    return schema.safeParse(JSON.parse(await readFile(file, 'utf8'))).data;
  } catch (error) {
    const isAbsent = codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
    if (isAbsent || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
