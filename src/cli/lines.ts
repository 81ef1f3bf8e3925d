import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Problem, reasonOf } from '../problem.ts';

export interface NumberedLine {
  readonly number: number;
  readonly text: string;
}

/** The lines of a file, or of standard input for `-`, one at a time; empty ones are passed over. */
export async function* linesOf(file: string): AsyncGenerator<NumberedLine> {
  const input = file === '-' ? process.stdin : createReadStream(file);
  const lines = createInterface({ input, crlfDelay: Infinity });
  // Without this an error of the file is lost, and the lines seem to end.
  const failed = new Promise<never>((_, reject) => input.once('error', reject));
  failed.catch(() => undefined);
  let number = 0;
  const iterator = lines[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([iterator.next(), failed]).catch((error: unknown) => {
      throw new Problem(`${file} cannot be read: ${reasonOf(error)}`, 'Name another file, or - for standard input.');
    });
    if (next.done === true) return;
    number += 1;
    if (next.value.trim() !== '') yield { number, text: next.value };
  }
}
