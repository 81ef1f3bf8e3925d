import type { Field } from '../../command/expand.ts';
import { doubt, type Consequence } from './consequence.ts';

const VALUED = /^(?:-\w*[xswidCEBL]|--(?:exec|shell|watch|ignore|delay|workdir|features|env|env-file|use-shell))$/;
const SHELL = /^(?:-[a-z]*s|--shell)(?:=?(.*))$/s;

/** Of all that it does, `cargo watch -s x` and `cargo watch -- x` run x. */
export function cargo(args: readonly Field[]): readonly Consequence[] {
  const at = args.findIndex(({ text }) => !/^[-+]/.test(text));
  if (args[at]?.text !== 'watch') return [];
  const rest = args.slice(at + 1);
  const command = rest.findIndex(
    ({ text }, index) => !text.startsWith('-') && !VALUED.test(rest[index - 1]?.text ?? ''),
  );
  const own = command === -1 ? rest : rest.slice(0, command);
  const scripts = own.flatMap(({ text }, index): Consequence[] => {
    const [isShell, attached = ''] = SHELL.exec(text) ?? [];
    if (isShell === undefined) return [];
    return [{ type: 'script', text: attached === '' ? (own[index + 1]?.text ?? '') : attached }];
  });
  const isOtherShell = own.some(({ text }) => text.startsWith('--use-shell'));
  return [
    ...scripts,
    ...(isOtherShell ? doubt('cargo watch runs what it is given by another shell') : []),
    ...(command === -1 ? [] : [{ type: 'command', fields: rest.slice(command) } as const]),
  ];
}
