import { AuditLine } from '../../domain/audit/entry.schema.ts';
import { auditFiles, rawLines } from './files.ts';
import type { AuditFile } from './files.ts';

export interface ReadLine {
  readonly file: string;
  readonly offset: number;
  /** Where the next one begins. */
  readonly end: number;
  readonly line: AuditLine;
}

/** The lines of one file; what is no line is passed over: `verifyAudit` tells of it. */
export async function* linesIn({ path, name }: Pick<AuditFile, 'path' | 'name'>, from = 0): AsyncGenerator<ReadLine> {
  for await (const { bytes, offset, isWhole } of rawLines(path, from)) {
    const line = isWhole ? parsed(bytes) : undefined;
    if (line !== undefined) yield { file: name, offset, end: offset + bytes.length, line };
  }
}

/** Undefined where no line begins. */
export async function lineAt(file: AuditFile, offset: number): Promise<AuditLine | undefined> {
  for await (const { bytes, isWhole } of rawLines(file.path, offset)) return isWhole ? parsed(bytes) : undefined;
  return undefined;
}

/** Every line, in order of time as far as the lanes are. */
export async function* allLines(directory: string): AsyncGenerator<ReadLine> {
  const files = await auditFiles(directory);
  const lanes = [...new Set(files.map(({ lane }) => lane))].map((lane) =>
    laneLines(files.filter((file) => file.lane === lane)),
  );
  const next = await Promise.all(lanes.map((lines) => lines.next()));
  for (;;) {
    let earliest = -1;
    for (const [index, { done, value }] of next.entries()) {
      if (done === true) continue;
      const best = next[earliest];
      if (best === undefined || best.done === true || value.line.ts < best.value.line.ts) earliest = index;
    }
    const [taken, lines] = [next[earliest], lanes[earliest]];
    if (taken === undefined || taken.done === true || lines === undefined) return;
    yield taken.value;
    next[earliest] = await lines.next();
  }
}

async function* laneLines(files: readonly AuditFile[]): AsyncGenerator<ReadLine, undefined> {
  for (const file of files) yield* linesIn(file);
  return undefined;
}

function parsed(bytes: Buffer): AuditLine | undefined {
  try {
    return AuditLine.parse(JSON.parse(bytes.toString('utf8')));
  } catch {
    return undefined; // Not a line of ours, whatever it is.
  }
}
