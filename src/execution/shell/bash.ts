import { findProgram } from '../find-program.ts';

/** The shell that commands are run by. The policy reads a command as bash does: no other shell may run what it has allowed. */
export type Bash =
  | { readonly found: true; readonly program: string }
  | { readonly found: false; readonly because: string; readonly wayOut: string };

/** Where systems keep their own; one that happens to come first on a search path is the last to be taken. */
const PLACES = ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin', '/run/current-system/sw/bin'];

export async function findBash(searchPath: readonly string[], places: readonly string[] = PLACES): Promise<Bash> {
  const looked = [...places, ...searchPath.filter((directory) => directory.startsWith('/'))];
  const program = await findProgram('bash', looked);
  if (program !== undefined) return { found: true, program };
  return {
    found: false,
    because: 'there is no bash, and commands are judged as bash reads them: no other shell runs them',
    wayOut: 'Install bash (apk add bash, apt-get install bash) in one of the directories of PATH.',
  };
}

/**
 * The command line by which bash runs a text and reads nothing else first. `--`: a text that begins with a dash is no option.
 * That nothing in the environment changes what the text means is `scrubEnvironment`'s business.
 */
export function bashLine(program: string, text: string): readonly [string, ...string[]] {
  return [program, '--norc', '--noprofile', '-c', '--', text];
}
