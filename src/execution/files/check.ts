import type { Stats } from 'node:fs';
import { decidePath, ownFile, refusalToTake } from '../../domain/files/file-rules.ts';
import type { Access, PathDecision } from '../../domain/files/file-rules.ts';
import { hardLinksOf, kindOf } from './handle.ts';
import { linksInto } from './kept.ts';
import { withPlace } from './locate.ts';
import { answering } from './refusal.ts';
import type { FileRefusal } from './refusal.ts';
import type { FileSandbox } from './sandbox.ts';

/** What each operation needs of the path it is given; a copy or move needs `write` of where it goes to as well. */
const NEEDS = {
  read: ['read'],
  write: ['write'],
  edit: ['read', 'write'],
  copy: ['read'],
  move: ['read', 'write'],
  delete: ['write'],
  glob: ['read'],
  grep: ['read'],
} as const satisfies Readonly<Record<string, readonly Access[]>>;

export type FileOperation = keyof typeof NEEDS;
/** They are about a link itself, and a root stays. */
const TAKES_AWAY: ReadonlySet<FileOperation> = new Set(['move', 'delete']);
/** What there may be at the path; a name can be taken away whatever it is of. */
const isFile = (stats: Stats) => stats.isFile();
const isSearched = (stats: Stats) => stats.isFile() || stats.isDirectory();
const TAKES: Readonly<Record<FileOperation, (stats: Stats) => boolean>> = {
  ...{ read: isFile, write: isFile, edit: isFile, copy: isFile },
  ...{ glob: isSearched, grep: isSearched, move: () => true, delete: () => true },
};
export const FILE_OPERATIONS = Object.keys(NEEDS) as readonly FileOperation[];

interface FoundPath {
  /** Where the path leads; undefined if that is not told or not known. */
  readonly path: string | undefined;
  readonly exists: boolean;
  /** More than one: the same content goes by other names, perhaps outside of the roots. */
  readonly hardLinks: number | undefined;
  /** How firmly the answer is tied to what is opened. */
  readonly anchoring: FileSandbox['anchoring'];
}

interface DeniedPath extends PathDecision, FoundPath {
  readonly verdict: 'deny';
  /** `policy_blocked` where the rules say so, else why it would fail whatever they say. */
  readonly category: FileRefusal['category'];
}

export type PathCheck = DeniedPath | (PathDecision & FoundPath & { readonly verdict: 'allow' });

/** What an operation would be answered, without opening or changing anything. */
export async function checkOperation(sandbox: FileSandbox, operation: FileOperation, path: string): Promise<PathCheck> {
  const { check, stats } = await look(sandbox, operation, path, !TAKES_AWAY.has(operation));
  if (check.verdict === 'deny' || (stats !== undefined && TAKES[operation](stats))) return check;
  // As the operations themselves say it.
  const category = operation === 'copy' && stats !== undefined ? 'invalid_parameters' : 'permanent_failure';
  if (stats === undefined) {
    if (operation === 'write') return check;
    return {
      ...check,
      verdict: 'deny',
      because: `${check.path ?? path}: no such file or directory`,
      rule: category,
      category,
    };
  }
  const because = `${check.path ?? path} is ${kindOf(stats)}, which nobody can ${operation}`;
  return { ...check, verdict: 'deny', because, rule: category, category };
}

/** What the rules say of a path, whatever is there. */
export async function checkPath(
  sandbox: FileSandbox,
  operation: FileOperation,
  path: string,
  { followLast } = { followLast: !TAKES_AWAY.has(operation) },
): Promise<PathCheck> {
  return (await look(sandbox, operation, path, followLast)).check;
}

async function look(
  sandbox: FileSandbox,
  operation: FileOperation,
  path: string,
  followLast: boolean,
): Promise<{ readonly check: PathCheck; readonly stats?: Stats }> {
  const { anchoring } = sandbox;
  const found = await answering(() =>
    withPlace(sandbox, path, { followLast }, async (place) => {
      const decisions = NEEDS[operation].map((access) => decidePath(sandbox.rules, access, place.path));
      // Whoever writes to one of its names writes to all.
      const isWritten = place.node !== undefined && NEEDS[operation].some((access) => access === 'write');
      if (isWritten && (await linksInto(sandbox.rules.fixed)(place.node))) decisions.push(ownFile(place.path));
      const stays = TAKES_AWAY.has(operation) ? refusalToTake(sandbox.rules, place.path) : undefined;
      const decision = stays ?? decisions.find(({ verdict }) => verdict === 'deny') ?? decisions.at(-1);
      return { place: place.path, decision, node: place.node };
    }),
  );
  if (!found.ok || found.decision === undefined) {
    const because = found.ok ? 'nothing decides this operation' : found.because;
    const rule = found.ok ? 'none' : (found.rule ?? found.category);
    const category = found.ok ? 'policy_blocked' : found.category;
    const nowhere = { path: undefined, exists: false, hardLinks: undefined };
    return { check: { verdict: 'deny', because, rule, category, ...nowhere, anchoring } };
  }
  const { place, node } = found;
  const { verdict, because, rule } = found.decision;
  const hardLinks = node === undefined ? undefined : hardLinksOf(node.stats);
  const where = { path: place, exists: node !== undefined, hardLinks, anchoring };
  const check: PathCheck =
    verdict === 'deny'
      ? { verdict, because, rule, category: 'policy_blocked', ...where }
      : { verdict, because, rule, ...where };
  return { check, ...(node === undefined ? {} : { stats: node.stats }) };
}
