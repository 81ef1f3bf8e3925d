import type { Cli } from './cli.ts';
import { ask } from './confirm.ts';
import { UsageError } from './usage.ts';

interface Words {
  /** "Which grant?" */
  readonly which: string;
  /** Where the ids are, as a sentence. */
  readonly listed: string;
  /** Said where there is nothing to choose from. */
  readonly none: string;
}

/** On a terminal the list is shown and an id asked for; without one nothing is done by accident. Undefined: none was chosen. */
export async function chooseId<T>(
  { terminal }: Cli,
  { which, listed, none }: Words,
  from: readonly T[],
  table: (from: readonly T[]) => string,
): Promise<string | undefined> {
  if (from.length === 0) {
    terminal.print(none);
    return undefined;
  }
  if (!terminal.interactive) {
    throw new UsageError(`${which} There is no terminal to ask on, so nothing was done.`, `Give the id: ${listed}`);
  }
  terminal.print(table(from));
  const answer = (await ask(`${which} Type its id, or nothing to leave all as it is: `)).trim();
  return answer === '' ? undefined : answer;
}
