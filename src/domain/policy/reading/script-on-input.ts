import { parse } from 'unbash';
import { commandsIn } from './syntax.ts';

/** They read nothing from their input. */
const READS_NOTHING: ReadonlySet<string> = new Set(
  'echo printf ls cd pwd mkdir rmdir touch chmod chown export set true false : test [ exit sleep date uname whoami which'.split(
    ' ',
  ),
);

/**
 * Whether what a shell reads from its input may be read by a command in it as well: the shell goes on behind that, in the middle of a
 * quote, perhaps. `/dev/stdin` is that input, too.
 */
export function mayReadOn(script: string): boolean {
  return (
    /\/dev\/|\/proc\//.test(script) ||
    !commandsIn(parse(script)).every(({ name }) => name === undefined || READS_NOTHING.has(name.text))
  );
}

/** Whether a function of such a name may be called there in the place of what reads nothing. */
export function isAskedOnInput(name: string): boolean {
  return READS_NOTHING.has(name) || name === 'command_not_found_handle';
}
