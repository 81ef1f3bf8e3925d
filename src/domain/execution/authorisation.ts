import { covers } from '../files/file-rules.ts';
import type { Access } from '../files/file-rules.ts';
import { compilePathGlob } from '../files/path-glob.ts';
import type { PathGlob } from '../files/path-glob.ts';
import { foldCase, isWithin, namesOf } from '../files/path-text.ts';
import { matchesGlob } from '../key/glob.ts';
import type { Takes } from '../policy/paths/paths.ts';
import type { AuthorisationSection } from './execution.schema.ts';

/** What the rules see of a call. */
export interface AuthorisedCall {
  readonly tool: string;
  readonly server: string;
  /** The sub-agent that calls; undefined for the agent itself. */
  readonly caller: string | undefined;
  /** Absolute, of arguments and of what a command names. `known` is false where a part of it is not. */
  readonly paths: readonly CalledPath[];
  /** Real paths: what a pattern without a leading slash begins below. */
  readonly roots: readonly string[];
  /** Whether the file system takes `.ENV` for `.env`. */
  readonly ignoreCase: boolean;
}

export interface CalledPath {
  readonly path: string;
  readonly access: Access;
  readonly known: boolean;
  /** A word that may be a path, and then one that is read or, by its access, written; whether it is one the files tell. */
  readonly isGuess?: true;
  /** There is nothing of this name: a guess at what may be made. It may be denied; allowing it says nothing. */
  readonly isAbsent?: true;
  /** Touched only if one of these directories cannot be entered. */
  readonly unless?: readonly string[];
  /**
   * What a link at its end stands for, if not what it leads to: itself, where it is moved or taken away; where nobody can tell
   * which, both are held to the rules.
   */
  readonly link?: 'itself' | 'either';
  /** It is taken away from where it is. */
  readonly isTaken?: true;
  /** Where a command is run: to be there is to read nothing, so that it needs not be among what is allowed. */
  readonly isPlace?: true;
  /** What lies below it is touched as well. */
  readonly takes?: readonly Takes[];
}

export interface Authorisation {
  readonly effect: 'allow' | 'deny';
  /** Whether a rule says so, and not the default. */
  readonly isByRule: boolean;
  readonly because: string;
  /** Whether the call is to be confined by the operating system. */
  readonly requiresSandbox: boolean;
}

/** Names under which agents know the same tool. */
const ALSO_KNOWN_AS: ReadonlyMap<string, readonly string[]> = new Map([
  ['shell', ['bash', 'sh']],
  ['bash', ['shell', 'sh']],
]);

/**
 * The first rule that matches decides, else the default. A rule that names paths allows only what stays within them, and
 * denies whatever touches one of them: a second, harmless path changes neither.
 */
export function authorise(section: AuthorisationSection, call: AuthorisedCall): Authorisation {
  if (!section.enabled)
    return { effect: 'allow', isByRule: false, because: 'no authorisation rules are in force', requiresSandbox: false };
  const index = section.rules.findIndex((rule) => matches(rule, call));
  const rule = section.rules[index];
  if (rule === undefined) {
    const because = `no authorisation rule names this call, and the default is ${section.default}`;
    return { effect: section.default, isByRule: false, because, requiresSandbox: false };
  }
  const because = `authorisation rule ${index + 1} says ${rule.action}`;
  return { effect: rule.action, isByRule: true, because, requiresSandbox: rule.sandbox === 'required' };
}

function matches(rule: AuthorisationSection['rules'][number], call: AuthorisedCall): boolean {
  const names = [call.tool, `${call.server}/${call.tool}`, ...(ALSO_KNOWN_AS.get(call.tool) ?? [])];
  if (!rule.tools.some((pattern) => names.some((name) => matchesGlob(pattern, name, { ignoreCase: true }))))
    return false;
  if (rule.callers !== undefined && !rule.callers.some((pattern) => matchesGlob(pattern, call.caller ?? '')))
    return false;
  if (rule.paths === undefined) return true;
  const globs = globsOf(rule.paths, call);
  const isDeny = rule.action === 'deny';
  const isNamed = ({ path, known }: CalledPath) => known && globs.some((glob) => isAbout(glob, path, call, isDeny));
  if (isDeny) return call.paths.some(isNamed);
  const present = call.paths.filter(({ isAbsent }) => isAbsent !== true);
  return present.length > 0 && present.every(isNamed);
}

const compiled = new WeakMap<readonly string[], readonly PathGlob[]>();

/** Compiled once: where a directory is searched, each file in it is asked about. Whether case counts is the same for all of a process. */
function globsOf(patterns: readonly string[], { ignoreCase }: AuthorisedCall): readonly PathGlob[] {
  const known = compiled.get(patterns);
  if (known !== undefined) return known;
  const globs = patterns.map((pattern) => compilePathGlob(pattern, { ignoreCase }));
  compiled.set(patterns, globs);
  return globs;
}

/** As with the file rules: what denies is held against the whole path as well, what allows only against what lies below a root. */
function isAbout(glob: PathGlob, given: string, { roots, ignoreCase }: AuthorisedCall, isDeny: boolean): boolean {
  const folded = (text: string) => (ignoreCase ? foldCase(text) : text);
  const path = folded(given);
  if ((glob.absolute || isDeny) && covers(glob, namesOf(path))) return true;
  if (glob.absolute) return false;
  const around = roots.map(folded).filter((root) => isWithin(root, path));
  const innermost = around.sort((one, other) => other.length - one.length).slice(0, isDeny ? undefined : 1);
  return innermost.some((root) => covers(glob, namesOf(path.slice(root.length))));
}
