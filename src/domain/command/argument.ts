import { elements, field, firstField, isList } from '../outcome/field.ts';

const COMMAND_NAMES = ['command', 'cmd', 'commandLine', 'command_line', 'shell_command', 'argv'];
/** Elsewhere a script may be in any language. */
export const SHELL_NAMES = [...COMMAND_NAMES, 'script', 'code', 'input'];
const SHELL = /(?:^|[^a-z])(?:sh|bash|zsh|shell|terminal|ssh)(?:[^a-z]|$)|[sS]hell|[bB]ash|[tT]erminal/;

/** The command among a tool's arguments, as a line or as program and arguments. */
export function commandIn(tool: string, args: unknown): unknown {
  const isShell = SHELL.test(tool.slice(-200));
  if (isList(args) || typeof args === 'string') return isShell ? args : undefined;
  const command = firstField(args, isShell ? SHELL_NAMES : COMMAND_NAMES);
  // `{command: 'git', args: ['status']}` is how process starters are usually called.
  const rest = field(args, 'args') ?? field(args, 'arguments');
  if (typeof command === 'string' && !/\s/.test(command.slice(0, 256)) && isList(rest)) {
    return [command, ...elements(rest, 256)];
  }
  return typeof command === 'string' || isList(command) ? command : undefined;
}

const RUNS = new Set(
  (
    'sh bash zsh ksh dash ash fish shell exec execute executor run runner start spawn terminal tty console cli cmd ' +
    'command commands powershell pwsh process subprocess system ssh script sandbox container docker'
  ).split(' '),
);
const SPEAKS_OF = new Set(
  (
    'explain describe ask approve approval suggest review check lint validate parse search find list get log history ' +
    'help translate format'
  ).split(' '),
);

/**
 * Whether a tool, by its name, executes the command it is given. `explain_command` and `ask_approval` are given commands
 * too, and nothing ran when those fail.
 */
export function runsCommands(tool: string): boolean {
  const words = tool
    .slice(-200)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.some((word) => RUNS.has(word)) && !words.some((word) => SPEAKS_OF.has(word));
}
