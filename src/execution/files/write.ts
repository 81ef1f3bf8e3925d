import type { FileHandle } from 'node:fs/promises';
import { hardLinksOf, kindOf, openHeld } from './handle.ts';
import { inTurn } from './in-turn.ts';
import { requireAccess, withPlace } from './locate.ts';
import type { Place } from './locate.ts';
import { existing, readAtMost } from './read.ts';
import { answering, failed, invalid, requireGoing } from './refusal.ts';
import { filledWith, finish, replaceFile, requireSize } from './replace.ts';
import type { FileSandbox } from './sandbox.ts';

export interface WriteOptions {
  readonly parents?: boolean;
  /** Default true. */
  readonly overwrite?: boolean;
}

/** Writes a whole file. */
export function writeFile(
  sandbox: FileSandbox,
  path: string,
  content: string | Uint8Array,
  { parents = false, overwrite = true }: WriteOptions = {},
) {
  const write = async (place: Place) => {
    requireAccess(sandbox, place.path, 'write');
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    requireSize(sandbox, bytes.length);
    const done = await replaceFile(sandbox, place, filledWith(bytes, place.node), { parents, overwrite });
    return { path: place.path, bytes: bytes.length, ...done };
  };
  return answering(() => inTurn(sandbox, path, () => withPlace(sandbox, path, { followLast: true }, write)));
}

export interface Edit {
  readonly old: string;
  readonly new: string;
  /** Every occurrence; otherwise there must be exactly one. */
  readonly all?: boolean;
}

/** Replaces a text in a file, byte for byte, so that what else is in it stays as it is. */
export function editFile(sandbox: FileSandbox, path: string, edit: Edit) {
  return answering(() => inTurn(sandbox, path, () => edited(sandbox, path, edit)));
}

function edited(sandbox: FileSandbox, path: string, edit: Edit) {
  return withPlace(sandbox, path, { followLast: true }, async (place) => {
    requireAccess(sandbox, place.path, 'read', 'write');
    if (edit.old === '') throw invalid('the text to replace is empty');
    const file = await openHeld(existing(place), place.path);
    const before = await readAtMost(file, sandbox.maxWriteBytes + 1).finally(() => file.close());
    requireSize(sandbox, before.length);
    const { after, count } = replaced(before, Buffer.from(edit.old), Buffer.from(edit.new));
    if (count === 0) throw invalid(`the text to replace is not in ${place.path}`);
    if (count > 1 && edit.all !== true) throw invalid(`the text to replace is ${count} times in ${place.path}`);
    requireSize(sandbox, after.length);
    const done = await replaceFile(sandbox, place, filledWith(after, place.node), { overwrite: true });
    return { path: place.path, replacements: count, bytes: after.length, ...done };
  });
}

function replaced(bytes: Buffer, old: Buffer, by: Buffer): { readonly after: Buffer; readonly count: number } {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(old); at !== -1; at = bytes.indexOf(old, from)) {
    parts.push(bytes.subarray(from, at), by);
    from = at + old.length;
  }
  return { after: Buffer.concat([...parts, bytes.subarray(from)]), count: parts.length / 2 };
}

export interface TransferOptions {
  readonly parents?: boolean;
  /** Default false. */
  readonly overwrite?: boolean;
}

/** Copies one file. Who may not read it may not copy it. */
export function copyFile(
  sandbox: FileSandbox,
  from: string,
  to: string,
  { parents = false, overwrite = false }: TransferOptions = {},
) {
  return answering(() =>
    inTurn(sandbox, to, () =>
      withPlace(sandbox, from, { followLast: true }, (source) =>
        withPlace(sandbox, to, { followLast: true }, async (target) => {
          requireAccess(sandbox, source.path, 'read');
          requireAccess(sandbox, target.path, 'write');
          const node = existing(source);
          if (node.stats.isDirectory())
            throw invalid(`${source.path} is ${kindOf(node.stats)}; files are copied one by one`);
          if (source.path === target.path) throw invalid(`${source.path} would be copied onto itself`);
          const file = await openHeld(node, source.path);
          try {
            let bytes = 0;
            const fill = async (copy: FileHandle) => {
              bytes = await pour(sandbox, file, copy, source.path);
              await finish(copy, target.node);
            };
            const mode = node.stats.mode & 0o777;
            const done = await replaceFile(sandbox, target, fill, { parents, overwrite, mode });
            return { from: source.path, path: target.path, bytes, hardLinks: hardLinksOf(node.stats), ...done };
          } finally {
            await file.close();
          }
        }),
      ),
    ),
  );
}

async function pour(sandbox: FileSandbox, from: FileHandle, to: FileHandle, path: string): Promise<number> {
  const chunk = Buffer.allocUnsafe(1 << 18);
  let bytes = 0;
  for (;;) {
    requireGoing(sandbox);
    const { bytesRead } = await from.read(chunk, 0, chunk.length, bytes);
    if (bytesRead === 0) return bytes;
    bytes += bytesRead;
    if (bytes > sandbox.maxWriteBytes) throw failed(`${path} is larger than maxWriteBytes (${sandbox.maxWriteBytes})`);
    await to.writeFile(chunk.subarray(0, bytesRead));
  }
}
