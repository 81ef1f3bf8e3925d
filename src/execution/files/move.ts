import { rename, rmdir, unlink } from 'node:fs/promises';
import { codeOf } from '../../problem.ts';
import { isWithin } from '../../domain/files/path-text.ts';
import { hardLinksOf, kindOf } from './handle.ts';
import type { Held } from './handle.ts';
import { requireAccess, requireTakeable, withPlace } from './locate.ts';
import type { Place } from './locate.ts';
import { existing } from './read.ts';
import { answering, blocked, failed, invalid, requireGoing } from './refusal.ts';
import type { FileSandbox } from './sandbox.ts';
import { newWalkLog, walk } from './walk.ts';
import type { Found } from './walk.ts';

const MOST_ENTRIES = 200_000;
const WALK_MS = 60_000;

/** Moves a file, a link (itself, not what it leads to) or a directory. What may not be read may not be moved either. */
export function movePath(sandbox: FileSandbox, from: string, to: string, { overwrite = false } = {}) {
  return answering(() =>
    withPlace(sandbox, from, { followLast: false }, (source) =>
      withPlace(sandbox, to, { followLast: false }, async (target) => {
        const node = existing(source);
        requireTakeable(sandbox, source.path);
        requireAccess(sandbox, source.path, 'read', 'write');
        requireAccess(sandbox, target.path, 'write');
        if (target.absent.length > 1) throw failed(`${target.path}: its directory does not exist`);
        if (target.node?.stats.isDirectory() === true) throw failed(`${target.path} is a directory`);
        if (target.node !== undefined && !overwrite) throw failed(`${target.path} exists already`);
        if (isWithin(source.path, target.path)) throw invalid(`${source.path} cannot be moved into itself`);
        if (node.stats.isDirectory()) {
          // A new name could take a file out of the rule that keeps it.
          for await (const found of everythingBelow(sandbox, node, source.path)) {
            requireAccess(sandbox, found.path, 'read', 'write');
            requireAccess(sandbox, target.path + found.path.slice(source.path.length), 'write');
          }
        }
        await requireStill(sandbox, source);
        await requireStill(sandbox, target);
        await rename(`${source.parent.at}/${source.name}`, `${target.parent.at}/${target.name}`);
        return { from: source.path, path: target.path, kind: kindOf(node.stats), hardLinks: hardLinksOf(node.stats) };
      }),
    ),
  );
}

async function removeEmptied({ parent, name, path }: Place): Promise<void> {
  try {
    await rmdir(`${parent.at}/${name}`);
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY') throw error;
    throw failed(`${path} is a directory and not empty: with recursive, what is in it is deleted as well`);
  }
}

/** Deletes a file, a link itself, or with `recursive` a directory: all of it, or nothing if a rule keeps part of it. */
export function deletePath(sandbox: FileSandbox, path: string, { recursive = false } = {}) {
  return answering(() =>
    withPlace(sandbox, path, { followLast: false }, async (place) => {
      const node = existing(place);
      requireTakeable(sandbox, place.path);
      requireAccess(sandbox, place.path, 'write');
      let deleted = 1;
      if (!node.stats.isDirectory()) {
        await requireStill(sandbox, place);
        await unlink(`${place.parent.at}/${place.name}`);
      } else {
        if (recursive) {
          for await (const found of everythingBelow(sandbox, node, place.path))
            requireAccess(sandbox, found.path, 'write');
          for await (const found of everythingBelow(sandbox, node, place.path)) {
            requireGoing(sandbox);
            const { held, parent, name } = found;
            await requireStill(sandbox, found);
            await (held.stats.isDirectory() ? rmdir(`${parent.at}/${name}`) : unlink(`${parent.at}/${name}`));
            deleted += 1;
          }
        }
        await requireStill(sandbox, place);
        await removeEmptied(place);
      }
      return { path: place.path, kind: kindOf(node.stats), deleted, hardLinks: hardLinksOf(node.stats) };
    }),
  );
}

/** Directories last. Ends with a refusal where it cannot see all of it. */
async function* everythingBelow(sandbox: FileSandbox, directory: Held, path: string): AsyncGenerator<Found> {
  const log = newWalkLog();
  const options = {
    mostEntries: MOST_ENTRIES,
    deadline: performance.now() + WALK_MS,
    childrenFirst: true,
    everything: true,
  };
  yield* walk(sandbox, directory, path, log, options);
  if (log.truncated) throw failed(`${path} holds more than can be looked through; take its parts one by one`);
  if (log.otherMounts > 0) throw blocked(`${path} holds another mount`, 'roots');
  if (log.unreadable > 0)
    throw failed(`${path} holds what cannot be looked at: closed to us, or of a name that is not UTF-8`);
}

/** The directory may have been moved since it was judged. */
async function requireStill(
  sandbox: FileSandbox,
  { path, parent, name }: Pick<Place, 'path' | 'parent' | 'name'>,
): Promise<void> {
  const now = `${await parent.realPath()}/${name}`.replace(/^\/\//, '/');
  requireAccess(sandbox, now, 'write');
  if (now !== path) throw failed(`${path} was moved to ${now} meanwhile`);
}
