import { HOLE, type Field } from '../command/expand.ts';

export type PathIntent = 'read' | 'write';

/** A file that a command names, as far as its text tells. `known` is false where a part of it is not. */
export interface CommandPath {
  readonly path: string;
  readonly intent: PathIntent;
  readonly known: boolean;
  readonly start: number;
  readonly end: number;
}

const URL = /^[a-z][a-z0-9+.-]*:\/\//i;
const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
/** Every operand is a file that changes. */
const WRITES = words('rm rmdir unlink shred mkdir touch tee truncate chmod chown chgrp mkfifo mknod mv patch');
/** The last operand changes, the others are read. */
const COPIES = words('cp ln install rsync scp');
/** Every operand is a file that is read. */
const READS = words(
  'cat tac less more head tail wc sort uniq cut paste nl od xxd hexdump strings file stat ls ll tree du cd pushd diff cmp ' +
    'comm md5sum sha1sum sha256sum cksum base64 source . readlink realpath gzip gunzip zcat bat',
);
/** The first operand is no file: a pattern, a program. */
const PATTERN_FIRST = words('grep egrep fgrep rg sed awk gawk mawk jq yq chmod chown chgrp');
const IN_PLACE = words('sed gsed perl');
const SPEAKS = words('echo printf test [ true false : export alias');
/** Options whose value is a file that is written. */
const OUTPUT = /^(?:-o|--output(?:-file|-document|-dir)?|-O|-t|--target-directory)$/;

interface Named {
  readonly path: string;
  readonly intent: PathIntent;
}

/** The files among a program's arguments. Strings that only contain a slash are taken for files, too: better seen than missed. */
export function pathsOf(program: string, args: readonly Field[]): readonly Named[] {
  if (SPEAKS.has(program)) return [];
  const found: Named[] = [];
  const operands: string[] = [];
  const takesFiles = WRITES.has(program) || COPIES.has(program) || READS.has(program) || PATTERN_FIRST.has(program);
  const inPlace = IN_PLACE.has(program) && args.some(({ text }) => /^(?:-[a-zA-Z]*i|--in-place)/.test(text));
  for (const [at, { text }] of args.entries()) {
    const option = args[at - 1]?.text ?? '';
    const own = attached(text);
    if (own !== undefined) {
      if (isPath(own.path, false)) found.push({ path: own.path, intent: own.output ? 'write' : 'read' });
    } else if (OUTPUT.test(option) && isPath(text, true)) found.push({ path: text, intent: 'write' });
    else if (!text.startsWith('-') && isPath(text, takesFiles)) operands.push(text);
  }
  const files = PATTERN_FIRST.has(program) ? operands.filter((text, at) => at > 0 || isRooted(text)) : operands;
  files.forEach((path, at) => {
    const isLast = at === files.length - 1;
    const changes = WRITES.has(program) || inPlace || (COPIES.has(program) && isLast);
    found.push({ path, intent: changes ? 'write' : 'read' });
  });
  return found;
}

/** `--file=/x`, `-I/x`, `of=/x`, `NAME=/x`, `@/x`. */
function attached(text: string): { readonly path: string; readonly output: boolean } | undefined {
  const set = /^(--?[\w-]+|[A-Za-z_]\w*)=(.*)$/s.exec(text);
  if (set !== null) {
    const [, name = '', path = ''] = set;
    return { path, output: name === 'of' || OUTPUT.test(name) };
  }
  const short = /^-([A-Za-z])@?((?:\/|~|\.{1,2}\/|\0).*)$/s.exec(text);
  if (short !== null) return { path: short[2] ?? '', output: short[1] === 'o' || short[1] === 'O' };
  return text.startsWith('@') && text.length > 1 && !/^@[\w-]+\/[\w.-]+$/.test(text)
    ? { path: text.slice(1), output: false }
    : undefined;
}

function isRooted(text: string): boolean {
  return /^(?:\/|~|\.{1,2}(?:\/|$))/.test(text);
}

function isPath(text: string, expected: boolean): boolean {
  if (text === '' || text === '-' || URL.test(text)) return false;
  if (isRooted(text)) return true;
  if (expected) return true;
  return text.includes('/') && !/[\s]/.test(text);
}

/** As a person would write it: what nobody knows is shown as `…`. */
export function shownPath(path: string): string {
  return path.replace(/[\0\u0002]/g, '…');
}
