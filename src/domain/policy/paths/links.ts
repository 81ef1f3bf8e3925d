import type { Field } from '../../command/expand.ts';
import { programName } from '../../command/wrappers.ts';
import type { Named } from './paths.ts';

/**
 * What `ln` touches. Through a hard link its file is read and written by another name. A symbolic link is followed from where
 * the link lies; it may be made although nothing is read yet, so its target only asks.
 */
export function linksOf(args: readonly Field[]): {
  readonly names: readonly string[];
  readonly paths: readonly Named[];
} {
  const operands: string[] = [];
  let into: string | undefined;
  let isSymbolic = false;
  for (const [at, { text }] of args.entries()) {
    const target = /^(?:-[a-zA-Z]*t(.*)|--target-d[a-z-]*(?:=(.*))?)$/s.exec(text);
    const before = args[at - 1]?.text ?? '';
    if (/^(?:-[a-zA-Z]*t|--target-d[a-z-]*)$/.test(before)) into = text;
    else if (target !== null) into = target[1] ?? target[2] ?? into;
    else if (!text.startsWith('-')) operands.push(text);
    if (/^-[a-zA-Z]*s/.test(text) || /^--sy/.test(text)) isSymbolic = true;
  }
  const link = into ?? (operands.length > 1 ? operands.pop() : '.');
  const place = link === undefined || link === '' ? '.' : link;
  const isOpen = /[\0*?[]/.test(operands.join('') + place);
  const names = isOpen ? ['*'] : [place, ...operands].map(programName).filter((name) => !/^\.{0,2}$/.test(name));
  const paths: Named[] = [{ path: place, intent: 'write', certain: true }];
  for (const path of operands) {
    if (!isSymbolic) paths.push({ path, intent: 'read', certain: true }, { path, intent: 'write', certain: true });
    else if (/^[/~]/.test(path)) paths.push({ path, intent: 'read', certain: false });
    // The link may be the name that is given, or lie in the directory of that name.
    else paths.push({ path: `${parentOf(place)}${path}`, intent: 'read', certain: false });
  }
  return { names, paths };
}

function parentOf(path: string): string {
  if (/(?:^|\/)\.{1,2}$/.test(path)) return `${path}/`;
  return path.replace(/[^/]*$/, '');
}
