import type { Field } from '../../command/expand.ts';
import type { Takes } from './paths.ts';

/** By program, the options with which it does something. */
type Options = ReadonlyMap<string, RegExp>;

/** Options by which programs go through directories and follow the links that lie in them, wherever these lead. */
const FOLLOWS = optionsOf([
  ['grep egrep fgrep', /^-[a-zA-Z]*R|^--dereference-r/],
  ['rg fd fdfind', /^-[a-zA-Z]*L|^--follow$/],
  ['ag', /^-[a-zA-Z]*f|^--follow$/],
  ['ack', /^--follow$/],
  ['find', /^-(?:L|follow)$/],
  ['ls', /^-[a-zA-Z]*(?:L[a-zA-Z]*R|R[a-zA-Z]*L)|^--dereference$/],
  ['tree', /^-[a-zA-Z]*l/],
  ['du cp', /^-[a-zA-Z]*L|^--dereference$/],
  ['rsync', /^-[a-zA-Z]*[Lk]|^--copy-(?:dir|unsafe-)?links$/],
  ['tar gtar bsdtar', /^-?[a-zA-Z]*h|^--dereference$/],
  ['diff', /^-[a-zA-Z]*r|^--recursive$/],
  ['zip scp', /^-[a-zA-Z]*r|^--recurse-paths$/],
]);
/** By which they do not after all. */
const KEEPS_LINKS = optionsOf([
  ['diff', /^--no-dereference$/],
  ['zip', /^-[a-zA-Z]*y|^--symlinks$/],
]);

/** Whether a program reads what links below its operands lead to. */
function followsLinks(program: string, args: readonly Field[]): boolean {
  return hasOption(FOLLOWS, program, args) && !hasOption(KEEPS_LINKS, program, args);
}

/** It begins where it is started, unless it is told where. */
export function beginsHere(program: string): boolean {
  return /^(?:[efz]?grep|rg|fd|fdfind|ag|ack|find|ls|tree|du)$/.test(program);
}

/** By which programs hand on directories with all that is in them, to where they have another name. */
const WHOLE = optionsOf([
  ['mv', /^/],
  ['cp', /^-[a-zA-Z]*[rRa]|^--(?:recursive|archive)$/],
  ['scp', /^-[a-zA-Z]*r/],
  ['rsync', /^-[a-zA-Z]*[ar]|^--(?:recursive|archive)$/],
]);

/** By which they read whatever files lie below a directory, and say or pack what these hold. */
const SHOWS = optionsOf([
  ['grep egrep fgrep zgrep', /^-[a-zA-Z]*[drR]|^--(?:rec|deref|dir)/],
  ['rg ag ack rgrep', /^/],
  ['tar gtar bsdtar', /^-?[a-zA-Z]*[cru][a-zA-Z]*$|^--(?:cr|ap|up|con|cat)/],
  ['7z 7za 7zz', /^[au]$/],
  ['zip diff', /^-[a-zA-Z]*r|^--rec/],
]);

/** What becomes of that which lies below the directories a program is given. */
export function takesBelow(program: string, args: readonly Field[]): readonly Takes[] {
  const takes: Takes[] = [];
  if (followsLinks(program, args)) takes.push('links');
  else if (hasOption(WHOLE, program, args)) takes.push(program === 'mv' ? 'moved' : 'copied');
  if (hasOption(SHOWS, program, args)) takes.push('shown');
  return takes;
}

function hasOption(options: Options, program: string, args: readonly Field[]): boolean {
  const option = options.get(program);
  return option !== undefined && args.some(({ text }) => option.test(text));
}

function optionsOf(options: readonly (readonly [programs: string, option: RegExp])[]): Options {
  return new Map(
    options.flatMap(([programs, option]) => programs.split(' ').map((program) => [program, option] as const)),
  );
}
