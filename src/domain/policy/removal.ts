import { isAbbreviated, isDestructive, isForce, isRecursive, mayDestroy } from '../command/danger.ts';
import { HOLE, type Field } from '../command/expand.ts';
import { isPillar, placeOf } from '../command/pillars.ts';
import type { Run } from './reading/reading.ts';

/**
 * Why a run destroys what nobody gets back; undefined if it does not. No rule makes an exception. `entered`: the directories
 * of `pillarsEntered` that the command line changes to.
 */
export function destruction(run: Run, entered: readonly string[]): string | undefined {
  const { program, through: wrappers } = run;
  if (!mayDestroy(program) && !ENDS.has(program)) return undefined;
  const args = operandsOf(run);
  if (isDestructive({ program, args, wrappers })) return `${program} would destroy the system`;
  const isBelowPillar = entered.some((directory) => {
    return isDestructive({ program, args: args.map((arg) => below(directory, arg)), wrappers });
  });
  if (isBelowPillar) return `${program} would destroy the directory changed to`;
  if (program === 'killall5' || (program === 'pkill' && args.some((arg) => /^\.[*+]?$/.test(arg))))
    return `${program} would end all that runs`;
  if (program === 'kill' && args.length > 1 && args.at(-1) === '-1') return 'kill would end all that runs';
  if (program !== 'rm') return undefined;
  if (args.some((arg) => arg.length > 3 && isAbbreviated(arg, '--no-preserve-root'))) {
    return 'rm --no-preserve-root is meant to destroy the system';
  }
  const isWorktree = args.some((arg) => /(?:^|\/)\.git\/worktrees(?:\/|$)/.test(arg));
  return isWorktree && args.some(isRecursive) && args.some(isForce)
    ? 'rm would destroy work in worktrees of git'
    : undefined;
}

const ENDS = new Set(['kill', 'pkill', 'killall5']);

/** `find -delete` begins where it is. */
function operandsOf({ program, args }: Run): readonly string[] {
  const texts = args.map(({ text }) => text);
  return program === 'find' && /^[-(!]/.test(texts[0] ?? '-') ? ['.', ...texts] : texts;
}

/** Where a command line changes to, if whatever is taken away there is gone for good. */
export function pillarsEntered(runs: readonly Run[]): readonly string[] {
  const entered: string[] = [];
  for (const { program, args } of runs) {
    if (program === 'cd' || program === 'pushd') entered.push(...(args.length === 0 ? ['~'] : args.map(textOf)));
    if (program === 'env')
      entered.push(...args.flatMap((arg, at) => environmentDirectory(arg.text, args[at + 1]?.text)));
  }
  return entered.filter((directory) => isPillar(placeOf(directory)));
}

function textOf({ text }: Field): string {
  return text;
}

function environmentDirectory(text: string, next = ''): readonly string[] {
  const attached = /^(?:-\w*C|--ch\w*=?)(.*)$/s.exec(text)?.[1];
  return attached === undefined ? [] : [attached === '' ? next : attached];
}

function below(directory: string, arg: string): string {
  return /^[-/~]|^\w+=/.test(arg) ? arg : `${directory}/${arg}`;
}

/** Why nobody can tell what a recursive removal takes away. */
export function removalDoubt(run: Run): string | undefined {
  if (run.program !== 'rm') return undefined;
  // What is not known may be an option.
  if (!run.args.some(({ text }) => isRecursive(text) || text.startsWith(HOLE))) return undefined;
  if (run.args.some(({ text }) => text.includes(HOLE))) return 'what rm takes away is only known when it runs';
  return run.args.some(({ text }) => isWhereverOneIs(text)) ? 'rm takes away all that is where it runs' : undefined;
}

function isWhereverOneIs(arg: string): boolean {
  return /^(?:~[+-](?:\/|$))?[./]*(?:\*|\.\[[!^]\.\]\*|\?\??\*)?$/.test(arg) && arg !== '';
}
