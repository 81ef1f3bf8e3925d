import { programName, wrappedBy } from '../../command/wrappers.ts';
import { isElsewhere } from '../programs/elsewhere.ts';
import { knownProgram, SPEAKS } from '../programs/known-program.ts';

/** Subcommands that take words for names, texts and patterns, as far as they go. Others set what is run later, or run it. */
const TAKES_WORDS: ReadonlyMap<string, RegExp> = new Map([
  [
    'git',
    /^(?:add|blame|branch|checkout|cherry-pick|clone|commit|describe|diff|fetch|grep|log|ls-files|merge|mv|notes|pull|push|reset|restore|rev-parse|revert|rm|shortlog|show|stash|status|switch|tag)(?: |$)/,
  ],
  ...['npm', 'pnpm', 'yarn'].map((program): [string, RegExp] => [
    program,
    /^(?:add|i|info|install|list|ls|outdated|rm|remove|search|uninstall|up|update|view|why|test|t)(?: |$)|^run(?:-script)? (?!env$)\S+$/,
  ]),
  ['cargo', /^(?:add|bench|build|check|clippy|doc|install|remove|rm|search|test|tree|uninstall|update)(?: |$)/],
  ['go', /^(?:build|doc|fmt|get|install|list|test|vet)(?: |$)/],
  ...['docker', 'podman', 'nerdctl'].map((program): [string, RegExp] => [
    program,
    /^(?:build|history|images|inspect|kill|logs|pause|port|ps|pull|push|rename|restart|rm|rmi|start|stats|stop|tag|top|unpause|wait)(?: |$)/,
  ]),
  ['kubectl', /^(?:annotate|delete|describe|explain|get|label|logs|rollout|scale|top)(?: |$)/],
  ...['gh', 'glab', 'hub'].map((program): [string, RegExp] => [program, /^(?:issue|pr|mr|release|repo|run|search) /]),
]);
/** Options of those, in front of the subcommand, after which it may be another one. */
const CHANGES = /^(?:-c|--config(?:-env|=|$)|--exec-path|-C.+|--?\w*(?:exec|tool)(?:=|$))/;
/** Substitutions, and addresses that print or delete, none of whose parts can end early. */
const PLAIN_SED =
  /^(?:s([/|#,@])(?:(?!\1)[^\\\n])*\1(?:(?!\1)[^\\\n])*\1[gpi\d]*|(?:\d+|\/[^/\\\n]*\/)?(?:,(?:\d+|\$|\/[^/\\\n]*\/))?[pd])$/i;
const PLAIN_AWK = /^\/[^/\\[\]"\n]*\/\s*(?:\{\s*print(?:\s+\$\w+(?:\s*,\s*\$\w+)*)?\s*\})?$/;
/** They set what later commands see. */
export const SETS = new Set(
  'declare export local mapfile read readarray readonly set typeset unset let eval trap alias'.split(' '),
);
/** One within the other; nobody who means well has more. */
const MOST_WRAPPERS = 8;
const LOOKS = /^(?:[ef]?grep|wc|ls|cat|head|tail|stat|file|echo|basename|sha256sum|md5sum|du)$/;
/** What they make, or enter, is a name that others may read as more than that. */
const NAMES = new Set('mkdir touch cd pushd'.split(' '));
/** They make a program go by another name, or hand a command on. */
const HANDS_ON = new Set('cp mv ln install watch flock parallel hash tee'.split(' '));

/** Whether all that follows the program's name are words to it, whatever they say. */
export function isOnlySaid(words: readonly string[], depth = 0): boolean {
  const [name = '', ...args] = words;
  const program = programName(name).toLowerCase();
  const subcommands = TAKES_WORDS.get(program);
  if (subcommands !== undefined && !args.some((arg) => CHANGES.test(arg)) && subcommands.test(operands(args).join(' ')))
    return true;
  if (subcommands !== undefined) return isElsewhere(program, args);
  if (program === 'printf') return args[0]?.startsWith('-v') !== true;
  if (program === 'test' || program === '[') return !args.includes('-v');
  if (program === 'command') return /^-[vV]$/.test(args[0] ?? '');
  if (NAMES.has(program)) return args.every((arg) => /^[\w./~+@:,=-]*$/.test(arg));
  if (program === 'find') return runBy(args).every(([run = '']) => LOOKS.test(run));
  if (SETS.has(program) || HANDS_ON.has(program)) return false;
  const known = knownProgram(program);
  if (known.isSed) return isPlainScript(args, PLAIN_SED, /^-(?:[nErz]|i\S*)$/);
  if (known.isAwk) return isPlainScript(args, PLAIN_AWK, /^-F./);
  if (known.isShell || known.language !== undefined || known.isRunner) return false;
  const at = known.isWrapper ? wrappedBy(program, args)?.at : undefined;
  if (at !== undefined) return depth < MOST_WRAPPERS && isOnlySaid(args.slice(at), depth + 1);
  return isElsewhere(program, args) || known.takesWords || SPEAKS.has(program);
}

/** Whether it is known, subcommand by subcommand, what a program takes for words. */
export function hasSubcommands(program: string): boolean {
  return TAKES_WORDS.has(program);
}

/** The programs by which others are run, one within the other, down to the last one. */
export function programsAlong(words: readonly string[], depth = 0): readonly string[] {
  const [name = '', ...args] = words;
  const at = wrappedBy(programName(name).toLowerCase(), args)?.at;
  return at === undefined || depth >= MOST_WRAPPERS ? [name] : [name, ...programsAlong(args.slice(at), depth + 1)];
}

/** Whether a program is given one script, of this form, as its first operand, and no other by an option. */
function isPlainScript(args: readonly string[], plain: RegExp, option: RegExp): boolean {
  const [script = ''] = operands(args);
  return plain.test(script) && args.every((arg) => !arg.startsWith('-') || option.test(arg));
}

/** The commands that `find` runs. */
function runBy(args: readonly string[]): readonly (readonly string[])[] {
  const at = args.findIndex((arg) => /^-(?:exec|ok)/.test(arg));
  if (at === -1) return [];
  const end = args.findIndex((arg, index) => index > at && (arg === ';' || arg === '+'));
  const to = end === -1 ? args.length : end;
  return [args.slice(at + 1, to), ...runBy(args.slice(to))];
}

function operands(args: readonly string[]): readonly string[] {
  return args.filter((arg) => !arg.startsWith('-'));
}
