import type { Command } from 'unbash';
import { programName } from '../../command/wrappers.ts';
import { knownProgram } from '../programs/known-program.ts';
import { hasSubcommands, SETS } from './only-said.ts';

/** They run nothing, whatever lies where they are. */
const QUIET = new Set(
  (
    'echo printf cat tac head tail wc ls ll grep egrep fgrep cd pwd mkdir rmdir touch rm chmod cut tr uniq comm cmp stat file ' +
    'du df date true false : test [ exit sleep basename dirname realpath readlink prettier tsc gofmt rustfmt black ruff shellcheck'
  ).split(' '),
);
/** Hooks have a table of their own. */
const QUIET_GIT = /^(?:add|commit|diff|log|mv|pull|push|rm|show|stash|status)$/;

/** Whether a command runs nothing of what the line has written before. */
export function isQuiet({ name, args }: Command): boolean {
  if (name === undefined || QUIET.has(name.value)) return true;
  return name.value === 'git' && QUIET_GIT.test(args[0]?.text ?? '');
}

/** Programs of whose arguments we know what they mean, and that write none of them anywhere. */
export function readsItself(name: string): boolean {
  const program = programName(name).toLowerCase();
  const { isAwk, isSed, isShell, language, takesWords } = knownProgram(program);
  if (isAwk || isSed || isShell || language !== undefined) return true;
  return takesWords && !hasSubcommands(program) && !SETS.has(program) && program !== 'echo' && program !== 'printf';
}
