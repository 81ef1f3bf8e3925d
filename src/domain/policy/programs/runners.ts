import type { Field } from '../../command/expand.ts';

/** A program that runs a command among its arguments, on this machine. */
interface Runner {
  /** Which of its own commands do so; empty if it does nothing else. */
  readonly subcommands: readonly string[];
  /** Arguments of its own in front of the command. */
  readonly own: number;
  /** Where the command begins is only told by `--`. */
  readonly isLoose: boolean;
}

/** `program:subcommands`, then `+1` for an argument of its own, or `?` where only `--` tells. */
const RUNNERS: ReadonlyMap<string, Runner> = new Map(
  (
    'npx: pipx:run npm:exec,x pnpm:exec,dlx yarn:exec,dlx bunx: bun:x uvx: uv:run,tool poetry:run pipenv:run pdm:run hatch:run ' +
    'rye:run bundle:exec conda:run mamba:run direnv:exec+1 cross-env: dotenv: dotenvx:run rustup:run+1 asdf:exec mise:exec,x? ' +
    'pyenv:exec rbenv:exec nix-shell:? nix:run,shell,develop? op:run doppler:run aws-vault:exec+1'
  )
    .split(' ')
    .map((entry): [string, Runner] => {
      const [, program = '', subcommands = '', mark] = /^([^:]+):([\w,-]*)(\+1|\?)?$/.exec(entry) ?? [];
      const runner = { own: mark === '+1' ? 1 : 0, isLoose: mark === '?' };
      return [program, { ...runner, subcommands: subcommands === '' ? [] : subcommands.split(',') }];
    }),
);
/** They run whatever is installed under the name of a subcommand they do not know: `pnpm eslint`. */
const RUNS_ANY_NAME: ReadonlySet<string> = new Set(['pnpm', 'yarn', 'bun']);
/** Subcommands of theirs that are called as other programs are. */
const OWN_NAMES = /^(?:rm|link|unlink|install|patch|set|env|test|exec|x|dlx|run)$/;
const FLAG = /^(?:-[yqsiv]|--(?:yes|no|quiet|silent|verbose|no-install|no-sync|frozen|isolated|bun|live-stream))$/;
const VALUED =
  /^(?:-[pnwfeC]|--(?:package|with|from|python|prefix|workspace|loglevel|registry|cache|filter|name|env-file|env|extra|group|cwd|dir|directory|project|spec))$/;
const SCRIPT = /^(?:-c|--(?:call|run|command))(?:=(.*))?$/s;
const SHELL_MODE = /^(?:-[a-z]*c|--shell-mode)$/;
const NO_NAME = /[\s;&|<>()`$'"\\]/;
/** `yarn workspace x exec …`, `yarn workspaces foreach -A exec …`. */
const EACH = /^workspaces?$/;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;

export function isRunner(program: string): boolean {
  return RUNNERS.has(program);
}

export interface RunnersCommand {
  readonly fields: readonly Field[];
  /** Whether it is known that this is what will be run. */
  readonly sure: boolean;
}

/** What a runner runs, if it is told to run anything. */
export function commandOfRunner(program: string, args: readonly Field[]): RunnersCommand | undefined {
  const runner = RUNNERS.get(program);
  if (runner === undefined) return undefined;
  const first = operandFrom(args, 0);
  if (first === undefined) return undefined;
  if (runner.subcommands.length === 0) return beginningAt(operandFrom(args, 0, runner.own), args, runner);
  // Behind an option that nobody knows it may be the option's value.
  const given = first.sure ? first.at : args.findIndex(({ text }) => runner.subcommands.includes(text));
  const at = given === -1 ? first.at : given;
  const name = args[at]?.text ?? '';
  const within = program === 'yarn' && EACH.test(name) ? args.findIndex(({ text }) => text === 'exec') : -1;
  if (within !== -1) return commandOfRunner(program, args.slice(within));
  if (runner.subcommands.includes(name)) {
    // `uv tool run x`
    const isTwofold = name === 'tool' && args[at + 1]?.text === 'run';
    return beginningAt(operandFrom(args, at + (isTwofold ? 2 : 1), runner.own), args, runner);
  }
  return RUNS_ANY_NAME.has(program) && !OWN_NAMES.test(name) ? { fields: args.slice(at), sure: false } : undefined;
}

/** Whether it is told to run, and not what: npm starts a shell then, which reads its input. */
export function startsShell(program: string, args: readonly Field[]): boolean {
  return (
    program === 'npm' &&
    /^(?:exec|x)$/.test(args.at(-1)?.text ?? '') &&
    args.slice(0, -1).every(({ text }) => text.startsWith('-'))
  );
}

/** The texts that a runner hands to a shell: `npx -c '…'`, `pnpm -c exec '…'`, and what is no name by itself: `yarn exec 'a; b'`. */
export function scriptsOfRunner(
  program: string,
  args: readonly Field[],
  command: RunnersCommand | undefined,
): readonly string[] {
  if (!RUNNERS.has(program)) return [];
  const isShell = program === 'pnpm' && args.some(({ text }) => SHELL_MODE.test(text));
  const name = command?.fields[0]?.text ?? '';
  const words = command?.fields.map(({ text }) => text) ?? [];
  const at = args.findIndex(({ text }) => text.startsWith('-') && SCRIPT.test(text));
  const told = at === -1 ? undefined : (SCRIPT.exec(args[at]?.text ?? '')?.[1] ?? args[at + 1]?.text);
  return [...(isShell || NO_NAME.test(name) ? [words.join(' ')] : []), ...(told === undefined ? [] : [told])];
}

function beginningAt(
  found: ReturnType<typeof operandFrom>,
  args: readonly Field[],
  { isLoose }: Runner,
): RunnersCommand | undefined {
  if (found === undefined) return undefined;
  const mark = isLoose ? args.findIndex(({ text }, at) => at >= found.at && text === '--') : -1;
  const [name, ...rest] = args.slice(mark === -1 ? found.at : mark + 1);
  if (name === undefined) return undefined;
  // `npx eslint@9` is eslint.
  const bare = name.text.replace(/(.)@[^/@]*$/s, '$1');
  const fields = [bare === name.text ? name : { ...name, text: bare }, ...rest];
  return { fields, sure: mark !== -1 || (found.sure && (!isLoose || found.isMarked)) };
}

/** The first argument that is no option and no value of one, after so many of the runner's own. */
function operandFrom(
  args: readonly Field[],
  from: number,
  own = 0,
): { readonly at: number; readonly sure: boolean; readonly isMarked: boolean } | undefined {
  let left = own;
  let sure = true;
  for (let at = from; at < args.length; at += 1) {
    const text = args[at]?.text ?? '';
    if (text === '--') return { at: at + 1, sure: true, isMarked: true };
    if (text.startsWith('-')) {
      if (VALUED.test(text)) at += 1;
      else sure &&= FLAG.test(text) || /^--[^=]+=/.test(text);
    } else if (ASSIGNMENT.test(text)) continue;
    else if (left > 0) left -= 1;
    else return { at, sure, isMarked: false };
  }
  return undefined;
}
