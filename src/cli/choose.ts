import type { Cli } from './cli.ts';
import { ask } from './confirm.ts';
import { UsageError } from './usage.ts';

interface Choice {
  /** "Which grant?" */
  readonly which: string;
  /** Where the ids are, as a sentence. */
  readonly listed: string;
  /** What there is to choose from. */
  readonly list: string;
}

/** On a terminal the list is shown and an id asked for; without one nothing is done by accident. Undefined: none was chosen. */
export async function chooseId({ terminal }: Cli, { which, listed, list }: Choice): Promise<string | undefined> {
  if (!terminal.interactive) {
    throw new UsageError(`${which} There is no terminal to ask on, so nothing was done.`, `Give the id: ${listed}`);
  }
  terminal.print(list);
  const answer = (await ask(`${which} Type its id, or nothing to leave all as it is: `)).trim();
  return answer === '' ? undefined : answer;
}
