import { beginJudging, judgeLine } from '../../domain/audit/judge.ts';
import type { ChainHead } from '../../domain/audit/chain.ts';
import { codeOf } from '../../problem.ts';
import { releasedHeads } from './claim.ts';
import { auditFiles, rawLines } from './files.ts';
import type { AuditFile } from './files.ts';

export interface AuditBreak {
  readonly file: string;
  readonly line: number;
  readonly because: string;
}

export interface Verification {
  readonly ok: boolean;
  readonly files: number;
  readonly lines: number;
  /** Lines that were torn by an interruption, and noted by the next writer. */
  readonly torn: number;
  /** The first one of each lane. */
  readonly breaks: readonly AuditBreak[];
  /** Where each lane ends: kept elsewhere, it shows later whether lines were cut off. */
  readonly heads: readonly ChainHead[];
}

/** Reads the whole audit and checks every line against the one before it. Changes nothing. */
export async function verifyAudit(directory: string): Promise<Verification> {
  const files = await auditFiles(directory);
  const released = await releasedHeads(directory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return new Map<number, ChainHead>();
    throw error;
  });
  const lanes = new Set([...files.map(({ lane }) => lane), ...released.keys()]);
  const checked: LaneCheck[] = [];
  for (const lane of lanes) {
    checked.push(
      await verifyLane(
        lane,
        files.filter((file) => file.lane === lane),
        released.get(lane),
      ),
    );
  }
  const breaks = checked.flatMap((each) => each.breaks);
  const sum = (count: (each: LaneCheck) => number) => checked.reduce((total, each) => total + count(each), 0);
  return {
    ok: breaks.length === 0,
    files: files.length,
    lines: sum(({ lines }) => lines),
    torn: sum(({ torn }) => torn),
    breaks,
    heads: checked.flatMap(({ head }) => (head.seq < 0 ? [] : [head])),
  };
}

type LaneCheck = Pick<Verification, 'lines' | 'torn' | 'breaks'> & { readonly head: ChainHead };

async function verifyLane(
  lane: number,
  files: readonly AuditFile[],
  released: ChainHead | undefined,
): Promise<LaneCheck> {
  let judged = beginJudging(lane);
  let [lines, torn] = [0, 0];
  let broken: AuditBreak | undefined;
  let last: { file: string; line: number } = { file: files[0]?.name ?? `lane ${lane}`, line: 0 };
  for (const [index, file] of files.entries()) {
    if (file.number !== index + 1 && broken === undefined) {
      broken = { file: file.name, line: 1, because: `the file before it (number ${index + 1}) is missing` };
    }
    for await (const { bytes, offset, line, isWhole } of rawLines(file.path)) {
      const wasTorn = judged.torn !== undefined;
      judged = judgeLine(judged, bytes, { offset, line });
      if (judged.flaw !== undefined) broken ??= { file: file.name, ...judged.flaw };
      else if (wasTorn && judged.torn === undefined) torn += 1;
      if (judged.torn === undefined && isWhole) lines += 1;
      last = { file: file.name, line };
    }
    if (judged.torn !== undefined) {
      const isLast = index === files.length - 1;
      const because = isLast ? 'it is torn, and no later writer has noted it' : 'it is not as it was written';
      broken ??= { file: file.name, line: judged.torn.line, because };
      judged = { ...judged, torn: undefined };
    }
  }
  broken ??= missingEnd(judged.head, released, last);
  return { lines, torn, breaks: broken === undefined ? [] : [broken], head: judged.head };
}

/** A lane that was given back ended at least there. */
function missingEnd(
  head: ChainHead,
  released: ChainHead | undefined,
  last: { file: string; line: number },
): AuditBreak | undefined {
  if (released === undefined || released.seq < head.seq) return undefined;
  if (released.seq === head.seq) {
    return released.hash === head.hash ? undefined : { ...last, because: 'it is not the line its writer ended with' };
  }
  return {
    ...last,
    because: `${released.seq - head.seq} lines after it are missing: its writer ended at number ${released.seq}`,
  };
}
