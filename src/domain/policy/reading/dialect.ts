import { isShell, readsAsBash } from '../programs/shells.ts';

/** To other shells these are words, or end where they do not end for bash: `[[ a || x ]]` runs x. */
const OF_BASH_ALONE =
  /\[\[|\$\[|\$\{[^}]*'|(?:^|[\s;&|(])\w+(?:\[[^\]]*\])?\+?=(?<=[\]+]=)|\{\w+\}[<>]|(?<!\$)\(\(|\$['"]|[<>]\(|&>|\|&|<<<|\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}|\b(?:coproc|function|select)\b/;

/** Whether a text may mean something else to whoever reads it, being handed on through these programs, than it means to bash. */
export function isReadOtherwise(text: string, by: string, through: readonly string[]): boolean {
  const isBash = readsAsBash(by) && through.every((each) => !isShell(each) || readsAsBash(each));
  return !isBash && OF_BASH_ALONE.test(text);
}
