import type { Script } from 'unbash';
import type { Field } from '../../command/expand.ts';
import type { CommandPath } from '../paths/paths.ts';

/** Where in the command line something stands; for text inside a quoted script, where that script stands. */
export interface Site {
  readonly start: number;
  readonly end: number;
}

/** One program that a command line runs, wrappers such as `env` included: each is a run of its own. */
export interface Run extends Site {
  /** Without directory and `.exe`, in lower case: some file systems do not tell `SUDO` from `sudo`. */
  readonly program: string;
  readonly name: Field;
  readonly args: readonly Field[];
  readonly through: readonly string[];
  /** A guess: another program was given what looks like a command. */
  readonly maybe: boolean;
  /** The runner that starts it, `npx` or the like: a rule that allows that one names this one, too. */
  readonly by: Run | undefined;
}

/** Something that the text alone does not tell. An allow rule for the run lifts it, if it belongs to one. */
export interface Doubt extends Site {
  readonly because: string;
  readonly run?: Run;
}

/** A way to write commands within commands. */
export type Construct = '$(' | '`' | '<(' | '>(' | '<<<';

/** Everything a command line says it would do. */
export interface Reading {
  /** As it was parsed, if it was. */
  readonly script?: Script;
  readonly runs: readonly Run[];
  readonly doubts: readonly Doubt[];
  readonly constructs: readonly (Site & { readonly construct: Construct })[];
  /** Files, by what is known of the programs. */
  readonly paths: readonly CommandPath[];
  /** Words that may name files: what is there decides. */
  readonly guesses: readonly CommandPath[];
  /** There is more to it than anybody looks at, and what may not run or be touched may be among what is left out. */
  readonly isFlooded: boolean;
  /** Parts of it are not read as bash would read them: it may run whatever it names. */
  readonly isMisread: boolean;
  /** The shell would not read it to its end. */
  readonly isBroken: boolean;
  /** Where a word is hidden in what looks like a redirection. */
  readonly hidden: readonly Site[];
  /** The directories that it changes to, seen from where it begins. */
  readonly directories: readonly string[];
  readonly forkBombs: readonly Site[];
  /** Where the shell itself talks to another machine. */
  readonly connections: readonly Site[];
}
