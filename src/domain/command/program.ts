import { commandsOf } from './parse.ts';

/** Commands of the shell itself that only prepare the ground: `cd /srv && git pull` is about git. */
const PREPARATIONS: ReadonlySet<string> = new Set(
  'cd pushd popd set unset export declare typeset local readonly shopt umask ulimit alias trap source . : true'.split(
    ' ',
  ),
);

/**
 * The program a command line is about: the first that does the work, without `sudo`, `env`, `timeout`, assignments or a
 * directory in front. Undefined where the text does not say (`$TOOL x`, nothing at all).
 */
export function programOf(command: unknown): string | undefined {
  const { commands } = commandsOf(command);
  const first = commands.find(({ program }) => !PREPARATIONS.has(program)) ?? commands[0];
  return first?.literal === true && first.program !== '' ? first.program : undefined;
}
