import { readlink } from 'node:fs/promises';
import { decidePath, innermostRoot, refusalToTake } from '../../domain/files/file-rules.ts';
import type { Access } from '../../domain/files/file-rules.ts';
import { flawOfPath, namesOf, withoutDots } from '../../domain/files/path-text.ts';
import { codeOf } from '../../problem.ts';
import { holdIn, holdTop } from './handle.ts';
import type { Held } from './handle.ts';
import { refusalOfKept, requireNoKeptLink } from './kept.ts';
import { blocked, failed, invalid } from './refusal.ts';
import type { Refused } from './refusal.ts';
import type { FileSandbox } from './sandbox.ts';

/** As many links as Linux follows in one path. */
const MOST_LINKS = 40;
/** Each is held while the next is looked for, and a process may hold about a thousand. */
const MOST_NAMES = 256;

/** Where a path leads: a directory that is held, and a name in it that is held too if it exists. */
export interface Place {
  /** Absolute, without links and dots: what the rules are about. */
  readonly path: string;
  readonly parent: Held;
  readonly name: string;
  /** Undefined where there is nothing yet. */
  readonly node: Held | undefined;
  /** Names below `parent` that do not exist, the last one being the path's own; empty where the path exists. */
  readonly absent: readonly string[];
}

export interface LocateOptions {
  /** Whether a link at the end stands for what it leads to; deleting and moving are about the link itself. */
  readonly followLast: boolean;
}

/**
 * Finds where a path leads, name by name, each looked up in a directory that is held; links are read and followed here,
 * never by the system. Refuses what does not end within a root, lies on another mount, or moves while it is looked at.
 */
export async function withPlace<T>(
  sandbox: FileSandbox,
  path: string,
  options: LocateOptions,
  use: (place: Place) => Promise<T>,
): Promise<T> {
  const flaw = flawOfPath(path);
  if (flaw !== undefined) throw invalid(flaw);
  const held: Held[] = [];
  const keep = <H extends Held>(found: H): H => {
    held.push(found);
    return found;
  };
  const told = outsideOf(sandbox, path);
  try {
    const place = await locate(sandbox, path, { ...options, told }, keep);
    await requireWithin(sandbox, place, told);
    if (place.node !== undefined) await requireNoKeptLink(sandbox, place.node, place.path);
    return await use(place);
  } finally {
    await Promise.all(held.map((each) => each.close()));
  }
}

/** Refuses what the rules deny; on paths that `withPlace` has found. */
export function requireAccess(sandbox: FileSandbox, path: string, ...accesses: readonly Access[]): void {
  for (const access of accesses) {
    const { verdict, because, rule } = decidePath(sandbox.rules, access, path);
    if (verdict === 'deny') throw blocked(because, rule);
  }
}

/** Refuses what stays where it is. */
export function requireTakeable({ rules }: FileSandbox, path: string): void {
  const refusal = refusalToTake(rules, path);
  if (refusal !== undefined) throw blocked(refusal.because, refusal.rule);
}

type Keep = <H extends Held>(found: H) => H;

async function locate(
  sandbox: FileSandbox,
  path: string,
  { followLast, told }: LocateOptions & { readonly told: Outside },
  keep: Keep,
): Promise<Place> {
  const { anchoring } = sandbox;
  const pending = namesOf(path.startsWith('/') ? path : `${sandbox.base}/${path}`);
  if (pending.length > MOST_NAMES) throw invalid(`the path has more than ${MOST_NAMES} names`);
  const mustBeDirectory = /\/\.{0,2}$/.test(path);
  let current = keep(await holdTop(anchoring));
  let links = 0;
  for (;;) {
    const name = pending.shift();
    if (name === undefined) return placeOfDirectory(current, sandbox, keep);
    if (name === '.') continue;
    const isLast = pending.length === 0;
    let next: Held;
    try {
      next = keep(await holdIn(current, name, anchoring));
    } catch (error) {
      const rest = [name, ...pending];
      const lexical = await lexicalPath(sandbox, current, rest, told);
      if (codeOf(error) !== 'ENOENT') throw error;
      if (rest.some((part) => part === '..' || part === '.')) throw failed(`${lexical}: no such file or directory`);
      return { path: lexical, parent: current, name, node: undefined, absent: rest };
    }
    const own = refusalOfKept(sandbox, next, path);
    if (own !== undefined) throw own;
    if (next.stats.isSymbolicLink() && (!isLast || followLast || mustBeDirectory)) {
      links += 1;
      if (links > MOST_LINKS) throw failed(`${path}: too many links`);
      const target = await readlink(`${current.at}/${name}`).catch((error: unknown) => {
        // It was a link a moment ago. Whatever it is now is looked at again.
        if (codeOf(error) === 'EINVAL') return name;
        throw error;
      });
      if (target.startsWith('/')) current = keep(await holdTop(anchoring));
      pending.unshift(...namesOf(target));
    } else if (next.stats.isDirectory()) {
      if (isLast && name !== '..') return atEnd(current, name, next);
      current = next;
    } else if (isLast && !mustBeDirectory) return atEnd(current, name, next);
    else throw failed(`${await lexicalPath(sandbox, current, [name, ...pending], told)}: not a directory`);
  }
}

async function atEnd(parent: Held, name: string, node: Held): Promise<Place> {
  const above = await parent.realPath();
  return { path: above === '/' ? `/${name}` : `${above}/${name}`, parent, name, node, absent: [] };
}

/** A path that ended in dots, or is the top itself. */
async function placeOfDirectory(node: Held, { anchoring }: FileSandbox, keep: Keep): Promise<Place> {
  const path = await node.realPath();
  const parent = keep(await holdIn(node, '..', anchoring));
  return { path, parent, name: path.slice(path.lastIndexOf('/') + 1), node, absent: [] };
}

/** What was found must be where its parent says it is, below a root, and on that root's mount. */
async function requireWithin(sandbox: FileSandbox, { path, parent, node }: Place, told: Outside): Promise<void> {
  const root = innermostRoot(sandbox.rules, path);
  if (root === undefined) throw told(path);
  if (node !== undefined && (await node.realPath()) !== path) throw failed(`${path} is being changed; try again`);
  if (sandbox.mounts.get(root) !== (await (node ?? parent).mount())) {
    throw blocked(`${path} lies on another mount than ${root}; name it as a root of its own`, 'roots');
  }
}

/** Where the rest of a path would lead if nothing in it were a link. What exists outside of the roots is not told. */
async function lexicalPath(
  sandbox: FileSandbox,
  current: Held,
  rest: readonly string[],
  told: Outside,
): Promise<string> {
  const path = withoutDots(`${await current.realPath()}/${rest.join('/')}`);
  if (innermostRoot(sandbox.rules, path) === undefined) throw told(path);
  return path;
}

type Outside = (real: string) => Refused;

/** Where a link of ours leads is told; where others lead is not: `/proc/1/cwd` says what somebody else is doing. */
function outsideOf({ rules, base }: FileSandbox, path: string): Outside {
  const asked = withoutDots(path.startsWith('/') ? path : `${base}/${path}`);
  const isOurs = innermostRoot(rules, asked) !== undefined;
  return (real) => blocked(`${isOurs ? real : asked} lies outside of ${rules.roots.join(', ')}`, 'roots');
}
