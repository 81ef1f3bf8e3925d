import type { CommandPath } from './paths/paths.ts';
import type { TrustLevel, Verdict } from './policy.ts';

/** Why a command is not simply allowed, and which part of it. Positions count UTF-16 units of the command. */
export interface Reason {
  readonly because: string;
  readonly verdict: Verdict;
  readonly start: number;
  readonly end: number;
  /** The entry of a list in the rules, or of a built-in list. */
  readonly rule?: string;
  /** Nobody can lift this: no trust, no grant, no approval, no break glass. */
  readonly unconditional?: true;
}

export interface Judgement {
  readonly verdict: Verdict;
  /** A deny that nobody can lift. */
  readonly unconditional: boolean;
  readonly trust: TrustLevel;
  /** The weightiest first; those of an allowed command say which rule allows it. */
  readonly reasons: readonly Reason[];
  /** Every program it would run, wrappers included, as far as its text tells. */
  readonly programs: readonly string[];
  /** Every file it names, for the file rules. */
  readonly paths: readonly CommandPath[];
  /** Words that may name files, if there are such files. */
  readonly guesses: readonly CommandPath[];
  /** Where it changes to: a relative path may begin in any of these as well. */
  readonly directories: readonly string[];
}
