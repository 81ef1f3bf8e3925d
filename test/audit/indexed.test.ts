import { expect, test } from 'vitest';
import { indexed } from '../../src/execution/audit/indexed.ts';
import { verifyAudit } from '../../src/execution/audit/verify.ts';
import { createPool } from '../../src/postgres/pool.ts';
import { auditDirectory, openHere, success } from './support.ts';

test('where Postgres is away lines are written all the same, and it is said once what brings the index up', async () => {
  const directory = auditDirectory();
  const nowhere = createPool('postgres://surety@127.0.0.1:1/surety', { max: 1 });
  const lags: string[] = [];
  const audit = indexed(openHere(directory), nowhere, (message) => lags.push(message));
  for (const command of ['a', 'b', 'c']) await audit.append(success({ command }));
  await audit.close();
  await nowhere.end();
  expect(await verifyAudit(directory)).toMatchObject({ ok: true, lines: 3 });
  expect(lags).toEqual([expect.stringContaining('ECONNREFUSED')]);
  expect(lags[0]).toContain('surety audit index');
});
