import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

const policyWith = (rules: unknown) => policyOf(ShellRules.parse(rules));

describe('however much stands before it, what is blocked stays blocked', () => {
  it.each([
    ['what a rule allows', 'ls;'.repeat(1100), 'sudo id'],
    ['what asks', 'rm a;'.repeat(1100), 'sudo id'],
    ['what a deny rule names', 'npm publish;'.repeat(1100), 'sudo id'],
    ['more than anybody follows', 'a;'.repeat(9000), 'sudo id'],
    ['constructs', ': $(a);'.repeat(1100), 'sudo id'],
    ['doubts', 'node -e 1;'.repeat(1100), 'sudo id'],
    ['words', `echo${' a'.repeat(15_000)};`, 'sudo id'],
    ['paths', 'a>b;'.repeat(3000), 'cat x > /dev/sda'],
  ])('%s', (_, flood, blocked) => {
    const policy = policyWith({ allow: ['ls*', 'node *'], deny: ['npm publish*'] });
    const judged = judgeCommand(flood + blocked, policy, { trust: 'trusted' });
    expect(judged).toMatchObject({ verdict: 'deny', unconditional: true });
    expect(judged.reasons[0]).toMatchObject({ unconditional: true, start: expect.any(Number) as number });
    expect(judged.reasons.length).toBeLessThanOrEqual(50);
  });
});

describe('nor is a question lost', () => {
  const policy = policyWith({ allow: ['node *', 'cat *', 'ls*'], confirmPatterns: ['`', 'rm'] });
  it.each([
    ['doubts that a rule lifts', 'node -e 1;'.repeat(210), 'cat x | bash'],
    ['constructs nobody asks about', 'ls <(a);'.repeat(210), 'ls `date`'],
    ['runs that a rule allows', 'ls;'.repeat(1100), 'rm a'],
    ['more than anybody follows', 'ls;'.repeat(3000), 'cat x | bash'],
  ])('%s', (_, flood, asked) => {
    expect(judgeCommand(flood.slice(0, 99), policy).verdict).toBe('allow');
    expect(judgeCommand(flood + asked, policy).verdict).toBe('ask');
  });
});

it('more files than anybody looks at are denied: the roots hold whoever approves', () => {
  const files = Array.from({ length: 2001 }, (_, at) => `f${at}`).join(' ');
  const verdict = (command: string) => judgeCommand(command, policyWith({}), { trust: 'trusted' }).verdict;
  expect(verdict(`cat ${files} /etc/shadow`)).toBe('deny');
  expect(verdict(`cat ${files.slice(0, 5000)}`)).toBe('allow');
});

it('a long value that is used often is more than anybody looks at, and nothing lifts that', () => {
  const judged = (times: number) =>
    judgeCommand(`A='${'a '.repeat(2000)}'; rm ${'$A '.repeat(times)} -rf /`, policyWith({}), { trust: 'trusted' });
  expect(judged(2000)).toMatchObject({ verdict: 'deny', unconditional: true });
  expect(judged(2000).reasons.map(({ because }) => because)).toContain(
    'there is more to it than anybody could look at',
  );
  expect(judgeCommand(`A='${'a '.repeat(2000)}'; echo $A $A`, policyWith({})).verdict).toBe('allow');
});
