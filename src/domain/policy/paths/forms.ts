/**
 * How a program that is known to take files takes them. Letters are those of short options with a value: only such as always
 * take one, for what follows is passed over.
 */
export interface Form {
  /** What becomes of its operands; `both`: they are read and changed; `none`: they are no files. */
  readonly operands: 'read' | 'write' | 'both' | 'none';
  /** The last of several operands is written. */
  readonly writesLast?: true;
  /** The second of two operands is written: `uniq in out`. */
  readonly writesSecond?: true;
  /** The first operand is no file, unless one of these options has said it already: letters, and the beginnings of long names. */
  readonly pattern?: { readonly letters: string; readonly names: readonly string[] };
  /** Words after one dash that are no cluster of letters and take no value. */
  readonly flags?: RegExp;
  /** What else stands after one dash is one option and perhaps a file: `-I/x`, `-isystem/x`. */
  readonly words?: RegExp;
  /** Values that are no files. Of long options only such as always take one: after `--color` stands the next operand. */
  readonly plain?: string;
  readonly plainLong?: RegExp;
  readonly reads?: string;
  readonly readsLong?: RegExp;
  readonly writes?: string;
  /** Options that hand on others, set apart by commas: `-Wp,-include,x`. */
  readonly handsOn?: RegExp;
}

const read: Form = { operands: 'read' };
const write: Form = { operands: 'write' };
const reading = (more: Omit<Form, 'operands'>): Form => ({ operands: 'read', ...more });

const search = reading({
  pattern: { letters: 'ef', names: ['regexp', 'file', 'files'] },
  plain: 'ABCmdDe',
  plainLong:
    /^--(?:include|exclude|exclude-dir|regexp|context|after-context|before-context|max-count|binary-files|label)$/,
  reads: 'f',
  readsLong: /^--(?:file|exclude-from)$/,
});
const ripgrep: Form = {
  ...search,
  plain: 'ABCmegtTrjMEd',
  plainLong:
    /^--(?:regexp|color|colors|context|after-context|before-context|max-count|glob|iglob|type|type-not|replace|max-depth|engine|sort|sortr|threads|encoding|max-columns|max-filesize)$/,
};
/** Their `--context` takes a number only after `=`. */
const ack: Form = { ...search, plainLong: /^--(?:regexp|after-context|before-context|max-count)$/ };
const edit = reading({
  pattern: { letters: 'ef', names: ['expression', 'file'] },
  plain: 'el',
  plainLong: /^--(?:expression|line-length)$/,
  reads: 'f',
  readsLong: /^--file$/,
});
const awk = reading({
  pattern: { letters: 'feE', names: ['file', 'source', 'exec'] },
  plain: 'Fve',
  plainLong: /^--(?:field-separator|assign|source)$/,
  reads: 'fEi',
  readsLong: /^--(?:file|exec|include|load)$/,
});
const ALWAYS_FIRST = { letters: '', names: [] };
const copy: Form = { operands: 'read', writesLast: true, plain: 'S', writes: 't' };
const compiler: Form = {
  operands: 'none',
  writes: 'o',
  words: /^-(?!o)/,
  handsOn: /^-W[pla],/,
  readsLong: /^--(?:include|imacros|include-(?:directory|prefix|with-prefix)(?:-after|-before)?|sysroot)$/,
};

/** Entries of several programs at once. */
const TABLE: readonly (readonly [programs: string, form: Form])[] = [
  [
    'cat tac wc strings file cd pushd cmp comm md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum cksum source . readlink realpath ' +
      'zcat bzcat xzcat zless zmore rev expand unexpand tsort factor less more bat batcat ll lz4cat zstdcat look',
    read,
  ],
  ['head tail', reading({ plain: 'nc', plainLong: /^--(?:lines|bytes|pid)$/ })],
  [
    'sort',
    reading({
      plain: 'tkS',
      plainLong: /^--(?:field-separator|key|buffer-size|parallel|sort)$/,
      reads: 'T',
      writes: 'o',
    }),
  ],
  ['cut', reading({ plain: 'dfcb', plainLong: /^--(?:delimiter|fields|characters|bytes|output-delimiter)$/ })],
  ['paste', reading({ plain: 'd', plainLong: /^--delimiters$/ })],
  ['column', reading({ plain: 'soc', plainLong: /^--(?:separator|output-separator|table-[a-z]+)$/ })],
  ['nl', reading({ plain: 'bdfhilnsvw' })],
  ['od', reading({ plain: 'AtNjS' })],
  ['hexdump hd', reading({ plain: 'ens' })],
  ['fold', reading({ plain: 'w' })],
  ['fmt', reading({ plain: 'wpg' })],
  ['pr', reading({ plain: 'wlhoDNW' })],
  ['shuf', reading({ plain: 'ni', writes: 'o' })],
  ['iconv', reading({ plain: 'ft', writes: 'o' })],
  ['base64 base32 basenc', reading({ plain: 'w', writes: 'o' })],
  ['stat', reading({ plain: 'c' })],
  ['ls', reading({ plain: 'Iw' })],
  ['tree', reading({ plain: 'LIPHT', writes: 'o' })],
  ['du df', reading({ plain: 'dBt', reads: 'X' })],
  ['diff', reading({ plain: 'UCWxIFLD', plainLong: /^--(?:label|exclude|width|ifdef|tabsize|palette)$/, reads: 'XS' })],
  ['sdiff', reading({ plain: 'Iw', plainLong: /^--(?:ignore-matching-lines|width)$/, writes: 'o' })],
  ['diff3', reading({ plain: 'L', plainLong: /^--label$/ })],
  ['uniq', { operands: 'read', writesSecond: true, plain: 'fsw' }],
  ['xxd', { operands: 'read', writesSecond: true, plain: 'lscgonR', flags: /^-[^lscgonR]/ }],
  ['date', { operands: 'none', plain: 'ds', reads: 'fr' }],
  ['grep egrep fgrep zgrep', search],
  ['ag ack', ack],
  ['rg', ripgrep],
  [
    'fd fdfind',
    reading({ pattern: ALWAYS_FIRST, plain: 'etdESoxX', reads: 'C', readsLong: /^--(?:base-directory|search-path)$/ }),
  ],
  ['sed gsed', edit],
  ['awk gawk mawk nawk', awk],
  ['jq', reading({ pattern: { letters: 'f', names: ['from-file'] }, plain: 'L', reads: 'f' })],
  ['yq', reading({ pattern: ALWAYS_FIRST })],
  ['rm rmdir unlink shred tee mkfifo mknod', write],
  ['mkdir', { operands: 'write', plain: 'm' }],
  ['touch', { operands: 'write', plain: 'dt', reads: 'r' }],
  ['truncate', { operands: 'write', plain: 's', reads: 'r' }],
  // `chmod -r x`: the mode is an option.
  ['chmod', { operands: 'write', pattern: { letters: 'rwxXstugoa,+=01234567', names: ['reference'] } }],
  ['chown chgrp', { operands: 'write', pattern: { letters: '', names: ['reference'] } }],
  ['patch', { operands: 'both', plain: 'pFDBVgxzY', reads: 'i', writes: 'ordb' }],
  ['mv', { operands: 'both', writesLast: true, plain: 'S', writes: 't' }],
  ['cp', copy],
  ['install', { ...copy, plain: 'Smog' }],
  ['rsync', { operands: 'read', writesLast: true, plain: 'ef' }],
  ['scp', { operands: 'read', writesLast: true, plain: 'oPlcJSDX', reads: 'Fi' }],
  ['gzip gunzip bzip2 bunzip2 xz unxz zstd', { operands: 'both', plain: 'S' }],
  ['gcc cc g++ c++ clang clang++ ld rustc tcc', compiler],
];

const FORMS: ReadonlyMap<string, Form> = new Map(
  TABLE.flatMap(([programs, form]) => programs.split(' ').map((program): [string, Form] => [program, form])),
);

export function formOf(program: string): Form | undefined {
  return FORMS.get(program);
}

/** They take words as words; no file is opened. */
export const SPEAKS: ReadonlySet<string> = new Set(
  (
    'echo printf test [ true false : export alias unalias basename dirname tr seq expr sleep kill pkill pgrep killall which type ' +
    'whereis whoami id uname nproc printenv set unset local declare readonly typeset let read shift return exit break continue ' +
    'trap wait ulimit umask jobs fg bg hash help eval shopt getopts popd dirs exec command builtin env'
  )
    .split(' ')
    .filter((name) => !/^(?:exec|command|builtin|env)$/.test(name)),
);

/** Of git: they look, and leave files as they are. */
export const GIT_LOOKS: ReadonlySet<string> = new Set(
  'add diff log show blame status grep commit ls-files ls-tree rev-parse rev-list shortlog describe cat-file push fetch branch tag remote check-ignore hash-object'.split(
    ' ',
  ),
);

/** Other programs that are known to leave the files alone that they are given. */
export const LOOKS: ReadonlySet<string> = new Set(
  'code vimdiff shellcheck node nodejs python python3 ruby bash sh tsc tsx jest vitest pytest mypy flake8 open xdg-open ajv jsonlint'.split(
    ' ',
  ),
);
