import { access as mayAccess, constants, lstat, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import type { CalledPath } from '../domain/execution/authorisation.ts';
import type { ErrorCategory } from '../domain/execution/errors.ts';
import { decidePath, KEPT_RULE, toStandIn } from '../domain/files/file-rules.ts';
import type { Access, FileRules, PathDecision } from '../domain/files/file-rules.ts';
import { isWithin, namesOf, withoutDots } from '../domain/files/path-text.ts';
import { checkPath } from './files/check.ts';
import type { LocateOptions } from './files/locate.ts';
import type { FileSandbox } from './files/sandbox.ts';
import { isGlob, matchesOf } from './glob-matches.ts';
import { guessedPath } from './guessed-paths.ts';
import type { Touch } from './guessed-paths.ts';
import { entriesBelow, linksBelow } from './links-below.ts';

/** Devices that are no files: reading them tells nothing, writing them changes nothing. */
const HARMLESS = /^\/dev\/(?:null|zero|full|u?random|stdin|stdout|stderr|tty|fd\/\d+)$/;
/** Each holds the directories on its way, and a process may hold about a thousand. */
const LOOKED_UP_AT_ONCE = 32;
/** More words than this nobody looks up. */
const MOST_GUESSES = 500;

export interface TouchedPath extends CalledPath {
  /** Why it may not, or cannot, be touched; undefined where it may. */
  readonly refusal: { readonly because: string; readonly category: ErrorCategory } | undefined;
  /** What a person has to be asked about it. */
  readonly question?: string;
}

/**
 * Where the paths of a call really lead, and whether they may be touched. By the same walk that the file tools take; what
 * changes between this and the run only a sandbox stops.
 */
export async function touchedPaths(files: FileSandbox, paths: readonly CalledPath[]): Promise<readonly TouchedPath[]> {
  const entered = new Map<string, Promise<boolean>>();
  const isEntered = (path: string) => {
    const known = entered.get(path) ?? isDirectory(path.replace(/^~(?=\/|$)/, homedir()));
    entered.set(path, known);
    return known;
  };
  const seen = new Set<string>();
  const wanted: CalledPath[] = [];
  let guesses = 0;
  for (const called of paths) {
    const key = `${called.access} ${called.known} ${called.isGuess} ${called.link} ${called.path}`;
    if (HARMLESS.test(called.path) || seen.has(key)) continue;
    if (called.unless !== undefined && (await some(called.unless, isEntered))) continue;
    seen.add(key);
    guesses += called.isGuess === true ? 1 : 0;
    if (called.isGuess !== true || guesses <= MOST_GUESSES) wanted.push(called);
  }
  const touched = await Promise.all(wanted.map((called) => touchedBy(files, called)));
  const unseen: TouchedPath[] =
    guesses > MOST_GUESSES ? [{ path: files.base, access: 'write', known: false, refusal: undefined }] : [];
  return [...touched.flat(), ...unseen];
}

async function some(paths: readonly string[], test: (path: string) => Promise<boolean>): Promise<boolean> {
  for (const path of paths) if (await test(path)) return true;
  return false;
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    await mayAccess(path, constants.X_OK);
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

async function touchedBy(files: FileSandbox, called: CalledPath): Promise<readonly TouchedPath[]> {
  const { path: given, access, known, isGuess } = called;
  // Where another user's home lies is not for a text to say.
  if (!known || /^~[^/]/.test(given)) return [{ ...called, known: false, refusal: undefined }];
  const path = below(files.base, given.replace(/^~(?=\/|$)/, homedir()));
  if (isScratch(files, path)) return [{ path, access, known, refusal: undefined }];
  const held = called.isPlace === true ? { ...files, rules: toStandIn(files.rules) } : files;
  const look = async (each: string) => {
    const ways = await waysToTake(each, called);
    return compact(
      await Promise.all(
        ways.map((followLast) => {
          const touchIt: Touch = (at, by) => touch(held, at, called.isTaken === true ? 'delete' : by, { followLast });
          return isGuess === true
            ? guessedPath(files, each, access, { touch: touchIt, followLast })
            : touchIt(each, access);
        }),
      ),
    );
  };
  const lookInto = async (each: string) => {
    const found = await look(each);
    const below = (called.takes ?? []).map((way) =>
      way === 'links' ? ledTo(files, each) : deniedBelow(files, each, way),
    );
    return [...found, ...(await Promise.all(below)).flat()];
  };
  if (!isGlob(path)) return lookInto(path);
  const before = await look(beforeGlob(path));
  if (before.some(({ refusal, question }) => refusal !== undefined || question !== undefined)) return before;
  const matches = await matchesOf(path);
  if (matches === undefined) return [{ path, access, known: false, refusal: undefined }];
  // What matches nothing is handed on as it is written.
  return (await Promise.all((matches.length === 0 ? [path] : matches).map(lookInto))).flat();
}

/**
 * What a rule keeps from being read below a directory that is handed on whole: under another name it would not be kept. What is only
 * shown a sandbox covers; without one it is asked about, as the program may have been told to leave it out.
 */
async function deniedBelow(
  files: FileSandbox,
  directory: string,
  takes: 'copied' | 'moved' | 'shown',
): Promise<readonly TouchedPath[]> {
  const { rules } = files;
  if (takes === 'shown' && files.isCovered === true) return [];
  if (rules.deny.read.length + rules.deny.write.length + rules.allow.read.length === 0) return [];
  const entries = await entriesBelow(await realpath(directory).catch(() => directory));
  const question = `nobody can look through all of ${directory} for what rules keep`;
  if (entries === undefined) return [{ path: directory, access: 'read', known: true, refusal: undefined, question }];
  // What has been moved could be written under its new name.
  const ways: readonly Access[] = takes === 'moved' ? ['read', 'write'] : ['read'];
  for (const path of entries) {
    const decision = ways.map((way) => decidePath(rules, way, path)).find(isDenied);
    if (decision === undefined) continue;
    const { because, rule } = decision;
    const found = { path, access: 'read', known: true } as const;
    return takes === 'shown'
      ? [{ ...found, refusal: undefined, question: `this may show ${because} (${rule})` }]
      : [{ ...found, refusal: { because, category: 'policy_blocked' } }];
  }
  return [];
}

function isDenied({ verdict }: PathDecision): boolean {
  return verdict === 'deny';
}

/** What the links below a directory lead to. A command may pass them by: they are guesses. */
async function ledTo(files: FileSandbox, directory: string): Promise<readonly TouchedPath[]> {
  const links = await linksBelow(directory, (path) => files.rules.roots.some((root) => isWithin(root, path)));
  if (links === undefined) {
    const question = `nobody can look through all of ${directory} for links that it would follow`;
    return [{ path: directory, access: 'read', known: true, refusal: undefined, question }];
  }
  const touchIt: Touch = (at, by) => touch(files, at, by, { followLast: true });
  // Most lead to what may be read, many to the same: the rules tell that without a walk.
  const open = new Set<string>();
  const others: string[] = [];
  for (const { path, real } of links) {
    if (real !== undefined && decidePath(files.rules, 'read', real).verdict === 'allow') open.add(real);
    else others.push(path);
  }
  const found = Array.from(open, (path): TouchedPath => {
    return { path, access: 'read', known: true, isGuess: true, refusal: undefined };
  });
  for (let at = 0; at < others.length; at += LOOKED_UP_AT_ONCE) {
    const some = others.slice(at, at + LOOKED_UP_AT_ONCE);
    const guesses = some.map((link) => guessedPath(files, link, 'read', { touch: touchIt, followLast: true }));
    found.push(...compact(await Promise.all(guesses)));
  }
  return found;
}

/** Whether a link at the end is followed: yes, no, or both have to be allowed. */
async function waysToTake(path: string, { link, access }: CalledPath): Promise<readonly boolean[]> {
  if (link === undefined) return [true];
  if (link === 'itself') return [false];
  const isLink = access === 'write' && (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true;
  return isLink ? [true, false] : [true];
}

/** Unless one of our own directories lies there as well, or the path leads out again. */
function isScratch({ scratch, rules }: FileSandbox, path: string): boolean {
  if (scratch === undefined || !isWithin(scratch, path) || namesOf(path).includes('..')) return false;
  const certain = isGlob(path) ? beforeGlob(path).replace(/\/$/, '') : path;
  const others = [...rules.roots, ...rules.kept, ...rules.fixed];
  return !others.some((each) => isWithin(each, path) || isWithin(certain, each));
}

function beforeGlob(path: string): string {
  return path.slice(0, path.lastIndexOf('/', path.search(/[*?[]/)) + 1);
}

function compact(paths: readonly (TouchedPath | undefined)[]): readonly TouchedPath[] {
  return paths.filter((each) => each !== undefined);
}

async function touch(
  files: FileSandbox,
  path: string,
  operation: Access | 'delete',
  options: LocateOptions,
): Promise<TouchedPath> {
  const found = await checkPath(files, operation, path, options);
  const real = found.path ?? path;
  const known = true;
  const access = operation === 'read' ? 'read' : 'write';
  if (found.verdict === 'deny') {
    // `made-by-then/../x`: where that leads is known once it is there. Probably it is what the text says. `made-by-then/./x` surely is.
    const dots = found.category === 'permanent_failure' ? namesOf(path).filter((name) => /^\.\.?$/.test(name)) : [];
    if (dots.length > 0) {
      const meant = await touch(files, withoutDots(path), operation, options);
      return dots.includes('..') ? { ...meant, known: false } : meant;
    }
    const { because, rule, category } = found;
    const words = category === 'policy_blocked' ? `${because} (${rule})` : because;
    return { path: real, access, known, refusal: { because: words, category } };
  }
  if (!holdsKept(files.rules, access, real)) return { path: real, access, known, refusal: undefined };
  const because = `${path} reaches Surety's own files (${KEPT_RULE})`;
  return { path: real, access, known, refusal: { because, category: 'policy_blocked' } };
}

/** Joined, not resolved: `x/..` is not where one was if x is a link. */
export function below(directory: string, path: string): string {
  return path.startsWith('/') ? path : `${directory}/${path}`;
}

/** Whoever moves a directory away moves what is in it. A root itself does not move. */
function holdsKept({ kept, fixed, roots }: FileRules, access: CalledPath['access'], path: string): boolean {
  return access === 'write' && !roots.includes(path) && [...kept, ...fixed].some((each) => isWithin(path, each));
}
