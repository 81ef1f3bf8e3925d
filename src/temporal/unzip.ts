import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

const END_OF_DIRECTORY = 0x06054b50;
const END_OF_DIRECTORY_BYTES = 22;
const DIRECTORY_ENTRY = 0x02014b50;
const DIRECTORY_ENTRY_BYTES = 46;
const LOCAL_HEADER_BYTES = 30;
const DEFLATE = 8;

/**
 * Writes one deflated file of a zip archive to `target`. Just enough of the format for a wheel whose hash has been
 * verified (no comment at its end, under 4 GB): Node has no reader, and the `unzip` program is often not installed.
 */
export async function unzipOne(archive: string, wanted: (name: string) => boolean, target: string): Promise<void> {
  const file = await open(archive, 'r');
  try {
    const entry = await findEntry(file, wanted);
    const start = await findData(file, entry.headerAt);
    const source = createReadStream(archive, { start, end: start + entry.compressedBytes - 1 });
    await pipeline(source, createInflateRaw(), createWriteStream(target, { mode: 0o755 }));
  } finally {
    await file.close();
  }
}

interface Entry {
  readonly headerAt: number;
  readonly compressedBytes: number;
}

async function findEntry(file: FileHandle, wanted: (name: string) => boolean): Promise<Entry> {
  const { size } = await file.stat();
  const end = await readAt(file, size - END_OF_DIRECTORY_BYTES, END_OF_DIRECTORY_BYTES);
  if (end.readUInt32LE(0) !== END_OF_DIRECTORY) throw new Error('not a zip archive, or one with a comment');
  const directory = await readAt(file, end.readUInt32LE(16), end.readUInt32LE(12));
  for (let at = 0; at < directory.length && directory.readUInt32LE(at) === DIRECTORY_ENTRY;) {
    const nameBytes = directory.readUInt16LE(at + 28);
    const name = directory.toString('utf8', at + DIRECTORY_ENTRY_BYTES, at + DIRECTORY_ENTRY_BYTES + nameBytes);
    if (wanted(name)) {
      if (directory.readUInt16LE(at + 10) !== DEFLATE) throw new Error(`${name} is not deflated`);
      return { headerAt: directory.readUInt32LE(at + 42), compressedBytes: directory.readUInt32LE(at + 20) };
    }
    at += DIRECTORY_ENTRY_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  throw new Error('the archive does not hold the file that was wanted');
}

async function findData(file: FileHandle, headerAt: number): Promise<number> {
  const header = await readAt(file, headerAt, LOCAL_HEADER_BYTES);
  return headerAt + LOCAL_HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer } = await file.read({ buffer: Buffer.alloc(length), position });
  return buffer;
}
