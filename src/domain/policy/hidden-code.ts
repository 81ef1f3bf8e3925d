import { blockedIn } from './laid-bare.ts';
import { mayBe } from './pattern.ts';
import type { Policy } from './policy.ts';
import { readCommand } from './read.ts';

/** Without any of these a text puts nothing together: its names are spelt out. */
const CODE = /[$`|;&<>(){}]/;

/**
 * What a text would do, if somebody took it for a command line, that a command line is asked about: run what is only known when it
 * runs, or what is blocked. A text that a shell cannot read is none.
 */
export function hiddenCode(text: string, policy: Policy): string | undefined {
  if (!CODE.test(text)) return undefined;
  const { runs, doubts, isBroken, isFlooded } = readCommand(text);
  if (isBroken) return undefined;
  if (isFlooded) return 'there is more to it than anybody could look at';
  const isBlocked = runs.some(
    ({ program, name }) =>
      blockedIn(program, policy) !== undefined ||
      [...policy.blockedPrograms].some((each) => (name.open || name.glob) && mayBe(name, each)),
  );
  return isBlocked ? 'it may turn out to be blocked' : doubts[0]?.because;
}
