import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Access } from '../domain/files/file-rules.ts';
import { decidePath, KEPT_RULE } from '../domain/files/file-rules.ts';
import { flawOfPath, isWithin, namesOf, withoutDots } from '../domain/files/path-text.ts';
import type { LocateOptions } from './files/locate.ts';
import type { FileSandbox } from './files/sandbox.ts';
import type { TouchedPath } from './paths.ts';

/** What every program may name: its headers, its libraries, other programs. Nobody keeps secrets there. */
const EVERYDAY = /^\/(?:usr|bin|sbin|lib|lib32|lib64|nix\/store|opt|Library|System|Applications)(?:\/|$)/;

export type Touch = (path: string, access: Access) => Promise<TouchedPath>;

/**
 * A word that may be a path. It counts if it is there, or could be written: its directory is there and is not the top. What it
 * reaches of Surety's own is refused; what the rules refuse otherwise is asked about, because it may be a mere word.
 */
export async function guessedPath(
  files: FileSandbox,
  path: string,
  access: Access,
  { touch, followLast }: LocateOptions & { readonly touch: Touch },
): Promise<TouchedPath | undefined> {
  if (flawOfPath(path) !== undefined) return undefined;
  const exists = await isThere(path);
  if (!exists && (access === 'read' || !(await couldBeMade(path)))) return undefined;
  let asRead: TouchedPath | undefined;
  for (const each of access === 'write' ? (['read', 'write'] as const) : (['read'] as const)) {
    const touched = await touch(path, each);
    asRead ??= touched;
    const { refusal, known } = touched;
    if (refusal === undefined) {
      if (!known) return { ...touched, isGuess: true };
      continue;
    }
    if (isOwn(files, refusal.because, touched.path)) return { ...touched, isGuess: true };
    if (refusal.category !== 'policy_blocked' && refusal.category !== 'invalid_parameters') continue;
    if (isOfNoConcern(files, await realPath(path, followLast), each, exists)) continue;
    const question = `this may ${each} ${path}: ${refusal.because}`;
    return { ...touched, isGuess: true, refusal: undefined, question };
  }
  if (asRead === undefined) return undefined;
  const guessed = { ...asRead, isGuess: true, refusal: undefined } as const;
  if (exists) return guessed;
  return looksLikeAFile(files, asRead.path) ? { ...guessed, access, isAbsent: true } : undefined;
}

/** `dist/x`, `x.tar`; a bare word is seldom the name of what will be made. */
function looksLikeAFile({ base }: FileSandbox, path: string): boolean {
  return dirname(path) !== base || basename(path).includes('.');
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function couldBeMade(path: string): Promise<boolean> {
  const above = dirname(path.replace(/\/+/g, '/').replace(/\/$/, ''));
  return withoutDots(above) !== '/' && (await isThere(above));
}

/** One of Surety's own files itself; a directory that merely holds one is asked about. */
function isOwn({ rules }: FileSandbox, because: string, path: string): boolean {
  return (
    because.endsWith(`(${KEPT_RULE})`) &&
    !rules.roots.some((root) => isWithin(path, root)) &&
    !because.includes(' reaches ')
  );
}

function realPath(path: string, followLast: boolean): Promise<string> {
  const real = followLast ? realpath(path) : realpath(dirname(path)).then((above) => join(above, basename(path)));
  return real.catch(() => path);
}

function isOfNoConcern({ rules }: FileSandbox, real: string, access: Access, exists: boolean): boolean {
  const { rule } = decidePath(rules, access, real);
  if (rule === 'roots') return EVERYDAY.test(real) && !isDenied(rules, access, real);
  // A list of what may be written says nothing about words that are no files: `npm test`.
  return rule === 'allowWrite' && !exists && !/[./]/.test(namesOf(real).at(-1) ?? '');
}

function isDenied(rules: FileSandbox['rules'], access: Access, path: string): boolean {
  return decidePath({ ...rules, roots: ['/'] }, access, path).rule.startsWith('deny');
}
