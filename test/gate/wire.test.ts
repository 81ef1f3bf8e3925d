import { expect, test } from 'vitest';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { WireSnapshot } from '../../src/gate/wire.schema.ts';

const snapshot = (rules: unknown) => ({
  settings: { version: 1, brokenGlassUntil: null, rules },
  ...{ grants: [], inDoubt: [] },
});

test('a gate overlooks what a newer server says in its rules, and goes by the rest', () => {
  const rules = parseRules({ blocklist: ['rm'], toolRules: { pay: { risk: 'destructive' } } });
  const newer = {
    ...rules,
    comingSoon: { much: true },
    toolRules: { pay: { ...rules.toolRules['pay'], mood: 'grim', approval: { fax: '555' } } },
  };
  expect(WireSnapshot.parse(snapshot(newer)).settings.rules).toMatchObject({
    blocklist: ['rm'],
    toolRules: { pay: { risk: 'destructive' } },
  });
  // What it knows and cannot read is another matter: no gate guesses.
  expect(WireSnapshot.safeParse(snapshot({ ...newer, blocklist: 'rm' })).success).toBe(false);
});
