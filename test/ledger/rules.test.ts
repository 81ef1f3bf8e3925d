import { afterAll, beforeAll, expect, test } from 'vitest';
import { viewForTool } from '../../src/domain/rules/resolve.ts';
import { appendOutcomes } from '../../src/postgres/append.ts';
import { acknowledge } from '../../src/postgres/project.ts';
import { currentRules } from '../../src/postgres/rules.ts';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';
import { ledgerOf, outcome } from './support.ts';

let installation: Installation;

beforeAll(async () => {
  installation = await createInstallation();
});
afterAll(() => installation.close());

test('of equally specific globs the first in the file wins, also once they are published', async () => {
  await installation.publish({ toolRules: { 'z*z': { countThreshold: 7 }, 'z?z': { countThreshold: 8 } } });
  const { rules, version } = await currentRules(installation.pool);
  expect(viewForTool(rules, version, 'local', 'zaz').own).toMatchObject({
    pattern: 'z*z',
    rule: { countThreshold: 7 },
  });
  await installation.publish({ toolRules: { 'z?z': { countThreshold: 8 }, 'z*z': { countThreshold: 7 } } });
  const after = await currentRules(installation.pool);
  expect(viewForTool(after.rules, after.version, 'local', 'zaz').own).toMatchObject({ pattern: 'z?z' });
});

test('whoever reports by older rules than are published rings for all that may count by the newer ones', async () => {
  const ledger = ledgerOf(installation);
  await installation.publish({ defaultRule: { unknownCounts: false, severityFilter: ['timeout'] } });
  const older = await currentRules(installation.pool);
  const reported = async (...outcomes: Parameters<typeof outcome>[0][]) =>
    (await appendOutcomes(ledger, outcomes.map(outcome), older)).bells.length;
  const unanswered = { kind: 'unknown', name: 'unanswered' } as const;
  const failed = { kind: 'failure', severity: 'server_error', category: 'quality', evidence: 'text' } as const;
  const filtered = { ...failed, name: 'filtered' };
  const slow = { ...failed, severity: 'timeout', name: 'slow' } as const;
  const unreached = { ...slow, category: 'reachability', server: 'far' } as const;
  expect([await reported(unanswered), await reported(filtered)]).toEqual([0, 0]);
  expect([await reported(slow), await reported(unreached)]).toEqual([1, 1]);
  // As workflows do that have judged everything.
  const rest = { scope: '', failures: 100, until: null, rulesVersion: older.version };
  for (const key of ['tool:local/slow', 'server:far']) await acknowledge(installation.pool, key, 1, 0, rest);
  expect([await reported(slow), await reported(unreached)]).toEqual([0, 0]);

  await installation.publish({ defaultRule: { unknownCounts: true, countThreshold: 1 } });
  expect([await reported(unanswered), await reported(filtered)]).toEqual([1, 1]);
  expect([await reported(slow), await reported(unreached)]).toEqual([1, 1]);
  // What went well counts against nothing, by whatever rules.
  expect(await reported({ name: 'fine' }, { name: 'fine', server: 'near' })).toBe(0);
});
