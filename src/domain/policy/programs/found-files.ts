import { HOLE, literal, type Field } from '../../command/expand.ts';
import { doubt, isUnsure, mayBeOption, type Consequence } from './consequence.ts';
import { always, type Program } from './program.ts';

const REST: Field = { text: HOLE, open: true, many: true, glob: false };

/** The commands that `find` runs. `{}` will be the name of a file. */
export function find(args: readonly Field[]): readonly Consequence[] {
  const commands: Consequence[] = [];
  for (let at = 0; at < args.length; at += 1) {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(args[at]?.text ?? '')) continue;
    const start = at + 1;
    const isValue = VALUED.test(args[at - 1]?.text ?? '');
    at = endOfExec(args, at);
    const command = args.slice(start, at);
    if (isValue || command.some(({ text }) => /^-(?:exec|ok)(?:dir)?$/.test(text)))
      commands.push(...doubt('what find is to run may be another command than it looks like'));
    const fields = filled(command, '{}');
    commands.push({ type: 'command', fields: startsPlainly(args) ? fields.map(found) : fields });
    if (mayEndEarlier(command)) commands.push(...doubt('what find is to run is only known when it runs'));
  }
  const starts = args.slice(
    0,
    args.findIndex(({ text }) => /^[-(!]/.test(text) && !/^-(?:[HLP]|O\d)$/.test(text)),
  );
  if (args.some(({ text }) => text === '-delete'))
    commands.push({ type: 'command', fields: [literal('rm'), ...(starts.length === 0 ? [literal('.')] : starts)] });
  const unsure = args.some(({ many, glob }, at) => many && (!glob || at > 0)) || unknownCount(args) > 1;
  return unsure ? [...commands, ...doubt('what find is to run is only known when it runs')] : commands;
}

/** Behind an option of its own, unless that takes no value, `-exec` may be the value. */
const VALUED =
  /^-(?!(?:[HLPEXdsx]|print0?|ls|delete|prune|depth|empty|true|false|follow|xdev|mount|daystart|noleaf|quit|readable|writable|executable|nouser|nogroup|o|or|a|and|not|ignore_readdir_race)$)/;

/** What is found begins with where it was looked for: below `+n` lies what may be an option. */
function startsPlainly(args: readonly Field[]): boolean {
  const [first] = args;
  return first === undefined || /^[-\w./~(!\0]/.test(first.text);
}

/** `fd … -x cmd {}`: everything up to a `;` is the command, and what is found is put where it says, or at its end. */
export const fd: Program = (args, program) => {
  const at = args.findIndex(({ text }) => /^(?:-[a-zA-Z0-9]*[xX]$|--exec(?:-batch)?$)/.test(text));
  const own = at === -1 ? args : args.slice(0, at);
  const isAttached = own.some(({ text }) => /^(?:-[a-zA-Z0-9]*[xX].|--exec)/.test(text));
  const because = `${program} runs what an option of it names`;
  if (isAttached || own.some(mayBeOption)) return doubt(because);
  if (at === -1) return [];
  const end = args.findIndex(({ text }, index) => index > at && text === ';');
  if (end !== -1 && end < args.length - 1) return doubt(because);
  const command = args.slice(at + 1, end === -1 ? undefined : end);
  const fields = command.map((field) =>
    FOUND.test(field.text) ? found({ ...field, text: field.text.replace(FOUND, HOLE), open: true }) : field,
  );
  const isPlaced = fields.some((field, index) => field !== command[index]);
  return [{ type: 'command', fields: isPlaced ? fields : [...fields, { ...REST, found: true }] }];
};

const FOUND = /\{(?:\/?\.?|\/\/)\}/g;

/** `;` ends a command, `+` only right after `{}`: before it is an argument like any other. */
function endOfExec(args: readonly Field[], from: number): number {
  const endsAtPlus = /^-exec/.test(args[from]?.text ?? '');
  for (let at = from + 1; at < args.length; at += 1) {
    const { text } = args[at] ?? literal('');
    if (text === ';' || (endsAtPlus && text === '+' && args[at - 1]?.text === '{}')) return at;
  }
  return args.length;
}

/** What is not known may be the end, and then a command may follow that looks like an argument. */
function mayEndEarlier(command: readonly Field[]): boolean {
  const unknown = command.findIndex(({ text }) => text.startsWith(HOLE));
  return unknown !== -1 && command.slice(unknown).some(({ text }) => /^-(?:exec|ok)/.test(text));
}

/** One unknown argument cannot spell `-exec x ;`. */
function unknownCount(args: readonly Field[]): number {
  return args.filter(({ text }) => text.startsWith(HOLE)).length;
}

/** `xargs` adds to a command what it reads, or puts it in the place of a mark. */
export function xargs(args: readonly Field[], at: number | undefined): readonly Consequence[] {
  if (at === undefined) return [];
  const options = args.slice(0, at);
  const command = args.slice(at);
  // Of several, the last one holds, and takes back those of another kind.
  if (options.filter(({ text }) => PLACES.test(text)).length > 1)
    return [
      { type: 'command', fields: [...command, REST] },
      ...doubt('where xargs puts what it reads is hard to tell'),
    ];
  if (options.some(({ text }) => /^--pr/.test(text)))
    return [...added(command, options), ...doubt('xargs sets a variable for what it runs')];
  return added(command, options);
}

function added(command: readonly Field[], options: readonly Field[]): readonly Consequence[] {
  const mark = markOf(options);
  return [{ type: 'command', fields: mark === undefined ? [...command, REST] : filled(command, mark) }];
}

const PLACES = /^-[0rtpxo]*[IinLl]|^--(?:replace|max-(?:args|lines))/;

function markOf(options: readonly Field[]): string | undefined {
  for (const [at, { text }] of options.entries()) {
    const own = /^(?:-[0rtpxo]*[Ii](.+)|--replace=(.+))$/s.exec(text);
    if (own !== null) return own[1] ?? own[2];
    if (/^(?:-[0rtpxo]*i|--replace)$/.test(text)) return '{}';
    if (/^-[0rtpxo]*I$/.test(text)) return options[at + 1]?.text ?? '{}';
  }
  return undefined;
}

function filled(fields: readonly Field[], mark: string): readonly Field[] {
  return fields.map((field) =>
    field.text.includes(mark) ? { ...field, text: field.text.replaceAll(mark, HOLE), open: true } : field,
  );
}

function found(field: Field): Field {
  return field.text.startsWith(HOLE) ? { ...field, found: true } : field;
}

/** `entr cmd /_`: the command once more whenever a file changes, whose name takes the place of `/_`. */
export const entr: Program = (args, program) => {
  const at = args.findIndex(({ text }) => !text.startsWith('-'));
  const options = at === -1 ? args : args.slice(0, at);
  const command = at === -1 ? [] : args.slice(at);
  if (isUnsure(options) || options.some(({ text }) => !/^-[acdnprxz]+$/.test(text)))
    return [{ type: 'command', fields: command }, ...always(args, program)];
  return [{ type: 'command', fields: filled(command, '/_').map(found) }];
};
