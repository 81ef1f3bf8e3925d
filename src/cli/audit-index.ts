import { mkdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { Option } from 'commander';
import { canonical } from '../domain/audit/chain.ts';
import type { AuditLine } from '../domain/audit/entry.schema.ts';
import { plural } from '../domain/trust/tally.ts';
import { auditFiles } from '../execution/audit/files.ts';
import { originOf } from '../execution/audit/origin.ts';
import { lineAt, linesIn } from '../execution/audit/read.ts';
import type { ReadLine } from '../execution/audit/read.ts';
import { homeAt } from '../home.ts';
import { dropFromIndex, dropOtherFiles, findLines, indexLines } from '../postgres/audit-index.ts';
import type { FoundLine } from '../postgres/audit-index.ts';
import { inColumns, saidOf } from './audit-line.ts';
import { action } from './cli.ts';
import type { Cli } from './cli.ts';
import { withLedger } from './ledger.ts';
import { plain } from './text.ts';
import { parseSince } from './time.ts';
import { EXIT, parseCount } from './usage.ts';

const BATCH = 1000;
const RESULTS = ['success', 'error', 'timeout', 'cancelled', 'rollback', 'blocked'];

interface FindOptions {
  readonly tool?: string;
  readonly result?: string;
  readonly since?: number;
  readonly until?: number;
  readonly lines: number;
  readonly json?: boolean;
}

/** What asks Postgres where lines are. */
export function registerAuditIndex(audit: Command): void {
  audit
    .command('find')
    .description('the newest calls that match, of every data directory on this ledger')
    .option('--tool <name>', 'of this tool')
    .addOption(new Option('--result <result>', 'that ended so').choices(RESULTS))
    .option('--since <time>', 'from here on: 7d, or an ISO time', parseSince)
    .option('--until <time>', 'up to here', parseSince)
    .option('-n, --lines <n>', 'so many', parseCount, 20)
    .option('--json', 'print the lines as they are; of those that lie elsewhere, where')
    .action(action(find));
  audit
    .command('index')
    .description('bring the index in Postgres up to the files')
    .option('--json', 'print JSON')
    .action(action(index));
}

async function find({ config, terminal }: Cli, options: FindOptions): Promise<number> {
  const { tool, result, since = 0, until = Infinity, lines, json } = options;
  const directory = homeAt(config.home).audit;
  const files = await auditFiles(directory);
  const own = files.length === 0 ? undefined : await originOf(directory);
  const found = await withLedger(config, (pool) =>
    findLines(pool, { tool, outcome: result, since, until, most: lines }),
  );
  for (const each of found.toReversed()) {
    const file = each.origin === own ? files.find(({ name }) => name === each.file) : undefined;
    const line = file === undefined ? undefined : await lineAt(file, each.offset);
    await terminal.stream(line?.hash === each.hash ? written(line, json) : elsewhere(each, own, json));
  }
  if (found.length === 0 && json !== true) terminal.print('No such call has been recorded.');
  return EXIT.ok;
}

function written(line: AuditLine, json: boolean | undefined): string {
  return json === true ? canonical(line) : saidOf(line);
}

function elsewhere(found: FoundLine, own: string | undefined, json: boolean | undefined): string {
  const { origin, file, offset, at, tool, outcome } = found;
  if (json === true) return canonical(found);
  const place = origin === own ? 'no longer in' : `in data directory ${origin}:`;
  return inColumns(at, plain(outcome), `${plain(tool)}  (${place} ${file}, byte ${offset})`);
}

async function index({ config, terminal }: Cli, { json }: { json?: boolean }): Promise<number> {
  const directory = homeAt(config.home).audit;
  return withLedger(config, async (pool) => {
    const files = await auditFiles(directory);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const origin = await originOf(directory);
    let [written, lines] = [0, 0];
    let removed = await dropOtherFiles(
      pool,
      origin,
      files.map(({ name }) => name),
    );
    for (const file of files) {
      let batch: ReadLine[] = [];
      const offsets: number[] = [];
      const flush = async () => {
        written += await indexLines(pool, origin, batch.map(rowOf));
        batch = [];
      };
      for await (const read of linesIn(file)) {
        batch.push(read);
        offsets.push(read.offset);
        if (batch.length >= BATCH) await flush();
      }
      await flush();
      lines += offsets.length;
      removed += await dropFromIndex(pool, origin, file.name, offsets);
    }
    if (json === true) terminal.printJson({ files: files.length, lines, written, removed });
    else
      terminal.print(
        `${plural(lines, 'line')} in ${plural(files.length, 'file')}: ${written} indexed anew, ${removed} taken out.`,
      );
    return EXIT.ok;
  });
}

function rowOf({ file, offset, line }: ReadLine) {
  const tool = typeof line['tool'] === 'string' ? line['tool'] : '';
  return { file, offset, hash: line.hash, at: line.ts, tool, outcome: line.result };
}
