import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

/** A day of a developer's, those included that the default list wants confirmed. */
const commands = readFileSync(new URL('../../fixtures/ordinary-commands.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');

it('of ordinary commands hardly any is asked about, and none denied', () => {
  const policy = policyOf(ShellRules.parse({}));
  const judged = commands.map((command) => ({ command, ...judgeCommand(command, policy) }));
  const asked = judged.filter(({ verdict }) => verdict === 'ask');
  const trusted = commands.filter((command) => judgeCommand(command, policy, { trust: 'trusted' }).verdict !== 'allow');
  const share = (count: number) => `${count} (${((100 * count) / commands.length).toFixed(1)} %)`;
  console.log(
    `${commands.length} ordinary commands: ${share(asked.length)} asked about by default, ` +
      `${share(trusted.length)} from whoever is trusted.\n` +
      asked.map(({ command, reasons }) => `  ${command}: ${reasons[0]?.because ?? ''}`).join('\n'),
  );
  expect(commands.length).toBeGreaterThanOrEqual(300);
  expect(judged.filter(({ verdict }) => verdict === 'deny').map(({ command }) => command)).toEqual([]);
  expect(asked.length / commands.length).toBeLessThan(0.06);
  expect(trusted.length / commands.length).toBeLessThan(0.03);
});
