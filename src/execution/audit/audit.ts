import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { AuditSection } from '../../domain/audit/audit.schema.ts';
import { newChain, sealLine } from '../../domain/audit/chain.ts';
import type { ChainHead } from '../../domain/audit/chain.ts';
import { AuditEntry } from '../../domain/audit/entry.schema.ts';
import { Problem, reasonOf } from '../../problem.ts';
import { claimLane } from './claim.ts';
import type { LaneClaim } from './claim.ts';
import { fileOf } from './files.ts';
import { redactEntry } from './redact.ts';
import { resumeLane } from './resume.ts';

/** The line could not be written, so the call it is about must not be answered. */
export class AuditFailed extends Problem {
  override readonly name = 'AuditFailed';
  constructor(directory: string, cause: unknown) {
    super(
      `The audit in ${directory} cannot be written: ${reasonOf(cause)}`,
      'No call is answered without its line. Make room, or let this user write there, and call again.',
      { cause },
    );
  }
}

/** Where a line went, and what it says now that it is redacted. */
export interface Receipt {
  readonly file: string;
  readonly offset: number;
  readonly seq: number;
  readonly hash: string;
  readonly entry: AuditEntry;
}

export interface Audit {
  readonly directory: string;
  /** Opens the file that lines go to, if it is not open yet; rejects with AuditFailed. */
  ready(): Promise<void>;
  /** Redacts an entry and writes it; resolves once it is in the file (and on the disk, by `fsync`), rejects with AuditFailed. */
  append(entry: AuditEntry): Promise<Receipt>;
  close(): Promise<void>;
}

interface Waiting {
  readonly entry: AuditEntry;
  readonly done: (receipt: Receipt) => void;
  readonly failed: (error: AuditFailed) => void;
}

/** What waits is written together, in one write and one fsync; no more than this at once. */
const MOST_TOGETHER = 512;

/**
 * Opens the audit for appending. Each process writes to a lane of its own, a hash chain over numbered files; lanes are taken
 * up again by later processes. Nothing is opened before it is needed.
 */
export function openAudit(
  directory: string,
  { fsync, maxFileBytes }: AuditSection,
  onLoss: (message: string) => void = (message) => process.emitWarning(message),
): Audit {
  let waiting: Waiting[] = [];
  let pumping: Promise<void> | undefined;
  let claim: LaneClaim | undefined;
  let file: FileHandle | undefined;
  let [number, size]: [number, number] = [0, 0];
  let head: ChainHead = newChain(0);
  /** Where the chain ends at least. */
  let recorded: ChainHead | undefined;

  /** After a failure nobody knows how much was written: the file itself tells. */
  async function resume(): Promise<FileHandle> {
    if (claim === undefined) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      claim = await claimLane(directory);
      recorded = claim.recorded;
    }
    const found = await resumeLane(directory, claim.lane, new Date(), recorded);
    [number, size, head] = [Math.max(1, found.number), found.size, found.head];
    file = await openNumbered(number);
    if (found.notes !== '') {
      await write(file, found.notes);
      head = found.headAfterNotes;
    }
    recorded = head;
    if (found.loss !== undefined) {
      onLoss(`Lines of the audit in ${directory} are gone; see: surety audit verify`);
      // Only now: whoever is interrupted before leaves it to the next one to note it.
      await claim.record(head);
    }
    return file;
  }

  async function openNumbered(wanted: number): Promise<FileHandle> {
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const opened = await open(fileOf(directory, head.lane, wanted).path, flags, 0o600);
    if (fsync === 'always') await syncDirectory(directory);
    return opened;
  }

  async function write(to: FileHandle, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length;) at += (await to.write(bytes, at)).bytesWritten;
    if (fsync === 'always') await to.datasync();
    size += bytes.length;
  }

  async function writeTogether(batch: readonly Waiting[]): Promise<readonly Receipt[]> {
    let to = file ?? (await resume());
    if (size >= maxFileBytes) {
      file = undefined;
      await to.close();
      [number, size] = [number + 1, 0];
      to = file = await openNumbered(number);
    }
    const { name } = fileOf(directory, head.lane, number);
    let [text, next, offset]: [string, ChainHead, number] = ['', head, size];
    const receipts = batch.map(({ entry }) => {
      const sealed = sealLine(entry, next);
      const receipt = { file: name, offset, seq: sealed.head.seq, hash: sealed.head.hash, entry };
      text += sealed.text;
      offset += Buffer.byteLength(sealed.text);
      next = sealed.head;
      return receipt;
    });
    await write(to, text);
    // What was taken away can still be written to, and nobody will ever read it.
    if ((await to.stat()).nlink === 0) throw new Error('its file is gone');
    recorded = head = next;
    return receipts;
  }

  async function pump(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MOST_TOGETHER);
      waiting = waiting.slice(MOST_TOGETHER);
      try {
        const receipts = await writeTogether(batch);
        batch.forEach(({ done }, index) => done(receipts[index] ?? unreachable()));
      } catch (error) {
        await forgetFile();
        const failure = new AuditFailed(directory, error);
        for (const { failed } of batch) failed(failure);
      }
    }
    pumping = undefined;
  }

  const isOpen = () => file !== undefined;

  async function openFirst(): Promise<void> {
    try {
      await resume();
    } catch (error) {
      await forgetFile();
      throw new AuditFailed(directory, error);
    }
  }

  async function forgetFile(): Promise<void> {
    const broken = file;
    file = undefined;
    // It has failed already; that closing it fails, too, is no news.
    await broken?.close().catch(() => undefined);
  }

  return {
    directory,
    ready: async () => {
      // Looked at again after each wait: another call may have begun to open it meanwhile. Once it is open, nobody waits here.
      while (!isOpen() && pumping !== undefined) await pumping;
      if (isOpen()) return;
      const opening = openFirst();
      // What is to be written meanwhile waits for it.
      pumping = opening.then(pump, pump);
      await opening;
    },
    append: async (entry) => {
      const redacted = AuditEntry.parse(await redactEntry(entry));
      return new Promise((done, failed) => {
        waiting.push({ entry: redacted, done, failed });
        pumping ??= pump();
      });
    },
    close: async () => {
      await pumping;
      const held = claim;
      const isKnown = file !== undefined;
      await file?.close();
      [file, claim] = [undefined, undefined];
      if (held === undefined || !isKnown) return;
      // Every line is there; that nobody can record where they end is worth a warning, and costs nobody an answer.
      await held.release(head).catch((error: unknown) => {
        onLoss(`The end of the audit in ${directory} could not be recorded: ${reasonOf(error)}`);
      });
    },
  };
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  await handle.sync().finally(() => handle.close());
}

function unreachable(): never {
  throw new Error('a line without its receipt');
}
