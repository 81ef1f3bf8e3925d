import { programName } from '../command/wrappers.ts';
import { interpreterOf } from './interpreters.ts';
import type { Run } from './reading.ts';

/** Commands of Surety that decide nothing: they look, or say what an agent is asked to say. */
const LOOKS =
  /^(?:(?:status|history|explain|check|report|simulate|doctor|approvals|grants)(?: .*)?|(?:policy|files) check(?: .*)?|rules (?:validate|show)(?: .*)?|audit (?:tail|verify|export)(?: .*)?|webhooks (?:list|dead)(?: .*)?|token list(?: .*)?|kill-switch status(?: .*)?|help(?: .*)?|(?:-h|--help|-V|--version)(?: .*)?|)$/s;
/** They judge what they are told by rules that lie where they are started, which may be others than ours. */
const RUNS = /^(?:exec|files|fetch)(?: |$)/;
/** What no other program is likely to call its own. */
const DECIDES = /^(?:approve|deny|extend|revoke|token|break-glass|kill-switch)(?: |$)/;
const ENTRY = /(?:^|\/)main\.[cm]?[jt]s$/;

export type OwnCommand = 'decides' | 'may decide' | 'runs';

/** Whether a run is Surety's own command line, deciding what is for people to decide. */
export function ownCommand({ program, name, args }: Pick<Run, 'program' | 'name' | 'args'>): OwnCommand | undefined {
  if (program === 'surety') return kindOf(args.map(({ text }) => text));
  if (!ENTRY.test(program) && interpreterOf(program) === undefined) return undefined;
  const texts = [name, ...args].map(({ text }) => text);
  const at = texts.findIndex((text) => ENTRY.test(text) || programName(text).toLowerCase() === 'surety');
  if (at === -1) return undefined;
  const rest = texts.slice(at + 1);
  if (/surety/i.test(texts[at] ?? '')) return kindOf(rest);
  return DECIDES.test(rest.join(' ')) ? 'may decide' : undefined;
}

function kindOf(words: readonly string[]): OwnCommand | undefined {
  // The help of a command is no use of it.
  if (words.at(-1) === '--help') return undefined;
  const line = words.join(' ');
  if (LOOKS.test(line)) return undefined;
  return RUNS.test(line) ? 'runs' : 'decides';
}
