import type { Field } from '../command/expand.ts';

/** Options by which programs go through directories and follow the links that lie in them, wherever these lead. */
const FOLLOWS: ReadonlyMap<string, RegExp> = new Map(
  (
    [
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
    ] as const
  ).flatMap(([programs, option]) => programs.split(' ').map((program): [string, RegExp] => [program, option])),
);
/** By which they do not after all. */
const KEEPS_LINKS: ReadonlyMap<string, RegExp> = new Map([
  ['diff', /^--no-dereference$/],
  ['zip', /^-[a-zA-Z]*y|^--symlinks$/],
]);

/** Whether a program reads what links below its operands lead to. */
export function followsLinks(program: string, args: readonly Field[]): boolean {
  const option = FOLLOWS.get(program);
  if (option === undefined || !args.some(({ text }) => option.test(text))) return false;
  const but = KEEPS_LINKS.get(program);
  return but === undefined || !args.some(({ text }) => but.test(text));
}

/** It begins where it is started, unless it is told where. */
export function beginsHere(program: string): boolean {
  return /^(?:[efz]?grep|rg|fd|fdfind|ag|ack|find|ls|tree|du)$/.test(program);
}

/** By which programs hand on directories with all that is in them, to where they have another name. */
const WHOLE: ReadonlyMap<string, RegExp> = new Map([
  ['mv', /^/],
  ['cp', /^-[a-zA-Z]*[rRa]|^--(?:recursive|archive)$/],
  ['scp', /^-[a-zA-Z]*r/],
  ['rsync', /^-[a-zA-Z]*[ar]|^--(?:recursive|archive)$/],
]);

export function takesWhole(program: string, args: readonly Field[]): 'copied' | 'moved' | undefined {
  const option = WHOLE.get(program);
  if (option === undefined || !args.some(({ text }) => option.test(text))) return undefined;
  return program === 'mv' ? 'moved' : 'copied';
}
