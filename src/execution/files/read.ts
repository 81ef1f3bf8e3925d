import type { FileHandle } from 'node:fs/promises';
import { utf8Of } from '../charset.ts';
import { openHeld } from './handle.ts';
import { requireAccess, withPlace } from './locate.ts';
import type { Place } from './locate.ts';
import { answering, failed } from './refusal.ts';
import type { FileSandbox } from './sandbox.ts';

export interface ReadOptions {
  /** In bytes. */
  readonly offset?: number;
  readonly maxBytes?: number;
}

/** Reads a file, at most `maxReadBytes` of it. What is not text comes as base64. */
export function readFile(sandbox: FileSandbox, path: string, options: ReadOptions = {}) {
  return answering(() =>
    withPlace(sandbox, path, { followLast: true }, async (place) => {
      requireAccess(sandbox, place.path, 'read');
      const file = await openHeld(existing(place), place.path);
      try {
        const { offset = 0, maxBytes = sandbox.maxReadBytes } = options;
        const most = Math.min(maxBytes, sandbox.maxReadBytes);
        // One byte more tells whether there is more, also where the system gives no size.
        const bytes = await readAtMost(file, most + 1, offset);
        const truncated = bytes.length > most;
        const { size, nlink } = await file.stat();
        return {
          path: place.path,
          ...asText(bytes.subarray(0, most), truncated),
          bytes: Math.min(bytes.length, most),
          size,
          truncated,
          hardLinks: nlink,
        };
      } finally {
        await file.close();
      }
    }),
  );
}

export function existing({ path, node }: Place): NonNullable<Place['node']> {
  if (node === undefined) throw failed(`${path}: no such file or directory`);
  return node;
}

export async function readAtMost(file: FileHandle, most: number, offset = 0): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length < most) {
    const chunk = Buffer.allocUnsafe(Math.min(most - length, 1 << 18));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, offset + length);
    if (bytesRead === 0) break;
    chunks.push(chunk.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks, length);
}

/** A cut may fall into a character: up to three bytes at the end are then not held against it. */
function asText(bytes: Buffer, isCut: boolean): { readonly content: string; readonly encoding: 'utf8' | 'base64' } {
  for (let dropped = 0; dropped <= (isCut ? Math.min(3, bytes.length) : 0); dropped += 1) {
    const content = utf8Of(bytes.subarray(0, bytes.length - dropped));
    if (content !== undefined) return { content, encoding: 'utf8' };
  }
  return { content: bytes.toString('base64'), encoding: 'base64' };
}
