import { HOLE, type Field } from '../command/expand.ts';
import { doubt, isUnsure, type Consequence } from './consequence.ts';
import { isStream, rereadingOptions, rereads } from './shells.ts';

type Builtin = (args: readonly Field[], program: string) => readonly Consequence[];

const NAME = /^[A-Za-z_]\w*$/;
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=(.*)$/s;

/** What the shell's own commands do to the shell: run text, set variables, rename programs. */
const BUILTINS: Readonly<Record<string, Builtin>> = {
  eval: (args) => {
    const text = args.map((arg) => arg.text).join(' ');
    return args.length === 0 ? [] : [{ type: 'script', text }];
  },
  trap: (args) => {
    const [first] = args.filter(({ text }) => text !== '--');
    if (first === undefined || /^-[lp]?$/.test(first.text) || args.length < 2) return [];
    return [{ type: 'script', text: first.text }];
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
  read: (args) => [...named(args, /^-[a-zA-Z]*[dinNptu]$/), ...subscripts(args)],
  mapfile: (args) => [...named(args, /^-[dnOsucC]$/), ...callbacks(args)],
  readarray: (args) => [...named(args, /^-[dnOsucC]$/), ...callbacks(args)],
  getopts: (args) => named(args.slice(1), /^$/),
  unset: (args) => [
    ...args.flatMap(({ text }): Consequence[] =>
      NAME.test(text) ? [{ type: 'variable', name: text, value: '' }] : [],
    ),
    ...(isUnsure(args) ? [{ type: 'variables' } as const] : []),
    ...subscripts(args),
  ],
  printf: (args) => {
    const [first, second] = args;
    if (first === undefined || !first.text.startsWith('-v')) return [];
    const target = first.text === '-v' ? second : { ...first, text: first.text.slice(2) };
    if (target === undefined || target.open || !NAME.test(target.text)) return doubt('printf -v sets any variable');
    return [{ type: 'variable', name: target.text, value: undefined }];
  },
  let: (args) => [...subscripts(args), ...args.map(({ text }): Consequence => ({ type: 'arithmetic', text }))],
  test: tested,
  '[': tested,
  hash: (args) => (args.some(({ text }) => /^-[a-z]*p/.test(text)) ? doubt('hash -p renames a program') : []),
  enable: (args) => (args.length > 0 ? doubt('enable changes what a name means') : []),
  bind: () => doubt('bind attaches commands to keys'),
  complete: (args) => (args.length > 0 ? doubt('complete attaches commands to words') : []),
  compgen: (args) => (args.some(({ text }) => /^-[CFW]/.test(text)) ? doubt('compgen evaluates text') : []),
  fc: () => doubt('fc runs commands of the history'),
  wait: subscripts,
  set: (args) => rereadingOptions(args).flatMap(() => doubt('set changes how the rest is read')),
  shopt: (args) => (args.some(rereads) ? doubt('shopt changes how the rest is read') : []),
};

export function builtin(program: string): Builtin | undefined {
  return Object.hasOwn(BUILTINS, program) ? BUILTINS[program] : undefined;
}

function sourced(args: readonly Field[]): readonly Consequence[] {
  const [file] = args.filter(({ text }) => text !== '--');
  if (file === undefined) return [];
  if (file.open || file.many) return doubt('which file is read is only known when it runs');
  if (isStream(file.text)) return [{ type: 'input' }];
  return [{ type: 'file', path: file.text }, { type: 'variables' }];
}

function declared(args: readonly Field[]): readonly Consequence[] {
  if (args.some(({ text }) => /^-[a-zA-Z]*[ni]/.test(text))) {
    return doubt('a variable that stands for another, or is evaluated, hides what it holds');
  }
  const set = args.flatMap(({ text }): Consequence[] => {
    const [, name, value] = ASSIGNMENT.exec(text) ?? [];
    if (name !== undefined && value !== undefined) return [{ type: 'variable', name, value }];
    return NAME.test(text) ? [{ type: 'variable', name: text, value: '' }] : [];
  });
  const blind: Consequence[] = args.some(({ text, many }) => many || text.startsWith(HOLE))
    ? [{ type: 'variables' }]
    : [];
  return [...set, ...blind, ...subscripts(args.filter(({ text }) => !ASSIGNMENT.test(text)))];
}

function named(args: readonly Field[], valued: RegExp): readonly Consequence[] {
  const names = args.filter(({ text }, at) => NAME.test(text) && !valued.test(args[at - 1]?.text ?? ''));
  const set = names.map(({ text }): Consequence => ({ type: 'variable', name: text, value: undefined }));
  return isUnsure(args) ? [...set, { type: 'variables' }] : set;
}

function callbacks(args: readonly Field[]): readonly Consequence[] {
  const at = args.findIndex(({ text }) => /^-[a-zA-Z]*C/.test(text));
  if (at === -1) return subscripts(args);
  const text = args[at + 1]?.text ?? '';
  return [{ type: 'script', text }, ...doubt('a callback runs for what is read')];
}

/** The subscript of an array is evaluated, substitutions and all: `read 'a[$(x)]'` runs x. */
function subscripts(args: readonly Field[]): readonly Consequence[] {
  return args.some(({ text }) => text.includes('[') && /\$\(|`|\0/.test(text))
    ? doubt('the subscript of an array is evaluated')
    : [];
}

function tested(args: readonly Field[]): readonly Consequence[] {
  const at = args.findIndex(({ text }) => text === '-v');
  if (at === -1 && !args.some(({ many }) => many)) return [];
  const name = args[at + 1];
  return at !== -1 && (name === undefined || !NAME.test(name.text)) ? doubt('test -v evaluates a subscript') : [];
}
