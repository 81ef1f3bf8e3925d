// Appends lines to an audit, a few at a time, and ends as told: cleanly, or by its own kill. Arguments: directory, count, end.
import { AuditSection } from '../../../src/domain/audit/audit.schema.ts';
import { openAudit } from '../../../src/execution/audit/audit.ts';

const [directory = '', count = '0', end = 'close'] = process.argv.slice(2);
const audit = openAudit(directory, AuditSection.parse({ fsync: 'never', maxFileBytes: 8192 }));
const append = (index: number) =>
  audit.append({
    ts: new Date().toISOString(),
    tool: 'shell',
    command: `${process.pid} ${index}`,
    duration_ms: 1,
    truncated: false,
    exit_code: 0,
    result: 'success',
  });
for (let index = 0; index < Number(count); index += 5) {
  await Promise.all([0, 1, 2, 3, 4].map((more) => append(index + more)));
}
if (end === 'kill') process.kill(process.pid, 'SIGKILL');
await audit.close();
