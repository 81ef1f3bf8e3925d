import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { reasonOf } from '../problem.ts';
import { UsageError } from './usage.ts';

/** The arguments of a call as the command line gives them: JSON, @file, or - for standard input. */
export async function readArguments(given: string | undefined): Promise<unknown> {
  if (given === undefined) return undefined;
  const json = await contentOf(given);
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new UsageError(`--args is not JSON: ${reasonOf(error)}`, 'Give JSON, @file, or - for standard input.');
  }
}

async function contentOf(given: string): Promise<string> {
  if (given === '-') return text(process.stdin);
  if (!given.startsWith('@')) return given;
  const file = given.slice(1);
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`--args names ${file}, which cannot be read: ${reasonOf(error)}`, 'Name another file.');
  });
}
