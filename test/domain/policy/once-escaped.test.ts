import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

/** Lines that got a blocked program run unasked, each seen to do so in a real bash. `⏎` stands for a new line. */
const lines = readFileSync(new URL('../../fixtures/once-escaped.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.replaceAll('⏎', '\n'));

it('what has escaped once is asked about, whoever it comes from', () => {
  const policy = policyOf(ShellRules.parse({}));
  const allowed = lines.filter((line) => judgeCommand(line, policy, { trust: 'trusted' }).verdict === 'allow');
  expect(lines.length).toBeGreaterThan(500);
  expect(allowed).toEqual([]);
});
