import { appendFile, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAudit } from '../src/execution/audit/audit.ts';
import type { AuditEntry } from '../src/domain/audit/entry.schema.ts';
import { alternate, row } from './measure.ts';
import type { Row } from './measure.ts';

const [LINES, AT_ONCE] = [1000, 50];

/** Lines a second into the audit, redacted and chained, beside bare lines of the same length. */
export async function audit(): Promise<readonly Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'surety-bench-audit-'));
  const section = { maxFileBytes: 1 << 30 };
  const lazy = openAudit(join(directory, 'lazy'), { ...section, fsync: 'never' });
  const durable = openAudit(join(directory, 'durable'), { ...section, fsync: 'always' });
  const bare = join(directory, 'bare');
  const synced = await open(join(directory, 'synced'), 'a');
  const text = `${'x'.repeat(420)}\n`;
  const seen = await alternate({
    lazy: () => perSecond(1, () => lazy.append(entry())),
    lazyTogether: () => perSecond(AT_ONCE, () => lazy.append(entry())),
    durable: () => perSecond(1, () => durable.append(entry()), LINES / 5),
    durableTogether: () => perSecond(AT_ONCE, () => durable.append(entry())),
    bare: () => perSecond(1, () => appendFile(bare, text)),
    synced: () => perSecond(1, () => synced.appendFile(text).then(() => synced.datasync()), LINES / 5),
  });
  await Promise.all([lazy.close(), durable.close(), synced.close()]);
  await rm(directory, { recursive: true });
  return [
    row('audit lines, no fsync / appendFile', '/s', seen.lazy, seen.bare),
    row(`audit lines, no fsync, ${AT_ONCE} at once / appendFile`, '/s', seen.lazyTogether, seen.bare),
    row('audit lines, fsync / append and fsync', '/s', seen.durable, seen.synced),
    row(`audit lines, fsync, ${AT_ONCE} at once / append and fsync`, '/s', seen.durableTogether, seen.synced),
  ];
}

async function perSecond(atOnce: number, append: () => Promise<unknown>, lines = LINES): Promise<number> {
  const start = performance.now();
  for (let done = 0; done < lines; done += atOnce) await Promise.all(Array.from({ length: atOnce }, append));
  return (lines / (performance.now() - start)) * 1000;
}

function entry(): AuditEntry {
  return {
    ts: new Date().toISOString(),
    tool: 'shell',
    server: 'local',
    command: 'git log --oneline -n 20',
    arguments: { command: 'git log --oneline -n 20', cwd: 'src' },
    output: 'c1d7030 fix: rows of one flush\n28fcc6c test: ports of a test\n',
    duration_ms: 12,
    truncated: false,
    exit_code: 0,
    result: 'success',
  };
}
