import { isDestructive, isPillar, isRecursive } from '../command/danger.ts';
import { HOLE } from '../command/expand.ts';
import type { Run } from './reading.ts';

/** Why a run destroys what nobody gets back; undefined if it does not. No rule makes an exception. */
export function destruction(run: Run, runs: readonly Run[]): string | undefined {
  const args = run.args.map(({ text }) => text);
  if (isDestructive({ program: run.program, args, wrappers: run.through }))
    return `${run.program} would destroy the system`;
  if (run.program !== 'rm') return undefined;
  if (args.some((arg) => /^--no-pres/.test(arg))) return 'rm --no-preserve-root is meant to destroy the system';
  const options = args.filter((arg) => arg.startsWith('-'));
  if (!options.some(isRecursive)) return undefined;
  const isForced = options.some((option) => /^(?:-[a-zA-Z]*f|--force$)/.test(option));
  if (isForced && args.some((arg) => /(?:^|\/)\.git\/worktrees(?:\/|$)/.test(arg))) {
    return 'rm would destroy work in worktrees of git';
  }
  const isInPillar = runs.some(
    (each) => /^(?:cd|pushd)$/.test(each.program) && each.args.some(({ text }) => isPillar(text)),
  );
  return isInPillar && args.some(isWhereverOneIs) ? 'rm would destroy the directory changed to' : undefined;
}

/** Why nobody can tell what a recursive removal takes away. */
export function removalDoubt(run: Run): string | undefined {
  if (run.program !== 'rm' || !run.args.some(({ text }) => isRecursive(text))) return undefined;
  if (run.args.some(({ text }) => text.includes(HOLE))) return 'what rm takes away is only known when it runs';
  return run.args.some(({ text }) => isWhereverOneIs(text)) ? 'rm takes away all that is where it runs' : undefined;
}

function isWhereverOneIs(arg: string): boolean {
  return /^(?:\.{0,2}\/?)*\*?$/.test(arg) && arg !== '';
}
