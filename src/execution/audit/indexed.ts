import type pg from 'pg';
import { indexLines } from '../../postgres/audit-index.ts';
import type { IndexedLine } from '../../postgres/audit-index.ts';
import { reasonOf } from '../../problem.ts';
import type { Audit, Receipt } from './audit.ts';
import { originOf } from './origin.ts';

const MOST_AT_ONCE = 1000;

/**
 * An audit whose lines Postgres is told of, behind the back of whoever waits for them: the files are the record, and what the index
 * misses while Postgres is away `surety audit index` brings in.
 */
export function indexed(
  audit: Audit,
  pool: pg.Pool,
  onLag: (message: string) => void = (message) => process.emitWarning(message),
): Audit {
  let waiting: IndexedLine[] = [];
  let telling: Promise<void> | undefined;
  let isLagging = false;

  async function tell(): Promise<void> {
    while (waiting.length > 0) {
      const lines = waiting.slice(0, MOST_AT_ONCE);
      waiting = waiting.slice(MOST_AT_ONCE);
      try {
        await indexLines(pool, await originOf(audit.directory), lines);
        isLagging = false;
      } catch (error) {
        if (!isLagging) onLag(`The index of the audit lags (${reasonOf(error)}); bring it up: surety audit index`);
        isLagging = true;
      }
    }
    telling = undefined;
  }

  return {
    ...audit,
    append: async (entry) => {
      const receipt = await audit.append(entry);
      waiting.push(rowOf(receipt));
      telling ??= tell();
      return receipt;
    },
    close: async () => {
      await audit.close();
      await telling;
    },
  };
}

function rowOf({ file, offset, hash, entry: { ts, tool, result } }: Receipt): IndexedLine {
  return { file, offset, hash, at: ts, tool, outcome: result };
}
