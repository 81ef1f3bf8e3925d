import { HOLE, type Field } from '../../command/expand.ts';
import { doubt, mayBeOption, type Consequence } from './consequence.ts';
import { namedCommand } from './named-command.ts';
import type { RunningOptions } from './running-options.ts';
import { steeringOf } from '../reading/steering.ts';
import { codeFrom } from '../reading/streams.ts';

/** What the options of a program make it run. */
export function runByOptions(options: RunningOptions, args: readonly Field[], program: string): readonly Consequence[] {
  const because = `${program} runs what an option of it names`;
  const found: Consequence[] = [];
  const follow = (runs: Option['runs'], value = HOLE) => {
    if (runs === 'command')
      found.push(...namedCommand(options.commaSeparated === true ? value.replaceAll(',', ' ') : value, because));
    else if (runs === 'anything') found.push(...doubt(because));
    else found.push(codeFrom(value));
  };
  for (let at = 0; at < args.length; at += 1) {
    const { text = '' } = args[at] ?? {};
    if (options.variables === true) {
      const [, name, given] = /^(\w+)[:+?!]*=(.*)$/s.exec(text) ?? [];
      if (name !== undefined && steeringOf(name) !== undefined) found.push({ type: 'variable', name, value: given });
    }
    const told = options.text?.exec(text);
    if (told != null) found.push(...(told[1] === undefined ? doubt(because) : namedCommand(told[1], because)));
    if (options.bundled === true && at === 0 && !text.startsWith('-')) {
      for (const option of bundledOptions(options, args)) follow(option.runs, option.value);
    }
    const option = text.startsWith('-') ? optionIn(options, text) : undefined;
    if (option !== undefined) follow(option.runs, option.value ?? args[at + 1]?.text);
  }
  return mayBeGivenOptions(options, args)
    ? [...found, ...doubt(`what ${program} is given may make it run others`)]
    : found;
}

function mayBeGivenOptions(options: RunningOptions, args: readonly Field[]): boolean {
  const subcommand = args.find(({ text }) => !text.startsWith('-'))?.text ?? '';
  if (options.only !== undefined && !subcommand.startsWith(HOLE) && !options.only.test(subcommand)) return false;
  return args.some((field, at) => {
    if (!mayBeOption(field)) return false;
    const isExpected =
      isValueOf(options, args[at - 1]?.text, at) ||
      (options.connects === true && at === 0) ||
      [1, 2].some((back) => options.pairs?.test(args[at - back]?.text ?? '') === true);
    return field.many || !isExpected;
  });
}

/** `-f` takes the next argument, whatever that looks like. */
function isValueOf({ valued = '', bundled }: RunningOptions, before = '', at: number): boolean {
  const isCluster = /^-\w+$/.test(before) || (bundled === true && at === 1 && /^\w+$/.test(before));
  return isCluster && valued.includes(before.charAt(before.length - 1));
}

/** In `tar cfI a b` each letter that takes a value takes the next one in turn. */
function bundledOptions(options: RunningOptions, args: readonly Field[]): readonly Option[] {
  let next = 1;
  return Array.from(args[0]?.text ?? '').flatMap((letter): readonly Option[] => {
    const runs = runsByLetter(options, letter);
    if (runs === undefined && options.valued?.includes(letter) !== true) return [];
    const value = args[next]?.text;
    next += 1;
    return runs === undefined ? [] : [{ runs, value }];
  });
}

function runsByLetter(options: RunningOptions, letter: string): Option['runs'] | undefined {
  if (options.commandLetters?.includes(letter) === true) return 'command';
  if (options.fileLetters?.includes(letter) === true) return 'file';
  return options.steerLetters?.includes(letter) === true ? 'anything' : undefined;
}

interface Option {
  readonly runs: 'command' | 'anything' | 'file';
  /** Undefined where it is the next argument. */
  readonly value: string | undefined;
}

function optionIn(options: RunningOptions, text: string): Option | undefined {
  if (!/^-./.test(text)) return undefined;
  const isLong = text.startsWith('--');
  if (isLong || options.oneDash === true) {
    const equals = text.indexOf('=');
    const name = text
      .slice(0, equals === -1 ? undefined : equals)
      .replace(isLong && options.oneDash !== true ? /^--/ : /^-+/, '');
    const value = equals === -1 ? undefined : text.slice(equals + 1);
    if (abbreviates(name, options.command)) return { runs: 'command', value };
    if (abbreviates(name, options.file)) return { runs: 'file', value };
    if (abbreviates(name, options.steer)) return { runs: 'anything', value };
    if (isLong) return undefined;
  }
  for (let at = 1; at < text.length; at += 1) {
    const letter = text.charAt(at);
    const rest = text.slice(at + 1);
    const runs = runsByLetter(options, letter);
    if (runs !== undefined) return { runs, value: rest || undefined };
    if (options.valued?.includes(letter) === true) return undefined;
  }
  return undefined;
}

/** GNU takes `--to-c` for `--to-command`. */
export function abbreviates(name: string, names: string | undefined): boolean {
  if (names === undefined || name.length < 2) return false;
  return names.startsWith(name) || names.includes(` ${name}`);
}
