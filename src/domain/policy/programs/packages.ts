import { HOLE, type Field } from '../../command/expand.ts';
import { doubt, type Consequence } from './consequence.ts';
import { namedCommand } from './named-command.ts';
import { steeringOf } from '../reading/steering.ts';

/** Settings that name a file of code, or of settings. */
const FILES = /^(?:(?:user|global)config|init[.-]module|node-options|prefix)$/;
const RUNS = /^(?:explore|run|run-script|rum|urn|edit|set-script|pkg|config|c|set)$/;
const SCRIPT = /^scripts(?:[.[][^=]*)?=(.*)$/s;

/** npm and its like run what their settings, their packages and a few of their own commands name. */
export function npm(args: readonly Field[], program: string): readonly Consequence[] {
  const at = subcommandAt(args);
  const rest = args.slice(at + 1);
  const words = rest.map(({ text }) => text);
  switch (args[at]?.text ?? '') {
    case 'explore': {
      const script = words.slice(1).filter((word) => word !== '--');
      return script.length === 0 ? [] : [{ type: 'script', text: script.join(' ') }];
    }
    case 'run':
    case 'run-script':
    case 'rum':
    case 'urn':
      return environment(rest);
    case 'edit':
      return doubt(`${program} edit starts an editor`);
    case 'set-script':
      return given(words[1] ?? '', `${program} runs what a script of its package says`);
    case 'pkg':
      return words.flatMap((word) => {
        const script = SCRIPT.exec(word)?.[1];
        if (word.startsWith(HOLE)) return doubt(`what ${program} pkg is given may be a script`);
        return script === undefined ? [] : given(script, `${program} runs what a script of its package says`);
      });
    default:
      return words[0] === 'edit' ? doubt(`${program} starts an editor`) : settings(args, program);
  }
}

/** The first word, or one of those that are looked at here behind an option that may have taken the first for its value. */
function subcommandAt(args: readonly Field[]): number {
  const first = args.findIndex(({ text }) => !text.startsWith('-'));
  if (first < 1) return first;
  const known = args.findIndex(({ text }) => RUNS.test(text));
  return known === -1 ? first : known;
}

/** `npm run env` is `env`, if the package has no script of that name. */
function environment(rest: readonly Field[]): readonly Consequence[] {
  const at = rest.findIndex(({ text }) => !text.startsWith('-'));
  if (rest[at]?.open === true) return doubt('which script this runs is only known when it runs');
  if (rest[at]?.text !== 'env') return [];
  return [{ type: 'command', fields: rest.slice(at).filter(({ text }, index) => index !== 1 || text !== '--') }];
}

/** `npm config set script-shell x` decides what runs every script from then on. */
function settings(args: readonly Field[], program: string): readonly Consequence[] {
  const at = args.findIndex(({ text }) => text === 'set');
  if (at === -1) return [];
  const words = args.slice(at + 1).map(({ text }) => text);
  return words.flatMap((word, nth) => {
    const [key = '', value = words[nth + 1] ?? ''] = word.split(/=(.*)/s);
    const because = `${program} runs what a setting of it names`;
    const steering = steeringOf(`npm_config_${key.replaceAll('-', '_')}`);
    if (steering === 'command') return namedCommand(value, because);
    return steering !== undefined && FILES.test(key) ? doubt(because) : [];
  });
}

/** `gh alias set p '!x'` makes `gh p` run x. */
export function gh(args: readonly Field[], program: string): readonly Consequence[] {
  const [subject, verb, name, value] = args.flatMap(({ text }) => (text.startsWith('-') ? [] : [text]));
  if (subject === 'alias' && verb !== 'list' && verb !== 'delete')
    return given((value ?? '').replace(/^!/, ''), `an alias changes what ${program} runs`);
  if (subject === 'config' && verb === 'set' && /^(?:editor|pager|browser|git_protocol)$/.test(name ?? ''))
    return namedCommand(value ?? '', `${program} runs what a setting of it names`);
  return subject === 'extension' && verb !== 'list' ? doubt(`an extension of ${program} is a program of its own`) : [];
}

function given(text: string, because: string): readonly Consequence[] {
  return [{ type: 'script', text }, ...doubt(because)];
}
