import { expect, test } from 'vitest';
import { begin, receive } from '../../../src/domain/approval/approval.ts';
import { approvalDetails } from '../../../src/domain/approval/describe.ts';
import { DEFAULT_RULE } from '../../../src/domain/rules/rule.ts';

const terms = { ...DEFAULT_RULE.approval, approvers: [['ann'], ['bob']] };
const question = { agent: 'bot', owner: null, isSecurity: false, isShown: true };
const described = { id: 'x', tool: 'deploy', because: 'deploy is ESCALATED: 3 failures', question, terms };
const ann = { by: 'ann', person: 'ann', verified: true, isAgent: false, mayDecide: true };

test('an open question says who is asked, who is asked next, and when it expires', () => {
  expect(approvalDetails(described, begin(0, terms))).toBe(`## Open: may bot call deploy?

deploy is ESCALATED: 3 failures.

- asked by bot at 1970-01-01 00:00:00 UTC
- to be decided by ann
- bob asked, too, at 1970-01-01 01:00:00 UTC
- expires at 1970-01-02 00:00:00 UTC; version 1

Decide in the console, or with \`surety approve x\` or \`surety deny x\`.`);
});

test('a decided one begins with who decided; names and reasons bring no Markdown along', () => {
  const message = { type: 'approve', at: 1000, reason: '[click](http://evil)\n# no', grant: { kind: 'once' } } as const;
  const { state } = receive(begin(0, terms), message, ann, question, terms);
  const details = approvalDetails({ ...described, tool: '<img src=x>' }, state);
  expect(details.split('\n')[0]).toBe('## Approved by ann');
  expect(details).toContain('- approved at 1970-01-01 00:00:01 UTC:  click (http://evil) # no');
  expect(details).not.toMatch(/[<>[\]]|^# no/m);
});
