import type { Consequence } from './consequence.ts';
import { always, type Program } from './program.ts';

/** The value of an option, attached or not, as a script. */
export function scriptAfter(option: RegExp): Program {
  return (args) =>
    args.flatMap(({ text }, at): Consequence[] => {
      const found = option.exec(text);
      if (found === null) return [];
      const attached = found[1] ?? '';
      return [{ type: 'script', text: attached === '' ? (args[at + 1]?.text ?? '') : attached }];
    });
}

/** An option, and everything after it, is a script. */
export function joinedAfter(option: RegExp): Program {
  return (args) => {
    const at = args.findIndex(({ text }) => option.test(text));
    if (at === -1) return [];
    const first = option.exec(args[at]?.text ?? '')?.[1] ?? '';
    return [{ type: 'script', text: [first, ...args.slice(at + 1).map(({ text }) => text)].join(' ') }];
  };
}

/** Everything after the options, joined, is a script. */
export function joined(valued: RegExp): Program {
  return (args) => {
    let at = 0;
    while (at < args.length && /^-/.test(args[at]?.text ?? '')) at += valued.test(args[at]?.text ?? '') ? 2 : 1;
    const text = args.slice(at).map((arg) => arg.text);
    return text.length === 0 ? [] : [{ type: 'script', text: text.join(' ') }];
  };
}

const SETS_OF_SCRIPTS = /^(?:npm|yarn|pnpm|bun|node|deno):/;

/** Everything that is no option is a script of its own, and so may be what an option is given. */
export const eachScript: Program = (args) =>
  args.flatMap(({ text }): Consequence[] => {
    const given = text.startsWith('-') ? /^(?:--[\w-]+=|-\w=?)(.+)$/s.exec(text)?.[1] : text;
    return given === undefined || SETS_OF_SCRIPTS.test(given) ? [] : [{ type: 'script', text: given }];
  });

/** `{x}` in a command stands for what an option gives. */
export const hyperfine: Program = (args, program) =>
  args.some(({ text }) => /[{\0]/.test(text)) ? always(args, program) : eachScript(args, program);

/** Its command ends where `:::` begins what it is run for. */
export const parallel: Program = (args, program) => {
  const end = args.findIndex(({ text }) => /^::::?\+?$/.test(text));
  const at = args.findIndex(({ text }) => !text.startsWith('-'));
  const fields = at === -1 ? [] : args.slice(at, end === -1 ? undefined : end);
  return [{ type: 'script', text: fields.map(({ text }) => text).join(' ') }, ...always(args, program)];
};
