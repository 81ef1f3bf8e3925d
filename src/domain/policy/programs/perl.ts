import type { Field } from '../../command/expand.ts';

const OPTION = /^-(?:[pnwlas0]|0[0-7]{0,3}|i(?:\.\w+)?)+$/;
const WITH_SCRIPT = /^-(?:[pnwlas]|0[0-7]{0,3})*(?:i(?:\.\w+)?(?=e|$)|i(?=[pnwlas0]))*(?:[pnwlas]|0[0-7]{0,3})*e$/;
/** What stands for itself in a pattern or a text. `@{[…]}`, `(?{…})` and variables run code, or may; `$1` and the end of a line do not. */
const PATTERN = String.raw`(?:\\[^]|\$(?=[/|)])|\(\?(?:[:=!]|<[=!])|\((?!\?)|[^\\/$@{}\`(])*`;
const TEXT = String.raw`(?:\\[^]|\$\d|[^\\/$@{}\`])*`;
const SUBSTITUTIONS = new RegExp(String.raw`^\s*(?:s/${PATTERN}/${TEXT}/[gimsx]*\s*(?:;\s*|$))+$`);

/** `perl -pi -e 's/a/b/g' x`: substitutions of texts, and nothing else. */
export function onlySubstitutes(args: readonly Field[]): boolean {
  const at = args.findIndex(({ text }) => !OPTION.test(text));
  const option = args[at];
  const script = args[at + 1];
  if (option === undefined || script === undefined || !WITH_SCRIPT.test(option.text)) return false;
  const files = args.slice(at + 2);
  const isPlain = ({ text, open, many, glob, found }: Field) =>
    found === true || (!open && (!many || glob) && /^[\w./]/.test(text) && !/^\s*\||\|\s*$/.test(text));
  return !script.open && !script.many && SUBSTITUTIONS.test(script.text) && files.every(isPlain);
}
