import * as z from 'zod';
import { compilePathGlob, InvalidGlob } from './path-glob.ts';
import { flawOfPath } from './path-text.ts';

/** A pattern that does not compile fails the whole file: dropped, it would let through what it was written against. */
const pathGlob = z.string().superRefine((pattern, context) => {
  try {
    compilePathGlob(pattern);
  } catch (error) {
    if (!(error instanceof InvalidGlob)) throw error;
    context.addIssue({ code: 'custom', message: error.message });
  }
});

const patterns = z.array(pathGlob).max(1000).default([]);

const root = z.string().superRefine((path, context) => {
  const flaw = flawOfPath(path);
  if (flaw !== undefined) context.addIssue({ code: 'custom', message: flaw });
});

/** `file` in surety.json. */
export const FileSection = z.strictObject({
  roots: z.array(root).max(100).default([]).describe('Directories that may be touched. Empty: the project alone.'),
  denyRead: patterns.describe('Never read, whatever else says so; globs.'),
  allowRead: patterns.describe('Where not empty, nothing else is read; globs.'),
  denyWrite: patterns.describe('Never written, moved or deleted; globs.'),
  allowWrite: patterns.describe('Where not empty, nothing else is written; globs.'),
  maxReadBytes: z.int().min(1).max(67_108_864).default(1_048_576).describe('How much of a file one read returns.'),
  maxWriteBytes: z.int().min(1).max(1_073_741_824).default(67_108_864).describe('Larger files are not written.'),
});
export type FileSection = z.infer<typeof FileSection>;
