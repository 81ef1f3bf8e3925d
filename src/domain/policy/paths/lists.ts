import { HOLE, type Field } from '../../command/expand.ts';
import type { Named } from './paths.ts';

/** Options that take the names of files from a list; what the list says nobody here knows. */
const LISTS: readonly (readonly [programs: string, option: RegExp])[] = [
  ['sort wc du', /^--f(?:i(?:l.*)?)?(?:=|$)/],
  ['tar gtar bsdtar', /^(?:-[a-zA-Z]*T.*|--files-f[a-z]*(?:=.*)?)$/s],
  ['file', /^(?:-[a-zA-Z]*f.*|--files-from(?:=.*)?)$/s],
  ['rsync', /^--files-from(?:=|$)/],
  ['zip', /^-[a-zA-Z]*@/],
  ['7z 7za 7zr', /^(?:-i.*)?@/],
  ['gcc cc g++ c++ clang clang++ ld', /^@/],
  ['find', /^-files0-from$/],
];
/** Letters without a dash, as in `tar cTf list x.tar`. */
const OLD = /^[a-zA-Z]*T/;
/** They take their names from their input, or from an archive, and those may lead anywhere. */
const ARCHIVERS: ReadonlySet<string> = new Set(['cpio', 'bsdcpio', 'pax']);
const ONLY_LISTS = /^(?:-[a-zA-Z]*t[a-zA-Z]*|--list|--version|--help)$/;

const BY_PROGRAM: ReadonlyMap<string, RegExp> = new Map(
  LISTS.flatMap(([programs, option]) => programs.split(' ').map((program): [string, RegExp] => [program, option])),
);

/** A file of which nothing is known, for a program that is told elsewhere which files it takes. */
export function listedElsewhere(program: string, args: readonly Field[]): readonly Named[] {
  const option = BY_PROGRAM.get(program);
  if (option !== undefined) {
    const isListed =
      args.some(({ text }) => option.test(text)) || (program.endsWith('tar') && OLD.test(args[0]?.text ?? ''));
    return isListed ? [{ path: HOLE, intent: 'read', certain: true }] : [];
  }
  const isMoving = ARCHIVERS.has(program) && !args.some(({ text }) => ONLY_LISTS.test(text));
  return isMoving ? [{ path: HOLE, intent: 'write', certain: true }] : [];
}
