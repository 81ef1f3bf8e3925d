// Appends a line to an audit between two calls of readlink, which whoever traces it finds again. Arguments: directory, fsync.
import { readlink } from 'node:fs/promises';
import { AuditSection } from '../../../src/domain/audit/audit.schema.ts';
import { openAudit } from '../../../src/execution/audit/audit.ts';

const [directory = '', fsync] = process.argv.slice(2);
const audit = openAudit(directory, AuditSection.parse({ fsync }));
const entry = {
  ...{ ts: new Date().toISOString(), tool: 'shell', duration_ms: 1, truncated: false },
  ...({ exit_code: 0, result: 'success' } as const),
};
// The first one also makes the file, and has the directory on the disk.
await audit.append(entry);
await mark();
await audit.append(entry);
await mark();
await audit.close();

async function mark(): Promise<void> {
  await readlink(directory).catch(() => undefined);
}
