import { holdsHome } from '../command/pillars.ts';
import { matchesPath } from './path-glob.ts';
import type { PathGlob } from './path-glob.ts';
import { foldCase, isWithin, namesOf } from './path-text.ts';

export type Access = 'read' | 'write';

/** Why the rules about who may call what deny a path; `byRule`: if one of them names it, and not because none does. */
export type Unauthorised = (access: Access, path: string, byRule?: true) => string | undefined;

/** What may be touched. Roots are real paths: absolute, without links and dots. */
export interface FileRules {
  readonly roots: readonly string[];
  /** Never touched, whatever the lists say, with all that lies in them. Real paths, too. */
  readonly kept: readonly string[];
  /** Read like any other, never written: the rules themselves. */
  readonly fixed: readonly string[];
  readonly deny: Readonly<Record<Access, readonly PathGlob[]>>;
  readonly allow: Readonly<Record<Access, readonly PathGlob[]>>;
  /** Where the file system takes `.ENV` for `.env`, the rules must as well. */
  readonly ignoreCase: boolean;
  /** Why the rules about who may call what deny it: they see what a call names, and this is asked of what it finds there. */
  readonly unauthorised?: Unauthorised;
}

export interface PathDecision {
  readonly verdict: 'allow' | 'deny';
  readonly because: string;
  /** What decided: `roots`, `kept`, or the list and the pattern in it. */
  readonly rule: string;
}

/** No list in surety.json has this name, and none lifts it. */
export const KEPT_RULE = 'kept';

/**
 * Whether a real path may be read or written: within a root, none of Surety's own, then no deny pattern, then, if there
 * are any, an allow pattern. A pattern that matches a directory covers what lies in it. In doubt the stricter reading holds: a deny
 * pattern is held against the whole path, an allow pattern only against what lies below the root.
 */
export function decidePath(rules: FileRules, access: Access, path: string): PathDecision {
  const root = innermostRoot(rules, path);
  if (root === undefined) {
    return { verdict: 'deny', because: `${path} lies outside of ${rules.roots.join(', ')}`, rule: 'roots' };
  }
  const own = access === 'read' ? rules.kept : [...rules.kept, ...rules.fixed];
  if (own.some((each) => isWithin(folded(rules, each), folded(rules, path)))) return ownFile(path);
  const key = access === 'read' ? 'Read' : 'Write';
  const seen = waysToSee(rules, path);
  const denied = rules.deny[access].find((glob) => seen.some((names) => covers(glob, names)));
  if (denied !== undefined) {
    return { verdict: 'deny', because: `${path} is denied`, rule: `deny${key} ${denied.source}` };
  }
  const unauthorised = rules.unauthorised?.(access, path);
  if (unauthorised !== undefined)
    return { verdict: 'deny', because: `${path}: ${unauthorised}`, rule: 'authorization' };
  const allow = rules.allow[access];
  if (allow.length === 0) return { verdict: 'allow', because: `${path} lies within ${root}`, rule: 'roots' };
  const [whole, below] = [namesIn(rules, path), namesIn(rules, path.slice(root.length))];
  const allowed = allow.find((glob) => covers(glob, glob.absolute ? whole : below));
  if (allowed === undefined) {
    return { verdict: 'deny', because: `${path} is not among what allow${key} names`, rule: `allow${key}` };
  }
  return { verdict: 'allow', because: `${path} is allowed`, rule: `allow${key} ${allowed.source}` };
}

export function ownFile(path: string): PathDecision {
  return { verdict: 'deny', because: `${path} is one of Surety's own files`, rule: KEPT_RULE };
}

/** What deny patterns are held against: the whole path, and what lies below each root. */
export function waysToSee(
  rules: Pick<FileRules, 'roots' | 'ignoreCase'>,
  path: string,
): readonly (readonly string[])[] {
  const belows = rules.roots.filter((root) => isWithin(root, path)).map((root) => path.slice(root.length));
  return [path, ...belows].map((each) => namesIn(rules, each));
}

function namesIn(rules: Pick<FileRules, 'ignoreCase'>, path: string): readonly string[] {
  return namesOf(folded(rules, path));
}

function folded({ ignoreCase }: Pick<FileRules, 'ignoreCase'>, path: string): string {
  return ignoreCase ? foldCase(path) : path;
}

/** Why nobody moves or deletes what lies here, whatever else the rules say: a root, or what takes the machine or a home along. */
export function refusalToTake({ roots }: Pick<FileRules, 'roots'>, path: string): PathDecision | undefined {
  const root = roots.find((each) => isWithin(path, each));
  if (root !== undefined) return { verdict: 'deny', because: `${root} is a root and stays where it is`, rule: 'roots' };
  if (!holdsHome(path)) return undefined;
  return { verdict: 'deny', because: `without ${path} the system, or a home, would be gone`, rule: 'harm' };
}

/** The rules for a place that somebody only stands in: it is no secret, and lies within the roots. */
export function toStandIn(rules: FileRules): FileRules {
  return { ...rules, allow: { read: [], write: [] } };
}

/** The smallest root that holds a path. */
export function innermostRoot(rules: Pick<FileRules, 'roots'>, path: string): string | undefined {
  return rules.roots.filter((root) => isWithin(root, path)).sort((a, b) => b.length - a.length)[0];
}

/** Whether it matches the path itself, or a directory above it. */
export function covers(glob: PathGlob, names: readonly string[]): boolean {
  for (let length = names.length; length >= 0; length -= 1) {
    if (matchesPath(glob, names.slice(0, length))) return true;
  }
  return false;
}
