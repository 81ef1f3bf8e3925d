import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FileRules } from '../../domain/files/file-rules.ts';
import type { FileSection } from '../../domain/files/files.schema.ts';
import { compilePathGlob } from '../../domain/files/path-glob.ts';
import { namesOf } from '../../domain/files/path-text.ts';
import { Problem, reasonOf } from '../../problem.ts';
import { ANCHORING, holdIn, holdTop, kindOf } from './handle.ts';
import type { Held } from './handle.ts';
import { directoriesAmong, realNames } from './kept.ts';

/** The rules, and the roots as they were found. */
export interface FileSandbox {
  readonly rules: FileRules;
  /** Where relative paths begin: the first root. */
  readonly base: string;
  /** The mount that each root lies on. Another mount below a root is entered only if it is a root itself. */
  readonly mounts: ReadonlyMap<string, string | undefined>;
  /** Those of `rules.kept` that were directories when the rules were read. */
  readonly keptDirectories: ReadonlySet<string>;
  readonly maxReadBytes: number;
  readonly maxWriteBytes: number;
  readonly anchoring: typeof ANCHORING;
  /** A directory that a command has to itself: whatever lies there for us, it does not see. */
  readonly scratch?: string;
  /** Whether what the rules deny is covered while a command runs. */
  readonly isCovered?: boolean;
  /** Ends what takes long. */
  readonly stopped?: AbortSignal;
}

/** Surety's own files, as they are called. */
export interface OwnFiles {
  /** What nobody may touch. */
  readonly kept: readonly string[];
  /** What nobody may change. */
  readonly fixed: readonly string[];
}

export interface SandboxOptions {
  readonly own?: OwnFiles;
  readonly anchoring?: typeof ANCHORING;
}

/** Reads the rules once. A root that is not a directory is a Problem: without it, nobody knows what was meant. */
export async function openSandbox(
  section: FileSection,
  project: string,
  { own, anchoring = ANCHORING }: SandboxOptions = {},
): Promise<FileSandbox> {
  const named = section.roots.length === 0 ? [project] : section.roots.map((root) => resolve(project, root));
  const roots: string[] = [];
  const mounts = new Map<string, string | undefined>();
  for (const root of named) {
    const found = await realpath(root).catch((error: unknown) => {
      throw unusable(root, reasonOf(error), error);
    });
    const held = await holdReal(found, anchoring);
    try {
      if (!held.stats.isDirectory()) throw unusable(root, `it is ${kindOf(held.stats)}`);
      mounts.set(found, await held.mount());
    } finally {
      await held.close();
    }
    roots.push(found);
  }
  const ignoreCase = process.platform === 'darwin' || process.platform === 'win32';
  const [kept, fixed] = [await realNames(own?.kept ?? []), await realNames(own?.fixed ?? [])];
  const compiled = (patterns: readonly string[]) => patterns.map((pattern) => compilePathGlob(pattern, { ignoreCase }));
  return {
    rules: {
      ...{ roots, kept, fixed },
      deny: { read: compiled(section.denyRead), write: compiled(section.denyWrite) },
      allow: { read: compiled(section.allowRead), write: compiled(section.allowWrite) },
      ignoreCase,
    },
    base: roots[0] ?? project,
    mounts,
    keptDirectories: await directoriesAmong(kept),
    maxReadBytes: section.maxReadBytes,
    maxWriteBytes: section.maxWriteBytes,
    anchoring,
  };
}

/** The same rules for what a command names: it may also touch what its operating-system sandbox lets it. Real paths. */
export async function sandboxForCommands(
  files: FileSandbox,
  writable: readonly string[],
  { scratch, isCovered = false }: Pick<FileSandbox, 'scratch' | 'isCovered'>,
): Promise<FileSandbox> {
  const mounts = new Map(files.mounts);
  for (const path of writable) {
    const held = await holdReal(path, files.anchoring);
    mounts.set(path, await held.mount().finally(() => held.close()));
  }
  const rules = { ...files.rules, roots: [...files.rules.roots, ...writable] };
  return { ...files, rules, mounts, isCovered, ...(scratch === undefined ? {} : { scratch }) };
}

async function holdReal(path: string, anchoring: typeof ANCHORING): Promise<Held> {
  let held = await holdTop(anchoring);
  for (const name of namesOf(path)) {
    const above = held;
    held = await holdIn(above, name, anchoring).finally(() => above.close());
  }
  return held;
}

function unusable(root: string, why: string, cause?: unknown): Problem {
  return new Problem(`The root ${root} cannot be used: ${why}`, 'Correct file.roots in surety.json.', {
    cause,
  });
}
