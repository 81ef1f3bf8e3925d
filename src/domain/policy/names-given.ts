import { knownProgram } from './known-program.ts';
import { namesIn, wordsIn } from './names.ts';
import { isHandedOn, isSuretyItself } from './own-commands.ts';
import type { Policy } from './policy.ts';
import type { Run } from './reading.ts';
import { shown } from './shown.ts';

interface NameGiven {
  readonly because: string;
  readonly rule: string;
}

const COPIERS = new Set(['cp', 'mv', 'ln', 'install', 'rsync', 'cat']);
const NONE: readonly NameGiven[] = [];

/**
 * Blocked names among the arguments of a program that may do more with them than to say them. `cp /usr/bin/sudo x` makes a program
 * that nobody knows by name; a program that nobody knows may run its arguments.
 */
export function namesGiven(run: Run, { blockedPrograms, blocksOwnCommands }: Policy): readonly NameGiven[] {
  const { program, args } = run;
  const { isStranger, mayRunArguments } = knownProgram(program);
  const isTaken = COPIERS.has(program) || isStranger;
  if (run.maybe || (!isTaken && !mayRunArguments)) return NONE;
  const found: NameGiven[] = [];
  let texts: readonly string[] | undefined;
  for (let at = 0; at < args.length; at += 1) {
    const { text = '' } = args[at] ?? {};
    const whole = text.slice(text.lastIndexOf('/') + 1).toLowerCase();
    const names = mayRunArguments ? (isStranger ? wordsIn : namesIn)(text, args[at - 1]?.text) : [];
    for (const name of isTaken ? [whole, ...names] : names) {
      if (blockedPrograms.has(name))
        found.push({ because: `${shown(program)} is given ${name}, which is blocked`, rule: name });
    }
    if (!blocksOwnCommands || program === 'surety' || !text.includes('surety')) continue;
    texts ??= args.map((each) => each.text);
    if (COPIERS.has(program) ? isSuretyItself(text) : isHandedOn(texts, at, names))
      found.push({ because: `${shown(program)} is given surety, with which only people decide`, rule: 'surety' });
  }
  return found;
}
