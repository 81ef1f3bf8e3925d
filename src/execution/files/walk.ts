import { opendir } from 'node:fs/promises';
import { decidePath, innermostRoot } from '../../domain/files/file-rules.ts';
import { codeOf } from '../../problem.ts';
import { holdIn } from './handle.ts';
import type { Held } from './handle.ts';
import { linksInto, refusalOfKept } from './kept.ts';
import { requireGoing } from './refusal.ts';
import type { FileSandbox } from './sandbox.ts';

/** What a walk has come across but not entered, and whether it ended early. */
export interface WalkLog {
  denied: number;
  unreadable: number;
  otherMounts: number;
  truncated: boolean;
}

export interface Found {
  /** Absolute and real. */
  readonly path: string;
  /** Below where the walk began. */
  readonly names: readonly string[];
  readonly parent: Held;
  readonly name: string;
  /** Held while the walk stands still here. A link is itself, whatever it leads to. */
  readonly held: Held;
}

interface WalkOptions {
  readonly mostEntries: number;
  /** By `performance.now`: a clock that is set back would make it endless. */
  readonly deadline: number;
  /** Directories after what lies in them, so that they can be deleted. */
  readonly childrenFirst?: boolean;
  /** Also what may not be read: who is about to move or delete must see everything. */
  readonly everything?: boolean;
}

/** Each level holds one handle. */
const DEEPEST = 200;

export function newWalkLog(): WalkLog {
  return { denied: 0, unreadable: 0, otherMounts: 0, truncated: false };
}

/** What lies below a directory, in order of names. Links are not followed, other mounts and denied directories not entered. */
export async function* walk(
  sandbox: FileSandbox,
  directory: Held,
  path: string,
  log: WalkLog,
  options: WalkOptions,
): AsyncGenerator<Found> {
  const left = { entries: options.mostEntries };
  const isKeptLink = linksInto(sandbox.rules.kept);
  yield* below(directory, path, []);

  async function* below(parent: Held, above: string, names: readonly string[]): AsyncGenerator<Found> {
    for (const name of await namesIn(parent)) {
      requireGoing(sandbox);
      if (log.truncated) return;
      const at = above === '/' ? `/${name}` : `${above}/${name}`;
      if (options.everything !== true && decidePath(sandbox.rules, 'read', at).verdict === 'deny') log.denied += 1;
      else yield* enter(parent, name, at, [...names, name]);
    }
  }

  async function* enter(parent: Held, name: string, at: string, names: readonly string[]): AsyncGenerator<Found> {
    const held = await holdIn(parent, name, sandbox.anchoring).catch(unreadable);
    if (held === undefined) return;
    try {
      const found = { path: at, names, parent, name, held };
      if (!(await isOnItsMount(held, at))) log.otherMounts += 1;
      else if (options.everything !== true && (await isKept(held))) log.denied += 1;
      else if (!held.stats.isDirectory()) yield found;
      else {
        if (options.childrenFirst !== true) yield found;
        if (names.length >= DEEPEST) log.truncated = true;
        else yield* below(held, at, names);
        if (options.childrenFirst === true) yield found;
      }
    } finally {
      await held.close();
    }
  }

  async function isKept(held: Held): Promise<boolean> {
    return refusalOfKept(sandbox, held, path) !== undefined || (await isKeptLink(held));
  }

  async function isOnItsMount(held: Held, at: string): Promise<boolean> {
    return (await held.mount()) === sandbox.mounts.get(innermostRoot(sandbox.rules, at) ?? '');
  }

  async function namesIn(held: Held): Promise<readonly string[]> {
    const names: string[] = [];
    const listing = await opendir(held.at).catch(unreadable);
    if (listing === undefined) return names;
    for await (const { name } of listing) {
      requireGoing(sandbox);
      left.entries -= 1;
      log.truncated ||= left.entries < 0 || performance.now() > options.deadline;
      if (log.truncated) break;
      names.push(name);
    }
    return names.sort();
  }

  /** Gone or closed to us: counted, and the walk goes on. */
  function unreadable(error: unknown): undefined {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'EPERM' && code !== 'ENOTDIR') throw error;
    log.unreadable += 1;
    return undefined;
  }
}
