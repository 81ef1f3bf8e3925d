import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PolicyHolder } from '../../../src/domain/policy/holder.ts';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

const policy = policyOf(ShellRules.parse({}));
const ordinary = readFileSync(new URL('../../fixtures/ordinary-commands.txt', import.meta.url), 'utf8').split('\n');
const PIECES = (
  '$( ) ` " \' { } (( )) [[ ]] [ ] ; & && | || < > << <<- <<< <( >( ${ } $ \\ \n # ! * ? ~ = += , .. @ % if then else fi for ' +
  'in do done while case esac function sudo rm -rf / eval bash -c env xargs find -exec \\; X x $X ${X:-y} $(( a[ EOF'
)
  .split(' ')
  .concat([' ', '\n', '\0', '\ud800', '\u{1f600}']);

function check(text: string): void {
  const judged = judgeCommand(text, policy);
  expect(['allow', 'ask', 'deny']).toContain(judged.verdict);
  for (const { start, end } of [...judged.reasons, ...judged.paths]) {
    expect(start).toBeGreaterThanOrEqual(0);
    expect(end).toBeGreaterThanOrEqual(start);
    expect(end).toBeLessThanOrEqual(text.length);
  }
  if (judged.verdict !== 'allow') expect(judged.reasons.length).toBeGreaterThan(0);
}

function checkInTime(text: string): void {
  const start = performance.now();
  check(text);
  expect(performance.now() - start).toBeLessThan(5000);
}

describe('whatever the text, there is an answer', () => {
  it('any characters', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), check), { numRuns: 500 });
  });

  it('any pieces of shell', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((all) => all.join(' ')),
        check,
      ),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((all) => all.join('')),
        check,
      ),
      { numRuns: 2000 },
    );
  });

  it('real commands with something cut out, put in or moved', () => {
    const edit = fc.tuple(fc.nat(), fc.nat(20), fc.constantFrom(...PIECES));
    const mutated = fc
      .tuple(fc.constantFrom(...ordinary), fc.array(edit, { minLength: 1, maxLength: 4 }))
      .map(([text, edits]) =>
        edits.reduce((now, [at, length, piece]) => {
          const from = at % (now.length + 1);
          return now.slice(0, from) + piece + now.slice(from + (length % 5));
        }, text),
      );
    fc.assert(fc.property(mutated, check), { numRuns: 3000 });
  });

  it.each([
    '$(',
    '(',
    '{ ',
    '"$(',
    '`',
    '<<a ',
    '${',
    '$((',
    '{a,',
    '{a,b}',
    '[[ ',
    'a[',
    '@(',
    'case x in a) ',
    'if ',
    '<(',
    'cat <<a\nx\n',
    '! ',
    'x=( ',
    'f()',
    'x=1 ',
    'x=$x$x;',
    'eval ',
    'env ',
    'bash -c ',
    'a|',
    'a;',
    '$x ',
    '"$x" ',
    "'\\''",
    'find -exec ',
    "psql -c 'select 1'; ",
  ])(
    'so much of %j that nobody reads it, within bounded time',
    (piece) => {
      for (const length of [1000, 8000, 32_000, 3_000_000]) {
        const text = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
        checkInTime(text);
      }
    },
    60_000,
  );

  it.each([
    ['rm -r ', '.', 'x'],
    ['rm -r ', './', 'x'],
    ['/', '.exe', 'x'],
    ['node -r ', '/', 'x'],
    ['python', '-', 'x3'],
    ['foo "surety ', 'surety', '"'],
    ['f() { ', 'a|', 'a; }; f'],
    ['git ', '-c a.b=c ', 'status'],
    ['find . ', '-exec ls {} \\; ', '-print'],
    [`A='${'a '.repeat(1000)}'; echo `, '$A ', 'x'],
    [`A='${'a '.repeat(1000)}'; `, 'eval $A; ', 'x'],
  ])(
    'after %j so much of %j, and then %j, within bounded time',
    (head, piece, tail) => {
      // What takes twice as long with each piece is to be seen while it still ends.
      for (const count of [42, 500, 30_000]) checkInTime(head + piece.repeat(count / piece.length) + tail);
    },
    60_000,
  );
});

it('many clients of a database on one line cost each as much as one', () => {
  const cost = (count: number): number => {
    const text = "psql -c 'select 1'; ".repeat(count);
    const start = performance.now();
    for (let turn = 0; turn < 1600 / count; turn += 1) check(text);
    return performance.now() - start;
  };
  cost(100);
  expect(Math.min(cost(800), cost(800))).toBeLessThan(4 * Math.max(cost(100), cost(100)));
});

describe('the policy in force', () => {
  it('answers the same text from memory, until it is replaced', () => {
    const holder = new PolicyHolder();
    const first = holder.judge('terraform destroy');
    expect(first.verdict).toBe('allow');
    expect(holder.judge('terraform destroy')).toBe(first);
    expect(holder.judge('terraform destroy', { trust: 'untrusted' }).verdict).toBe('ask');
    expect(holder.replace({ blockedCommands: ['terraform destroy'] })).toEqual({ accepted: true });
    expect(holder.judge('terraform destroy')).toMatchObject({ verdict: 'deny', unconditional: true });
  });

  it('stays in force when its successor is not valid, and says what is wrong', () => {
    const holder = new PolicyHolder({ deny: ['npm publish*'] });
    const refused = holder.replace({ deny: 'npm *', trust: 'boundless', allowed: [] });
    expect(refused).toMatchObject({ accepted: false });
    expect(JSON.stringify(refused)).toMatch(/shell\.deny.*shell\.trust.*allowed/);
    expect(holder.judge('npm publish').verdict).toBe('deny');
  });

  it('remembers so much and no more', () => {
    const holder = new PolicyHolder();
    const first = holder.judge('echo 0');
    const often = holder.judge('echo often');
    for (let i = 1; i <= 2000; i += 1) {
      holder.judge(`echo ${i}`);
      if (i % 500 === 0) expect(holder.judge('echo often')).toBe(often);
    }
    expect(holder.judge('echo 0')).not.toBe(first);
    expect(holder.judge('echo 2000')).toBe(holder.judge('echo 2000'));
  });
});
