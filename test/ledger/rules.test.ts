import { afterAll, beforeAll, expect, test } from 'vitest';
import { viewForTool } from '../../src/domain/rules/resolve.ts';
import { currentRules } from '../../src/postgres/rules.ts';
import { createInstallation } from '../support/installation.ts';
import type { Installation } from '../support/installation.ts';

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
