import { programName } from '../command/wrappers.ts';
import { knownProgram } from './programs/known-program.ts';
import type { Run } from './reading/reading.ts';

/** Commands of Surety that decide nothing: they look, or say what an agent is asked to say. */
const LOOKS =
  /^(?:(?:status|history|explain|check|report|simulate|doctor|approvals|grants)(?: .*)?|(?:policy|files) check(?: .*)?|rules (?:validate|show)(?: .*)?|audit (?:tail|verify|export|find)(?: .*)?|webhooks (?:list|dead)(?: .*)?|token list(?: .*)?|kill-switch status(?: .*)?|help(?: .*)?|(?:-h|--help|-V|--version)(?: .*)?|)$/s;
/** They judge what they are told by rules that lie where they are started, which may be others than ours. */
const RUNS = /^(?:exec|files|fetch)(?: |$)/;
/** What no other program is likely to call its own. */
const DECIDES = /^(?:approve|deny|extend|revoke|token|break-glass|kill-switch)(?: |$)/;
/** What the rest of them that decide, set or run begin with. */
const ACTS = /^(?:exec|files|fetch|reset|block|recover|rules|webhooks|up|serve|audit)(?: |$)/;
/** Right behind a command: further on it may be the value of an option, and the command is used. */
const HELP = /^(?:[a-z-]+|(?:rules|token|webhooks|audit|policy|files|kill-switch) [a-z-]+) (?:--help|-h)$/;
const ENTRY: ReadonlySet<string> = new Set(['main.js', 'main.mjs', 'main.cjs', 'main.ts', 'main.mts', 'main.cts']);
/** An interpreter finds the extension by itself. */
const ENTRY_ARGUMENT = /(?:^|[/=])main(?:\.[cm]?[jt]s)?$/;
/** The program itself, under which name or directory ever it is put. */
const ITSELF = /(?:^|\/)(?:\.?bin\/surety|surety\/.*\/main\.[cm]?[jt]s)$/;

export type OwnCommand = 'decides' | 'may decide' | 'runs';

/** Whether a run is Surety's own command line, deciding what is for people to decide. */
export function ownCommand({ program, name, args }: Pick<Run, 'program' | 'name' | 'args'>): OwnCommand | undefined {
  if (program === 'surety') return kindOf(args.map(({ text }) => text));
  if (knownProgram(program).language === undefined && !ENTRY.has(program)) return undefined;
  const texts = [name, ...args].map(({ text }) => text);
  const at = texts.findIndex((text) => ENTRY_ARGUMENT.test(text) || programName(text).toLowerCase() === 'surety');
  if (at === -1) return undefined;
  const rest = texts.slice(at + 1);
  if (/surety/i.test(texts[at] ?? '')) return kindOf(rest);
  // What is loaded first (`node -r main.js x approve`) has the script's name in front of its arguments.
  return DECIDES.test(rest.join(' ')) || DECIDES.test(rest.slice(1).join(' ')) ? 'may decide' : undefined;
}

/** Whether a program that nobody knows is given Surety's command line to run: in its words from here on, or within this one. */
export function isHandedOn(words: readonly string[], at: number, names: readonly string[]): boolean {
  const word = words[at] ?? '';
  // At the end of the text as well: else whatever has no blank behind it would be looked through once for each `surety` in it.
  if (names.includes('surety'))
    return word.split(/surety\S*(?:\s+|$)/).some((rest, index) => index > 0 && (DECIDES.test(rest) || ACTS.test(rest)));
  if (programName(word).toLowerCase().split('@', 1)[0] !== 'surety') return false;
  // More of them decide nothing.
  const rest = words.slice(at + 1, at + 9);
  const line = rest.join(' ');
  // `docker-compose -p surety up` is about a project of that name.
  const isValue = /^-+[^-]/.test(words[at - 1] ?? '');
  return (DECIDES.test(line) || (ACTS.test(line) && !isValue)) && kindOf(rest) !== undefined;
}

/** Whether a file is Surety's command line: under another name nobody would know it. */
export function isSuretyItself(path: string): boolean {
  return ITSELF.test(path);
}

function kindOf(words: readonly string[]): OwnCommand | undefined {
  const line = words.join(' ');
  // The help of a command is no use of it.
  if (LOOKS.test(line) || HELP.test(line)) return undefined;
  return RUNS.test(line) ? 'runs' : 'decides';
}
