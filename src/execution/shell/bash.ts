import { findProgram } from '../find-program.ts';

/** The shell that commands are run by. The policy reads a command as bash does: no other shell may run what it has allowed. */
export type Bash =
  | { readonly found: true; readonly program: string }
  | { readonly found: false; readonly because: string; readonly wayOut: string };

/** `places`: see `trustedPlaces`. */
export async function findBash(places: readonly string[]): Promise<Bash> {
  const program = await findProgram('bash', places);
  if (program !== undefined) return { found: true, program };
  return {
    found: false,
    because: 'there is no bash, and commands are judged as bash reads them: no other shell runs them',
    wayOut: 'Install bash (apk add bash, apt-get install bash) where no command may write.',
  };
}

/**
 * The command line by which bash runs a text and reads nothing else first. `--`: a text that begins with a dash is no option.
 * That nothing in the environment changes what the text means is `scrubEnvironment`'s business.
 */
export function bashLine(program: string, text: string): readonly [string, ...string[]] {
  return [program, '--norc', '--noprofile', '-c', '--', text];
}
