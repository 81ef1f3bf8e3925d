import { literal, type Field } from '../../command/expand.ts';
import { doubt, isUnsure, type Consequence } from './consequence.ts';
import { always, type Program } from './program.ts';

/** `env -S 'A=1 x y'` splits a text in its own way. */
export function splitString(args: readonly Field[]): readonly Consequence[] | undefined {
  for (const [at, { text }] of args.entries()) {
    const split = /^(?:-[iv0]*S(.*)|--split-string(?:=(.*))?)$/s.exec(text);
    if (split === null) {
      if (!/^-|=/.test(text)) return undefined;
      continue;
    }
    const attached = split[1] ?? split[2] ?? '';
    const [whole, after] = attached === '' ? [args[at + 1]?.text ?? '', at + 2] : [attached, at + 1];
    const words = whole.split(/[ \t\n\r\v\f]+/).filter((word) => word !== '');
    const fields = [literal('env'), ...words.map(literal), ...args.slice(after)];
    const plain: Consequence[] = [{ type: 'command', fields }];
    return /["'\\$#]|[^\t\n -~]/.test(whole) ? [...plain, ...doubt('env -S reads quotes in its own way')] : plain;
  }
  return undefined;
}

/** It runs the command among its operands, after so many of its own; by its options it may do more. */
export function atOperand(own: number): Program {
  return (args, program) => {
    // A number is the value of an option: `nsenter -t 1 x`.
    const starts = args.flatMap(({ text }, at) => (/^-|=|^\d+$/.test(text) ? [] : [at]));
    const commands = starts.slice(0, own + 1).map((at): Consequence => ({ type: 'command', fields: args.slice(at) }));
    return [...commands, ...always(args, program)];
  };
}

export function commandAfter(args: readonly Field[], mark: string): readonly Consequence[] {
  const at = args.findIndex(({ text }) => text === mark);
  return at === -1 ? [] : [{ type: 'command', fields: args.slice(at + 1) }];
}

/** All of its options have their values attached. */
export const valgrind: Program = (args, program) => {
  const at = args.findIndex(({ text }) => !text.startsWith('-'));
  const own = at === -1 ? args : args.slice(0, at);
  const isPlain = !isUnsure(own) && own.every(({ text }) => /^(?:-[qvhd]|--(?!tool=\W)[\w-]+(?:=.*)?)$/.test(text));
  const command: readonly Consequence[] = at === -1 ? [] : [{ type: 'command', fields: args.slice(at) }];
  return isPlain ? command : [...command, ...always(args, program)];
};

const LOADER_VALUED = /^--(?:library-path|preload|argv0|inhibit-rpath|audit|glibc-hwcaps-\w+)$/;

/** The dynamic loader runs the program it is given. */
export const loader: Program = (args) => {
  const at = args.findIndex(({ text }, index) => !/^-/.test(text) && !LOADER_VALUED.test(args[index - 1]?.text ?? ''));
  return at === -1 ? [] : [{ type: 'command', fields: args.slice(at) }];
};
