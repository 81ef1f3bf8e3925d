import type { ParameterExpansionPart, Word, WordPart } from 'unbash';
import { braceWords } from './braces.ts';
import { BREAK, HOLE, MADE, MATCH, NUMBER } from './marks.ts';

export { HOLE, MADE, MATCH, NUMBER, RESERVED } from './marks.ts';

/** One field of a command, as far as its text tells. */
export interface Field {
  /** Quotes and escapes undone; HOLE where something unknown will stand. */
  readonly text: string;
  readonly open: boolean;
  /** May turn into no field at all or into several: an unquoted expansion, a glob, `"$@"`. */
  readonly many: boolean;
  readonly glob: boolean;
  /** Something in it is expanded when it runs, known or not; `split`: without quotes. */
  readonly expanded?: 'quoted' | 'split';
  /** The name of a file that was found, whichever: it is no option. */
  readonly found?: true;
  /** `x=(…)` as it is written out: what is in it is read where it stands. */
  readonly list?: true;
}

/** What is known of the variables of a script. */
export interface Variables {
  /** Every value a variable may have at this place; `certain` if there is no other. */
  valuesOf(name: string, at: number): { readonly values: readonly string[]; readonly certain: boolean };
  /** Whether words still break at blanks: nobody has touched IFS. */
  readonly breaksAtBlanks: boolean;
  /** What a substitution says, if it can be nothing else. */
  saidBy(substitution: string): Said | undefined;
}

export type Said = 'number' | 'number or nothing' | 'name or nothing' | 'here';

interface Alternative {
  readonly text: string;
  readonly many: boolean;
  readonly glob: boolean;
  readonly quoted: boolean;
}

const MOST_ALTERNATIVES = 16;
const UNKNOWN: Alternative = { text: HOLE, many: true, glob: false, quoted: false };
const UNKNOWN_FIELD: Field = { text: HOLE, open: true, many: true, glob: false };

/**
 * Every way a word may turn out, each as the fields it breaks into: quotes and escapes undone, `{a,b}` spread, variables
 * replaced by each value they may have. What cannot be known is a HOLE and never left out.
 */
export function expand(word: Word, variables: Variables): readonly (readonly Field[])[] {
  const parts = word.parts;
  if (parts === undefined) return [[literal(word.value)]];
  if (!parts.some((part) => part.type === 'BraceExpansion')) return expandParts(parts, variables);
  const spread = braceWords(parts);
  if (spread === undefined) return [[UNKNOWN_FIELD]];
  let ways: readonly (readonly Field[])[] = [[]];
  for (const each of spread) ways = product(ways, expandParts(each, variables), (left, right) => [...left, ...right]);
  return ways.length === 0 ? [[UNKNOWN_FIELD]] : ways;
}

export function literal(text: string): Field {
  return { text, open: false, many: false, glob: false };
}

/** A word where nothing breaks into fields: the value of an assignment, the target of a redirection. */
export function expandWhole(word: Word, variables: Variables): readonly string[] {
  if (word.parts === undefined) return [word.value];
  return alternativesOf(word.parts, variables, true).map(({ text }) => text.replaceAll(BREAK, ' '));
}

function expandParts(parts: readonly WordPart[], variables: Variables): readonly (readonly Field[])[] {
  const how = howExpanded(parts);
  const expanded = how === undefined ? {} : { expanded: how };
  return alternativesOf(parts, variables, false).map(({ text, many, glob, quoted }) =>
    text
      .split(BREAK)
      .filter((field, _, all) => field !== '' || (quoted && all.length === 1))
      .map((field) => ({ text: field, open: field.includes(HOLE) || field.includes(NUMBER), many, glob, ...expanded })),
  );
}

export function howExpanded(parts: readonly WordPart[]): Field['expanded'] {
  let isQuoted = false;
  for (const part of parts) {
    if (isExpansion(part)) return 'split';
    if (part.type === 'DoubleQuoted') isQuoted ||= part.parts.some(isExpansion);
  }
  return isQuoted ? 'quoted' : undefined;
}

export function isExpansion({ type }: { readonly type: string }): boolean {
  return EXPANSIONS.has(type);
}

const EXPANSIONS: ReadonlySet<string> = new Set([
  'SimpleExpansion',
  'ParameterExpansion',
  'CommandExpansion',
  'ArithmeticExpansion',
  'ProcessSubstitution',
] satisfies WordPart['type'][]);

function alternativesOf(parts: readonly WordPart[], variables: Variables, quoted: boolean): readonly Alternative[] {
  let ways: readonly Alternative[] = [{ text: '', many: false, glob: false, quoted: false }];
  for (const part of parts) {
    ways = product(ways, waysOf(part, variables, quoted), (left, right) => ({
      text: left.text + right.text,
      many: left.many || right.many,
      glob: left.glob || right.glob,
      quoted: left.quoted || right.quoted,
    }));
    if (ways.length === 0) return [UNKNOWN];
  }
  return ways.flatMap((way) => (MAY_BE_MARK.test(way.text) ? [way, { ...way, text: withoutHoles(way.text) }] : [way]));
}

/** What is not known may be nothing, and what is left an option, or the end of something: `"$x-v"`, `";$x"`. */
const MAY_BE_MARK = /^(?:\0[\ufdd0\ufdd1]?|\uffff|~)+[-+;!({]|^(?:;|\{\}|\+)(?:\0[\ufdd0\ufdd1]?|\uffff)+$/;

function withoutHoles(text: string): string {
  return text.replace(/^~|\0[\ufdd0\ufdd1]?|\uffff/g, '');
}

/** Empty where there would be too many to look at. */
function product<T>(left: readonly T[], right: readonly T[], join: (left: T, right: T) => T): readonly T[] {
  if (left.length * right.length > MOST_ALTERNATIVES) return [];
  return left.flatMap((one) => right.map((other) => join(one, other)));
}

function waysOf(part: WordPart, variables: Variables, quoted: boolean): readonly Alternative[] {
  switch (part.type) {
    case 'Literal':
      return [{ text: part.value, many: false, glob: false, quoted: false }];
    case 'AnsiCQuoted':
      if (isOddlyEscaped(part.text)) return [unknown(true)];
      return [{ text: part.value, many: false, glob: false, quoted: true }];
    case 'SingleQuoted':
      return [{ text: part.value, many: false, glob: false, quoted: true }];
    case 'Glob':
      return [{ text: part.value, many: !quoted, glob: !quoted, quoted: false }];
    case 'DoubleQuoted':
    case 'LocaleString':
      return alternativesOf(part.parts, variables, true).map((way) => ({ ...way, quoted: true }));
    case 'SimpleExpansion':
      return variable(part.text.slice(1), part.pos, variables, quoted);
    case 'ParameterExpansion':
      return parameter(part, variables, quoted);
    case 'ArithmeticExpansion':
      return [known(NUMBER)];
    case 'ProcessSubstitution':
      return [known(`/dev/fd/${NUMBER}`)];
    case 'CommandExpansion':
      return substituted(part.text, variables, quoted);
    case 'ExtendedGlob':
    case 'BraceExpansion':
      return [unknown(quoted)];
  }
}

function substituted(text: string, variables: Variables, quoted: boolean): readonly Alternative[] {
  switch (variables.saidBy(text)) {
    case 'number':
      return [known(NUMBER)];
    case 'number or nothing':
      return quoted ? [known(NUMBER)] : [known(NUMBER), known('')];
    case 'here':
      return [known('.')];
    case 'name or nothing':
      return [{ ...unknown(quoted), text: MATCH }];
    case undefined:
      return [made(quoted)];
  }
}

/** Escapes of `$'…'` of which parser and shell do not think alike: `\\x{62}`, a backslash at the end of a line, single bytes. */
function isOddlyEscaped(text: string): boolean {
  return /\\(?:x\{|\n|x[89a-fA-F][0-9a-fA-F]|[2-7][0-7]{2}|[cU]|u[dD])/.test(text.replaceAll('\\\\', ''));
}

function parameter(part: ParameterExpansionPart, variables: Variables, quoted: boolean): readonly Alternative[] {
  const { operation, parameter: name } = part;
  if (part.prefix === '#') return [known(NUMBER)];
  // Arrays are of the line's own making.
  if (part.index !== undefined) return [{ ...UNKNOWN, text: MADE }];
  if (part.prefix !== undefined) return [UNKNOWN];
  if (operation === undefined) return variable(name, part.pos, variables, quoted);
  if (operation.type !== 'Default') {
    const { values } = variables.valuesOf(name, part.pos);
    // What is made of names that a glob has matched is no more than a part of them.
    // Its end may be cut off, but what it begins with it must keep.
    const keepsBeginning = !/^[#/:]/.test(part.text.slice(part.text.indexOf(name) + name.length));
    const isMade = POSITIONAL.test(name) || !keepsBeginning || values.some((value) => !value.includes(MATCH));
    return [isMade ? made(quoted) : unknown(quoted)];
  }
  const operands =
    operation.operand.parts === undefined
      ? [asValue(operation.operand.value, quoted)]
      : alternativesOf(quoted ? operation.operand.parts : operation.operand.parts.map(broken), variables, quoted);
  const own = variable(name, part.pos, variables, quoted);
  switch (operation.operator) {
    case '+':
    case ':+':
      return [known(''), ...operands];
    case '?':
    case ':?':
      return own;
    case '-':
    case ':-':
    case '=':
    case ':=':
      return [...own, ...operands];
  }
}

/** Blanks that stand there without quotes part words. */
function broken(part: WordPart): WordPart {
  return part.type === 'Literal' ? { ...part, value: part.value.replace(/[ \t\n]+/g, BREAK) } : part;
}

/** What the shell itself sets, and nobody else as long as the script does not: no program, no code. */
const TAME: ReadonlyMap<string, string> = new Map([
  ['HOME', '~'],
  ['PWD', '.'],
  ...'? # $ ! UID EUID PPID RANDOM SECONDS LINENO BASHPID SHLVL COLUMNS LINES'
    .split(' ')
    .map((name): [string, string] => [name, NUMBER]),
]);

/** What a function is given, or `set --` was. */
const POSITIONAL = /^[\d@*]+$/;
const MAY_BE_EMPTY = /^(?:!|COLUMNS|LINES)$/;

function variable(name: string, at: number, variables: Variables, quoted: boolean): readonly Alternative[] {
  if (name === 'IFS' && variables.breaksAtBlanks) return [known(quoted ? ' \t\n' : BREAK)];
  if (POSITIONAL.test(name)) return [{ ...made(quoted), many: !quoted || name === '@' }];
  const { values, certain } = variables.valuesOf(name, at);
  const tame = values.length === 0 ? TAME.get(name) : undefined;
  if (tame !== undefined) return !quoted && MAY_BE_EMPTY.test(name) ? [known(tame), known('')] : [known(tame)];
  if (!quoted && !variables.breaksAtBlanks) return [UNKNOWN];
  const ways = values.map((value) => asValue(value, quoted));
  // `n=$!` is a number, or nothing.
  if (!quoted && values.includes(NUMBER) && !values.includes('')) ways.push(known(''));
  return certain ? ways : [...ways, unknown(quoted)];
}

/** A value that stands unquoted breaks into fields at its blanks, and may be a glob. */
function asValue(value: string, quoted: boolean): Alternative {
  if (quoted) return known(value);
  const glob = /[*?[]/.test(value);
  return { text: value.replace(/[ \t\n]+/g, BREAK), many: glob || value.includes(HOLE), glob, quoted: false };
}

function known(text: string): Alternative {
  return { text, many: false, glob: false, quoted: false };
}

function made(quoted: boolean): Alternative {
  return { ...unknown(quoted), text: MADE };
}

function unknown(quoted: boolean): Alternative {
  return quoted ? { ...UNKNOWN, many: false } : UNKNOWN;
}
