import { createInterface } from 'node:readline';
import type { Cli } from './cli.ts';
import { UsageError } from './usage.ts';

/** Asks before something is lost. Where there is no terminal nobody can be asked, and a script has to say --yes. */
export async function confirmed({ terminal }: Cli, question: string, yes = false): Promise<boolean> {
  if (yes) return true;
  if (!terminal.interactive) {
    throw new UsageError(
      `${question} There is no terminal to ask on, so nothing was done.`,
      'Look at what is listed above and add --yes to go ahead.',
    );
  }
  const answer = await ask(`${question} [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return true;
  terminal.print('Nothing was changed.');
  return false;
}

/** Nothing where the question was not answered. */
export function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  return new Promise((resolve) => {
    // Ctrl-C and the end of input close the interface: neither is an answer.
    lines.once('close', () => resolve(''));
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}
