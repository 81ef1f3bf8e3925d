import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseRules } from '../../../src/domain/rules/parse-rules.ts';
import { SimulatedEvent } from '../../../src/domain/simulate/events.schema.ts';
import { createSimulation } from '../../../src/domain/simulate/simulate.ts';

interface Case {
  id: string;
  rules: unknown;
  events: unknown[];
  expect: ({
    after: number;
    tool: string;
    server?: string;
    args: unknown;
    requiresApproval?: boolean;
    notices?: string[];
  } & Record<string, unknown>)[];
}

const { cases } = JSON.parse(readFileSync(new URL('../../fixtures/trust.json', import.meta.url), 'utf8')) as {
  cases: Case[];
};

test.each(cases.map((one) => [one.id, one] as const))('%s', (_, { rules, events, expect: expected }) => {
  const simulation = createSimulation(parseRules(rules));
  const notices: string[] = [];
  for (const [index, event] of events.entries()) {
    notices.push(...simulation.event(SimulatedEvent.parse(event)).notices);
    for (const { after, tool, server, args, requiresApproval, notices: told, ...fields } of expected) {
      if (after !== index) continue;
      const line = simulation.look({ tool, args, ...(server === undefined ? {} : { server }) });
      expect({ state: 'TRUSTED', ...line }).toMatchObject(fields);
      if (requiresApproval !== undefined) expect(line.decision !== 'allow').toBe(requiresApproval);
      if (told !== undefined) expect(notices).toEqual(told);
    }
  }
});
