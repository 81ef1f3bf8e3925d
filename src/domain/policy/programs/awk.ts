import { HOLE, literal, type Field } from '../../command/expand.ts';
import { doubt, isUnsure, type Consequence } from './consequence.ts';
import { codeFrom } from '../reading/streams.ts';

const VALUED = /^(?:-[Fv]|--(?:field-separator|assign))$/;
const TAME =
  /^(?:-[Fv].+|--(?:field-separator|assign)=.*|-[bcghnNOPrsStMV]+|--(?:version|help|posix|traditional|csv|re-interval|sandbox|bignum|non-decimal-data|optimize|characters-as-bytes))$/s;
const PROGRAM_FILE = /^(?:-f|--file=)(.*)$/s;
/** With ARGV it names its files itself. */
const RUNS_OTHERS = /\bsystem\b|getline|\bARGV\b|@|(?<!\|)\|(?!\|)/;
const PRINTS = /\bprintf?\b/;

/** awk can run commands by `system`, by pipes and by calling a function whose name it computes. */
export function awk(program: string, args: readonly Field[]): readonly Consequence[] {
  const because = `this ${program} program may run others, or read and write files`;
  let isOver = false;
  for (let at = 0; at < args.length; at += 1) {
    const field = args[at] ?? literal('');
    const { text } = field;
    if (field.many || text.startsWith(HOLE)) return doubt(`what ${program} is to run is only known when it runs`);
    if (text === '--' && !isOver) {
      isOver = true;
      continue;
    }
    if (isOver || !/^-./.test(text)) return isUnsure([field]) || mayRunOthers(text) ? doubt(because) : [];
    const file = PROGRAM_FILE.exec(text)?.[1];
    if (file !== undefined || text === '--file') return [codeFrom(file || args[at + 1]?.text)];
    if (VALUED.test(text)) at += 1;
    // What else there is loads code, or takes the program from elsewhere.
    else if (!TAME.test(text)) return doubt(because);
  }
  return [];
}

function mayRunOthers(program: string): boolean {
  const bare = withoutTexts(program);
  const code = (bare ?? program).replace(/(?:[,\\]|&&|\|\|)\s*\n/g, ' ');
  // Where nobody can tell what is text, any of it may end a statement.
  const statements = bare === undefined ? [code] : code.split(/[;}\n]/);
  return RUNS_OTHERS.test(code) || statements.some(printsToFile);
}

/** One search for each of the two: sought together, they are sought from every `print` on. */
function printsToFile(statement: string): boolean {
  const at = statement.search(PRINTS);
  return at !== -1 && statement.includes('>', at);
}

const STRING = /"(?:[^"\\\n]|\\.)*"/sy;
/** Where a bracket in it holds a slash, or begins with a bracket that closes, not every awk thinks it ends at the same place. */
const REGEX = /\/(?:[^/\\\n[]|\\.|\[(?:\^(?!\])|(?![\^\]]))(?:\[:[a-z]+:\]|[^\][/\\\n]|\\.)*\])*\//sy;
const COMMENT = /#[^\n]*/y;
/** Nothing but the beginning of an expression can follow these, so that a slash begins a regular expression. */
const EXPECTS_VALUE = /[(,{};!~&|=?:\n]$|^$/;
const KEYWORD = /(?:^|\W)(?:printf?|return|in|do|else|getline|delete|exit|case)$/;
const LONGEST_KEYWORD = 16;
/** A value has ended, so that a slash divides. */
const ENDS_VALUE = /(?<!\blength)(?<=[\w\]"])$/;

/** A program without what its strings and regular expressions say; undefined where it cannot be told what is one. */
function withoutTexts(program: string): string | undefined {
  let code = '';
  for (let at = 0; at < program.length;) {
    const character = program.charAt(at);
    if (character === '\\') return undefined;
    const skipped = character === '"' ? STRING : character === '#' ? COMMENT : slashPattern(character, code);
    if (skipped === 'unclear') return undefined;
    if (skipped === undefined) {
      code += character;
      at += 1;
      continue;
    }
    skipped.lastIndex = at;
    const found = skipped.exec(program);
    if (found === null) return undefined;
    // A regular expression is a value like a string.
    code += character === '#' ? '' : '""';
    at += found[0].length;
  }
  return code;
}

/** What a slash begins, if it is one. */
function slashPattern(character: string, code: string): RegExp | 'unclear' | undefined {
  if (character !== '/') return undefined;
  let end = code.length;
  while (/[ \t\r]/.test(code.charAt(end - 1))) end -= 1;
  const before = code.slice(Math.max(0, end - LONGEST_KEYWORD), end);
  if (EXPECTS_VALUE.test(before)) return REGEX;
  return KEYWORD.test(before) || !ENDS_VALUE.test(before) ? 'unclear' : undefined;
}
