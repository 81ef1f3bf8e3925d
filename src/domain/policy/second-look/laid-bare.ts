import { literal } from '../../command/expand.ts';
import { mayBe } from '../pattern.ts';
import type { Policy } from '../policy.ts';

const LETTERS = /\\x\{?([0-9a-f]{1,2})\}?|\\u\{?([0-9a-f]{1,4})\}?|\\0?([0-7]{2,3})/gi;
const EMPTY = /\$(?:[@*]|\{[^{}]*\}|[A-Za-z_]\w*)|\$\([^()]*\)|`[^`]*`/g;
/** Where one text ends and the next begins, to languages that put texts together: `"a" "b"`, `'a'.'b'`, `"a" + "b"`. */
const JOINT = /(["'`])\s{0,9}(?:\.{1,2}|[+,&~]|<>|\|\||\+\+)?\s{0,9}(?=(["'`]))\2/g;
/** A pattern of files that lie elsewhere. */
const PATTERN = /(?<![\w.~*?[\]{},/-])[\w.~*?[\]{},/-]*\/[\w.*?[\]-]*[*?[][\w.*?[\]-]*/g;
/** The same of names, with nothing in it that stands for more than a letter: hardly a pattern of anything else. */
const NAME_PATTERN = /(?<![\w/*?\]-])[\w-]*(?:\?|\[[^\]\s]+\])[\w?[\]-]*(?![\w/*.])/g;
const OF_PROGRAMS = /(?:^|\/)s?bin\/\*+$/;
const MOST_STEPS = 4;

/** The text without what hides a word in it: quotes, backslashes, codes of letters, and once more without expansions. */
export function laidBare(text: string): string {
  if (!/[\\'"$]/.test(text)) return text;
  const decoded = text.replace(LETTERS, (_, hex?: string, unicode?: string, octal?: string) =>
    String.fromCharCode(octal === undefined ? parseInt(hex ?? unicode ?? '', 16) : parseInt(octal, 8) & 0xff),
  );
  const plain = decoded.replace(/\\\n|[\\'"]/g, '');
  // What a backslash stands before may be a blank to whoever reads the text: `sudo\n`.
  const broken = decoded.replace(/\\./gs, ' ').replace(/['"]/g, '');
  const joined = decoded.replaceAll('\\', '').replace(JOINT, '').replace(/['"]/g, ' ');
  return [plain, emptied(plain), broken, joined].join('\n');
}

/** Without expansions, step by step from the innermost outwards: what is left around one may itself stand within another. */
function emptied(text: string): string {
  const steps: string[] = [];
  let rest = text;
  for (let depth = 0; depth < MOST_STEPS; depth += 1) {
    const next = rest.replace(EMPTY, '');
    if (next === rest) break;
    steps.push(next);
    rest = next;
  }
  return steps.join('\n');
}

/** `-xsudo` may be the option x, and sudo its value. */
function withoutLetters(text: string): string {
  return text.includes(' -') || text.startsWith('-') ? text.replace(/(^|\s)-\w(?=\w\w)/g, '$1') : '';
}

/** What a text names that is blocked: by its name, or by a pattern of files that may match it. */
export function blockedIn(text: string, { blockedName, blockedPrograms }: Policy): string | undefined {
  const bare = laidBare(text);
  const [name] = blockedName.exec(bare) ?? blockedName.exec(withoutLetters(bare)) ?? [];
  if (name !== undefined) return name.toLowerCase();
  if (!/[*?[]/.test(bare)) return undefined;
  for (const [pattern] of [...bare.matchAll(PATTERN), ...bare.matchAll(NAME_PATTERN)]) {
    if (OF_PROGRAMS.test(pattern)) return pattern;
    const field = literal(pattern);
    for (const program of blockedPrograms) if (mayBe(field, program)) return program;
  }
  return undefined;
}
