import { knownProgram } from './programs/known-program.ts';
import { namesIn, wordsIn } from './second-look/names.ts';
import { isHandedOn, isSuretyItself } from './own-commands.ts';
import type { Run } from './reading/reading.ts';

const COPIERS = new Set(['cp', 'mv', 'ln', 'install', 'rsync', 'cat']);

/**
 * Whether a program is given Surety's own command line, and may do more with it than to say it: a copy of it is a program that nobody
 * knows by name, and a program that nobody knows may run its arguments.
 */
export function isGivenSurety({ program, args, maybe }: Run): boolean {
  const { isStranger, mayRunArguments } = knownProgram(program);
  if (maybe || program === 'surety' || (!COPIERS.has(program) && !isStranger && !mayRunArguments)) return false;
  if (COPIERS.has(program)) return args.some(({ text }) => isSuretyItself(text));
  const texts = args.map(({ text }) => text);
  return texts.some((text, at) => {
    if (!text.includes('surety')) return false;
    const names = mayRunArguments ? (isStranger ? wordsIn : namesIn)(text, texts[at - 1]) : [];
    return isHandedOn(texts, at, names);
  });
}
