import type { Field } from '../../command/expand.ts';

/** No alias takes the place of one of these. */
const SUBCOMMANDS: ReadonlySet<string> = new Set(
  (
    'add am apply archive bisect blame branch bundle cat-file check-ignore checkout cherry-pick clean clone commit config describe diff ' +
    'fetch fetch-pack for-each-ref format-patch fsck gc grep hash-object help init log ls-files ls-remote ls-tree merge mv notes pull push ' +
    'range-diff rebase reflog remote reset restore rev-list rev-parse revert rm send-email send-pack shortlog show show-ref sparse-checkout stash status ' +
    'submodule switch tag update-index worktree'
  ).split(' '),
);
const FLAG =
  /^(?:-[pP]|--(?:paginate|no-pager|bare|no-optional-locks|no-replace-objects|literal-pathspecs)|--[\w-]+=.*)$/s;
const VALUED = /^(?:-[cC]|--(?:git-dir|work-tree|namespace))$/;

export function isGitSubcommand(name: string): boolean {
  return SUBCOMMANDS.has(name);
}

/** The subcommand of git, if there is no doubt which it is. */
export function gitSubcommand(args: readonly Field[]): string | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const field = args[at];
    if (field === undefined || field.open || field.many) return undefined;
    if (VALUED.test(field.text)) at += 1;
    else if (!FLAG.test(field.text)) return SUBCOMMANDS.has(field.text) ? field.text : undefined;
    if (args[at]?.many === true) return undefined;
  }
  return undefined;
}
