import { doubt, type Consequence } from './consequence.ts';

/** Programs that we follow by ourselves, or that are as plain as their names say. */
const EVERYDAY =
  /^(?:(?:|cat|less|more|true|false|:|vim?|nvim|nano|delta|gzip|pigz|bzip2|xz|zstd|lz4)(?: -[\w.=-]+)*|ssh(?: [\w.=/:@,~-]+)*)$/;

/** A command that a program is told to run by an argument or a variable: followed, and doubted unless it is an everyday one. */
export function namedCommand(text: string, because: string): readonly Consequence[] {
  const script: Consequence = { type: 'script', text };
  return isEveryday(text) ? [script] : [script, ...doubt(because)];
}

export function isEveryday(command: string): boolean {
  return EVERYDAY.test(command);
}
