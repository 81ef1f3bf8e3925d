import { beginJudging, judgeLine } from '../../domain/audit/judge.ts';
import { lossOf } from '../../domain/audit/chain.ts';
import type { ChainHead } from '../../domain/audit/chain.ts';
import { codeOf } from '../../problem.ts';
import { recordedHeads } from './claim.ts';
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
  /** Every loss that a writer has found and noted, and of each lane the first that nobody has. */
  readonly breaks: readonly AuditBreak[];
  /** Where each lane ends: kept elsewhere, it shows later whether lines were cut off. */
  readonly heads: readonly ChainHead[];
}

/** Reads the whole audit and checks every line against the one before it. Changes nothing. */
export async function verifyAudit(directory: string): Promise<Verification> {
  const files = await auditFiles(directory);
  const recorded = await recordedHeads(directory).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return new Map<number, ChainHead>();
    throw error;
  });
  const lanes = new Set([...files.map(({ lane }) => lane), ...recorded.keys()]);
  const checked: LaneCheck[] = [];
  for (const lane of lanes) {
    checked.push(
      await verifyLane(
        lane,
        files.filter((file) => file.lane === lane),
        recorded.get(lane),
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
  recorded: ChainHead | undefined,
): Promise<LaneCheck> {
  let judged = beginJudging(lane);
  let [lines, torn] = [0, 0];
  let broken: AuditBreak | undefined;
  const noted: AuditBreak[] = [];
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
      if (judged.loss !== undefined) noted.push({ file: file.name, line, because: judged.loss });
      if (judged.torn === undefined && isWhole) lines += 1;
      last = { file: file.name, line };
      if (judged.head.seq === recorded?.seq) broken ??= lossAt(last, judged.head, recorded);
    }
    if (judged.torn !== undefined) {
      const isLast = index === files.length - 1;
      const because = isLast ? 'it is torn, and no later writer has noted it' : 'it is not as it was written';
      broken ??= { file: file.name, line: judged.torn.line, because };
      judged = { ...judged, torn: undefined };
    }
  }
  broken ??= lossAt(last, judged.head, recorded);
  return { lines, torn, breaks: broken === undefined ? noted : [...noted, broken], head: judged.head };
}

function lossAt(
  last: { file: string; line: number },
  head: ChainHead,
  recorded: ChainHead | undefined,
): AuditBreak | undefined {
  const because = lossOf(head, recorded);
  return because === undefined ? undefined : { ...last, because };
}
