import { HOLE, literal, MADE, type Field } from '../../command/expand.ts';
import { doubt, isUnsure, type Consequence } from './consequence.ts';
import { rereadingOptions, rereadsShopt } from './shells.ts';
import { isStream, mayBeStream } from '../reading/streams.ts';

export type Builtin = (args: readonly Field[], program: string) => readonly Consequence[];

const NAME = /^[A-Za-z_]\w*$/;
/** Options of `compgen` that only list. */
const LISTS = /^-[abcdefgjksuv]*(?:$|[AGoPSX])/;
const ADDS = /^\w+\+=/;
/** Behind which no trap speaks into a substitution. */
const SIGNAL = /^(?:--|\d+|EXIT|(?:SIG)?(?:INT|TERM|HUP|QUIT|USR1|USR2|PIPE|ALRM|CHLD|CONT|TSTP|WINCH))$/i;
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=(.*)$/s;

/** What the shell's own commands do to the shell: run text, set variables, rename programs. */
const BUILTINS: Readonly<Record<string, Builtin>> = {
  eval: (args) => {
    const text = withoutMark(args)
      .map((arg) => arg.text)
      .join(' ');
    const isMatched = args.some(({ glob }) => glob);
    if (args.length === 0) return [];
    if (args.some(({ expanded }) => expanded !== undefined))
      return [{ type: 'script', text }, ...doubt('what eval is told is put together when it runs')];
    return [{ type: 'script', text }, ...(isMatched ? doubt('names that a glob matches are read as a command') : [])];
  },
  trap: (args) => {
    const [first] = args.filter(({ text }) => text !== '--');
    const unsure =
      isUnsure(args) || args.some(({ expanded }) => expanded !== undefined)
        ? doubt('what trap is to run is only known when it runs')
        : [];
    if (first === undefined || first.many || /^-[lp]?$/.test(first.text) || args.length < 2) return unsure;
    const speaks = args.slice(1).every(({ text }) => SIGNAL.test(text)) ? [] : [{ type: 'voices' } as const];
    return [{ type: 'script', text: first.text }, ...speaks, ...unsure];
  },
  source: (args) => sourced(args),
  '.': (args) => sourced(args),
  alias: (args) => {
    const defined = args.flatMap(({ text }) => /^[^=]+=(.*)$/s.exec(text)?.[1] ?? []);
    if (defined.length === 0 && !isUnsure(args)) return [];
    const scripts = defined.map((text): Consequence => ({ type: 'script', text }));
    return [...scripts, ...doubt('an alias changes what later words mean')];
  },
  export: declared,
  declare: declared,
  typeset: declared,
  local: declared,
  readonly: declared,
  read: (args) => {
    const { operands, values } = partsOf(args, 'adinNptu');
    return [...arrays(values('a')), ...named([...values('a'), ...operands])];
  },
  mapfile,
  readarray: mapfile,
  getopts: (args) => named(partsOf(args, '').operands.slice(1, 2)),
  unset: (args) => {
    const { operands } = partsOf(args, '');
    const names = operands.filter(({ text }) => NAME.test(text));
    return [
      ...names.map(({ text }): Consequence => ({ type: 'variable', name: text, value: '' })),
      ...blindTo(operands),
    ];
  },
  printf: (args) => {
    const [first, second] = args;
    const format = first?.text === '--' ? second : first;
    const values = args.slice(format === second ? 2 : 1);
    const isMade = format?.text.includes(MADE) === true && values.some(({ text, open }) => open || NAME.test(text));
    if (isMade || /%[^a-zA-Z%]*[hjlLtz]*n/.test(format?.text ?? '')) return doubt('printf %n sets any variable');
    if (first === undefined || !first.text.startsWith('-v')) return [];
    const target = first.text === '-v' ? second : { ...first, text: first.text.slice(2) };
    if (target === undefined || target.open || !NAME.test(target.text)) return doubt('printf -v sets any variable');
    // The last one holds, should there be several.
    const rest = args.slice(first.text === '-v' ? 2 : 1);
    if (rest[0]?.text.startsWith('-') === true) return doubt('printf -v sets any variable');
    return [{ type: 'variable', name: target.text, value: MADE }];
  },
  let: (args) =>
    args.some(({ glob, text }) => glob || /[$`\\]/.test(text))
      ? doubt('what this evaluates is only known when it runs')
      : [...args.map(({ text }): Consequence => ({ type: 'arithmetic', text }))],
  test: tested,
  '[': tested,
  hash: (args) => (args.some(({ text }) => /^-[a-z]*p/.test(text)) ? doubt('hash -p renames a program') : []),
  enable: (args) => (args.length > 0 ? doubt('enable changes what a name means') : []),
  bind: () => doubt('bind attaches commands to keys'),
  complete: (args) => (args.length > 0 ? doubt('complete attaches commands to words') : []),
  compgen: (args) =>
    isUnsure(args) || args.some(({ text }) => text.startsWith('-') && !LISTS.test(text))
      ? doubt('compgen evaluates text')
      : [],
  jobs: (args) => {
    const at = args.findIndex(({ text }) => /^-\w*x/.test(text));
    return at === -1 ? [] : [{ type: 'command', fields: withoutMark(args.slice(at + 1)) }];
  },
  cd: entered,
  pushd: entered,
  fc: () => doubt('fc runs commands of the history'),
  wait: (args) => named(partsOf(args, 'p').values('p')),
  set: (args) => rereadingOptions(args).flatMap(() => doubt('set changes how the rest is read')),
  shopt: (args) => (args.some(rereadsShopt) ? doubt('shopt changes how the rest is read') : []),
};

export function builtin(program: string): Builtin | undefined {
  const own = Object.hasOwn(BUILTINS, program) ? BUILTINS[program] : undefined;
  // What `cd` is given may only lead elsewhere.
  if (own === undefined || program === 'eval' || program === 'cd') return own;
  const mayBe = own === tested ? mayTestVariable : mayBeGivenOption;
  const takesNames = TAKES_NAMES.test(program);
  return (args, name) => {
    if (takesNames && args.some(isNameMade))
      return [...own(args, name), ...doubt(`a name for ${name} is put together when it runs`)];
    return mayBe(args)
      ? [...own(args, name), ...doubt(`which options ${name} has is only known when it runs`)]
      : own(args, name);
  };
}

const TAKES_NAMES =
  /^(?:export|declare|typeset|local|readonly|mapfile|readarray|unset|getopts|hash|jobs|shopt|enable|alias|let|complete|compgen)$/;

/** Only what a variable is set to may be put together where names are told. */
function isNameMade({ text, expanded, list }: Field): boolean {
  return expanded !== undefined && list !== true && !/^\w+\+?=/.test(text);
}

/** `"$(x)"`, `"-$(x)"` */
function mayBecomeOption(text: string): boolean {
  return text.startsWith(MADE) || /^-.*[\0\uffff]/s.test(text);
}

/** Such a word, or one that may be several, where options stand. */
function mayBeGivenOption(args: readonly Field[]): boolean {
  for (const { text, many, found } of args) {
    if (mayBecomeOption(text) || (many && found !== true)) return true;
    if (!/^[-+]/.test(text) || text === '--') return false;
  }
  return false;
}

/** Before a word that has a subscript, or may have one, what is not known may be `-v`. */
function mayTestVariable(args: readonly Field[]): boolean {
  return args.some(({ text, many, glob }, at) => {
    const next = args[at + 1]?.text ?? '';
    if (many && !glob && text.startsWith(MADE)) return true;
    return mayBecomeOption(text) && /^[^=!<>-].*\[|\0/s.test(next);
  });
}

/** `--` says that no option follows. */
function withoutMark(args: readonly Field[]): readonly Field[] {
  return args[0]?.text === '--' ? args.slice(1) : args;
}

function sourced(args: readonly Field[]): readonly Consequence[] {
  const [file] = args.filter(({ text }) => text !== '--');
  if (file === undefined) return [];
  if (file.open || file.many) return doubt('which file is read is only known when it runs');
  if (mayBeStream(file.text)) return [{ type: 'input' }];
  return [{ type: 'file', path: file.text }, { type: 'variables' }];
}

function declared(args: readonly Field[], program: string): readonly Consequence[] {
  // As an argument, and not as an assignment, `x=$y` breaks into words.
  if (args.some(({ glob, expanded }) => glob || expanded === 'split'))
    return doubt('which variables this sets, and to what, is only known when it runs');
  if (args.some(({ text }) => /^[-+]/.test(text) && !/^(?:[-+][aAfFgprx]+|--)$/.test(text))) {
    return doubt('a variable that stands for another, or is evaluated or changed, hides what it holds');
  }
  const isArray = args.some(({ text }) => /^-[a-zA-Z]*[aA]/.test(text));
  const set = args.flatMap((field): readonly Consequence[] => {
    const [, name, value] = ASSIGNMENT.exec(field.text) ?? [];
    if (name !== undefined && value !== undefined)
      return [
        { type: 'variable', name, value: field.list === true || ADDS.test(field.text) ? undefined : value, isArray },
        ...listed(field, value, isArray),
      ];
    return NAME.test(field.text) ? [{ type: 'variable', name: field.text, value: '', isArray }] : [];
  });
  const blind: Consequence[] = args.some(({ text, many }) => many || /^[^=]*[\0\uffff]/.test(text))
    ? [{ type: 'variables' }]
    : [];
  // These two take no element of an array.
  const isPlain = program === 'export' || program === 'readonly';
  const unknown =
    (isPlain || args.some(({ text }) => /^[^=]*\uffff/.test(text))) && blind.length > 0
      ? doubt('which variables this sets is only known when it runs')
      : [];
  return [...set, ...blind, ...unknown, ...(isPlain ? [] : subscripts(args))];
}

/** A text of the form of a list is read as one: `declare -a 'x=($(y))'` runs y. */
function listed({ list }: Field, value: string, isArray: boolean): readonly Consequence[] {
  if (list === true) return [];
  if (value.startsWith('('))
    return [{ type: 'script', text: `x=${value}` }, ...doubt('a text that has the form of an array is evaluated')];
  return isArray && value.startsWith(HOLE) ? doubt('the elements of an array are evaluated') : [];
}

function named(fields: readonly Field[]): readonly Consequence[] {
  if (fields.some(({ glob }) => glob)) return doubt('which variables this sets is only known when it runs');
  const names = fields.filter(({ text }) => NAME.test(text));
  return [
    ...names.map(({ text }): Consequence => ({ type: 'variable', name: text, value: undefined })),
    ...blindTo(fields),
  ];
}

/** What names of variables may do besides naming them. */
function blindTo(fields: readonly Field[]): readonly Consequence[] {
  return [...(isUnsure(fields) ? [{ type: 'variables' } as const] : []), ...subscripts(fields)];
}

function arrays(fields: readonly Field[]): readonly Consequence[] {
  return fields.map(({ text }): Consequence => ({ type: 'variable', name: text, value: undefined, isArray: true }));
}

function mapfile(args: readonly Field[]): readonly Consequence[] {
  const { operands, values } = partsOf(args, 'dnOsucC');
  const scripts = values('C').map(({ text }): Consequence => ({ type: 'script', text }));
  const callbacks = scripts.length === 0 ? [] : [...scripts, ...doubt('a callback runs for what is read')];
  return [...arrays(operands), ...named(operands), ...callbacks];
}

interface Parts {
  readonly operands: readonly Field[];
  readonly values: (letter: string) => readonly Field[];
}

/** As the shell itself reads arguments: the first letter of a cluster that takes a value takes the rest, or the next one. */
function partsOf(args: readonly Field[], valued: string): Parts {
  const given: { readonly letter: string; readonly value: Field }[] = [];
  let at = 0;
  for (; /^-./s.test(args[at]?.text ?? ''); at += 1) {
    const field = args[at] ?? literal('');
    if (field.text === '--') {
      at += 1;
      break;
    }
    const letters = Array.from(field.text);
    const taking = letters.findIndex((letter, index) => index > 0 && valued.includes(letter));
    if (taking === -1) continue;
    const attached = letters.slice(taking + 1).join('');
    if (attached === '') at += 1;
    const value = attached === '' ? args[at] : { ...field, text: attached };
    if (value !== undefined) given.push({ letter: letters[taking] ?? '', value });
  }
  return {
    operands: args.slice(at),
    values: (letter) => given.flatMap((each) => (each.letter === letter ? [each.value] : [])),
  };
}

/** The subscript of an array is evaluated, substitutions and all: `read 'a[$(x)]'` runs x. A name nobody knows may have one. */
function subscripts(args: readonly Field[]): readonly Consequence[] {
  return args.flatMap(({ text }): readonly Consequence[] => {
    if (ASSIGNMENT.test(text)) return [];
    const [name = ''] = text.split('=', 1);
    if (/^[^[]*\0/.test(name)) return doubt('the subscript of an array is evaluated');
    const [, array = '', inner] = /^([^[]*)\[(.*)$/s.exec(text) ?? [];
    if (inner === undefined) return [];
    // `x[0]` is x.
    const set: readonly Consequence[] = NAME.test(array) ? [{ type: 'variable', name: array, value: undefined }] : [];
    if (/[$`\\]/.test(inner)) return [...set, ...doubt('the subscript of an array is evaluated')];
    return [...set, { type: 'arithmetic', text: inner }];
  });
}

/** Where streams are, they go by plain names. */
function entered(args: readonly Field[], program: string): readonly Consequence[] {
  return args.some(({ text }) => text !== '-' && isStream(text))
    ? doubt(`${program} goes where streams are files`)
    : [];
}

function tested(args: readonly Field[]): readonly Consequence[] {
  const isEvaluated = args.some(({ text }, at) => text === '-v' && !NAME.test(args[at + 1]?.text ?? ''));
  return isEvaluated ? doubt('test -v evaluates a subscript') : [];
}
