import { HOLE } from '../../command/expand.ts';
import { blockedIn } from './laid-bare.ts';
import { mayBe } from '../pattern.ts';
import type { Policy } from '../policy.ts';
import { readCommand } from '../reading/read.ts';
import type { Doubt, Run } from '../reading/reading.ts';
import { isSyntax } from '../reading/notes.ts';

/** Without any of these a text puts nothing together, and gives no code to an interpreter: what it runs is spelt out. */
const CODE = /[$`|;&<>(){}]|\s-\w*[ceE]\s/;

/** Calls by which programs in other languages start others; whom, they may put together as they like. */
const STARTS_PROGRAMS =
  /\b(?:system|exec(?:[lv]p?e?|File|Sync|FileSync|ute)?|popen\d?|spawn\w*|fork|shell_exec|passthru|proc_open|e?syscmd|qx|__import__|eval)\b\s*[([{/"'`]|\b(?:subprocess|child_process|posix_spawn|ProcessBuilder|getRuntime)\b|\bexec\s+(?:scalar|reverse|join|chr|pack|sprintf)\b/;

/** What a line does not run where it stands: in quotes, behind a backslash, in a here-document. */
const SET_APART = /'[^']*'|"(?:[^"\\]|\\[^])*"|\\[$`]|<</g;
const CODE_IN_DOUBLE_QUOTES = /\\[$`]|[|;&<>]|\s-\w*[ceE]\s/;

/** Whether a line has code anywhere that it does not run where it stands; only then is it worth to look for who may. */
export function holdsCode(line: string): boolean {
  if (STARTS_PROGRAMS.test(line)) return true;
  // With these nobody can tell by signs alone where quotes begin and end.
  if (/\\'|\$'|#/.test(line)) return CODE.test(line);
  for (const [part] of line.matchAll(SET_APART)) {
    const code = part.startsWith("'") ? CODE : CODE_IN_DOUBLE_QUOTES;
    if (part === '<<' || code.test(part)) return true;
  }
  return false;
}

/**
 * What a text would do, if somebody took it for a command line, that a command line is asked about: run what is only known when it
 * runs, or what is blocked. A text that a shell cannot read is none.
 */
export function hiddenCode(text: string, policy: Policy): string | undefined {
  if (STARTS_PROGRAMS.test(text)) return 'in another language it starts programs';
  if (!CODE.test(text)) return undefined;
  const { runs, doubts, isBroken, isFlooded } = readCommand(text);
  // It may be evaluated in parts all the same, as arithmetic or line by line.
  if (isBroken && !/\$\(|`|\n/.test(text)) return undefined;
  if (isFlooded) return 'there is more to it than anybody could look at';
  if (runs.some((run) => mayBeBlocked(run, policy))) return 'it may turn out to be blocked';
  // A pattern of files may stand for a program as any word may; it matters which.
  const patterns = runs.filter(({ name }) => name.glob && !name.text.includes(HOLE));
  const known = (each: Doubt) => isSyntax(each) || patterns.some((run) => run.start === each.start);
  return doubts.find((each) => !known(each))?.because;
}

function mayBeBlocked({ program, name }: Run, policy: Policy): boolean {
  if (blockedIn(program, policy) !== undefined) return true;
  return (name.open || name.glob) && [...policy.blockedPrograms].some((each) => mayBe(name, each));
}
