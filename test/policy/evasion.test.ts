import { afterAll, describe, expect, it } from 'vitest';
import { judgeCommand } from '../../src/domain/policy/judge.ts';
import { policyOf } from '../../src/domain/policy/policy.ts';
import { ShellRules } from '../../src/domain/policy/policy.schema.ts';
import { BLOCKED, commandFrom, HARMLESS, randomFrom } from './generate.ts';
import { mangledFrom } from './mangle.ts';
import { Scene } from './run-in-bash.ts';

const COMMANDS = Number(process.env['EVASION_COMMANDS'] ?? 10_000);
const SEED = Number(process.env['EVASION_SEED'] ?? 20_261_117);
/** Of what was not allowed only so many are run, to see that the commands do what they are meant to do. */
const SAMPLED = 40;
const BATCH = 200;
/** Most of these are refused, because they do not parse: judging them costs little. */
const MANGLED = 2 * COMMANDS;

// Never tried twice: what has escaped once has escaped.
describe('no evasion', { retry: 0 }, () => {
  const scene = new Scene(BLOCKED, HARMLESS);
  afterAll(() => {
    scene.close();
  });

  it(`of ${COMMANDS} commands a real bash runs nothing blocked that the policy has allowed to the most trusted`, () => {
    const random = randomFrom(SEED);
    // What a rule allows must not hide what it does not name.
    const policies = [{}, { allow: [':*', 'true*', 'hello *'] }].map((rules) => policyOf(ShellRules.parse(rules)));
    const commands = Array.from({ length: COMMANDS }, () => commandFrom(random));
    const verdicts = commands.map((command) => {
      const given = policies.map((policy) => judgeCommand(command, policy, { trust: 'trusted' }).verdict);
      return given.find((verdict) => verdict === 'allow') ?? given[0];
    });
    // What was refused cannot have slipped through: running all that was allowed is running all that matters.
    const turns = commands.flatMap((_, turn) => (verdicts[turn] === 'allow' || turn % SAMPLED === 0 ? [turn] : []));
    for (let at = 0; at < turns.length; at += BATCH) {
      scene.run(new Map(turns.slice(at, at + BATCH).map((turn) => [turn, commands[turn] ?? ''])));
    }
    const ran = scene.whatRan();
    const escaped = [...ran].flatMap(([turn, program]) =>
      verdicts[turn] === 'allow' ? [`${program} ran: ${JSON.stringify(commands[turn])}`] : [],
    );
    const count = (verdict: string) => verdicts.filter((each) => each === verdict).length;
    const refused = turns.filter((turn) => verdicts[turn] !== 'allow').length;
    console.log(
      `EVASION_SEED=${SEED}: ${COMMANDS} commands, ${count('deny')} denied, ${count('ask')} asked about, ` +
        `${count('allow')} allowed. Run: all allowed and ${refused} others, of which ${ran.size - escaped.length} ran a ` +
        `blocked program. Escaped: ${escaped.length}.`,
    );
    expect(escaped.slice(0, 20)).toEqual([]);
    // A generator whose commands do not run proves nothing, nor does a policy that allows nothing. A quarter of them run
    // nothing blocked, and a part is only text.
    expect(ran.size).toBeGreaterThan(refused * 0.4);
    expect(count('allow')).toBeGreaterThan(COMMANDS / 20);
  }, 240_000);

  it(`of ${MANGLED} mangled lines bash reads none in another way than the policy, and runs what is blocked`, () => {
    const random = randomFrom(SEED);
    const policy = policyOf(ShellRules.parse({}));
    const first = COMMANDS;
    const lines = Array.from({ length: MANGLED }, () => mangledFrom(random)).filter((line) => line.includes('sudo'));
    const allowed = new Map(
      lines.flatMap((line, at): [number, string][] =>
        judgeCommand(line, policy, { trust: 'trusted' }).verdict === 'allow' ? [[first + at, line]] : [],
      ),
    );
    const turns = [...allowed];
    for (let at = 0; at < turns.length; at += BATCH) scene.run(new Map(turns.slice(at, at + BATCH)), 1);
    const escaped = [...scene.whatRan()].flatMap(([turn]) =>
      turn >= first ? [JSON.stringify(allowed.get(turn))] : [],
    );
    console.log(
      `EVASION_SEED=${SEED}: ${MANGLED} mangled lines, ${allowed.size} allowed and run. Escaped: ${escaped.length}.`,
    );
    expect(escaped.slice(0, 20)).toEqual([]);
    expect(allowed.size).toBeGreaterThan(MANGLED / 100);
  }, 240_000);
});
