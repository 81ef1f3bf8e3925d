import type { ParameterExpansionPart, SyntaxNode, Word } from 'unbash';
import { expandWhole, HOLE, type Said, type Variables } from '../../command/expand.ts';
import { steeringOf } from './steering.ts';
import type { ScriptVariables } from './variables.ts';

const NUMERIC_TEST = /^-(?:eq|ne|lt|le|gt|ge)$/;

/**
 * Why a node may run what no command position shows: bash evaluates what a variable holds in arithmetic, in subscripts and
 * in `${x@P}`, substitutions included. Undefined for nodes that do nothing of the kind.
 */
export function evaluationDoubt(
  node: SyntaxNode,
  source: string,
  view: Variables,
  variables: ScriptVariables,
): string | undefined {
  switch (node.type) {
    case 'ParameterExpansion':
      if (node.prefix === '!' && !isListOfNames(node)) return 'a variable that names another one hides what it holds';
      return node.index === undefined ? undefined : readArithmetic(node.index.text, variables);
    case 'Assignment':
      return node.index === undefined ? undefined : readArithmetic(node.index.text, variables);
    case 'ArrayValue': {
      const subscripts = node.elements.flatMap(({ text }) => /^\[(.*)\]\+?=/s.exec(text)?.[1] ?? []);
      return subscripts.map((text) => readArithmetic(text, variables)).find((each) => each !== undefined);
    }
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
    case 'Slice':
      return readArithmetic(source.slice(node.pos, node.end), variables);
    case 'ArithmeticFor':
      return readArithmetic(source.slice(node.pos, node.body.pos), variables);
    case 'Transform':
      return node.operand.text === 'P' ? 'a text is expanded once more' : undefined;
    case 'TestUnary':
      return node.operator === '-v' ? testOperand(node.operand, view, variables) : undefined;
    case 'TestBinary':
      if (!NUMERIC_TEST.test(node.operator)) return undefined;
      return testOperand(node.left, view, variables) ?? testOperand(node.right, view, variables);
    default:
      return undefined;
  }
}

/** `${!a*}`, `${!a[@]}`: names and indices, as they are. */
function isListOfNames({ operation, index }: ParameterExpansionPart): boolean {
  if (operation !== undefined) return operation.type === 'Names';
  return /^[@*]$/.test(index?.text ?? '');
}

function testOperand(word: Word, view: Variables, variables: ScriptVariables): string | undefined {
  const hides = expandWhole(word, view).some((text) => /\$\(|`|\[/.test(text));
  return hides ? EVALUATED : readArithmetic(word.text, variables);
}

export const EVALUATED = 'arithmetic evaluates what a variable holds, and that is only known when it runs';

/** A command of a pipeline, of which quotes end where they seem to, and nothing else begins another one. */
const PIPED = `(?:[^()\`$;&[*?|>#\\\\\n'"]|>(?!\\|)|'[^'\n]*'|"[^"$\`\\\\\n]*")+`;
const COUNTS = `(?:wc -[lwcm]+|grep -c[EFivwx]*(?: -[EFivwx]+)* (?:'(?!-)[^'\n]*'|"(?!-)[^"$\`\\\\\n]*"|[\\w.:][\\w.:-]*))`;
const DATE = `date (?:-u )?\\+(["']?)%[FTsHMSdmYjuNky](?:%[FTsHMSdmYjuNky]|[-_:.T])*\\1`;
/** Of others nobody knows where they write: what counts may be told something else. */
const LISTERS =
  '(?:ls|find|grep|rg|git|cat|sort|uniq|head|tail|cut|tr|ps|df|du|awk|sed|jq|echo|printf|comm|diff|lsof|docker|kubectl|pgrep|who|jobs|seq)';
const LISTED = `[ \\t]*${LISTERS}(?![\\w/.-])(?![^|)]*(?:-exec|-ok|/proc/|/dev/))${PIPED}`;
const ALWAYS = `(?:${LISTED}(?:\\|${LISTED})*\\|[ \\t]*${COUNTS}|nproc|id -[ug]|${DATE})`;
const IF_ANYTHING = `(?:wc -[lwcm]+[ \\t]*<[ \\t]*[\\w./~-]+|tput (?:cols|lines))`;
const REF = `[\\w./@~^][\\w./@~^-]*`;
const REV_PARSE = `rev-parse (?:--short(?:=\\d+)? |--abbrev-ref )?(?:HEAD|@)(?:[~^]\\d*)*`;
const DESCRIBE = `describe(?: --(?:tags|always|long|all|dirty|abbrev=\\d+))*(?: ${REF})?`;
const REV_LIST = `rev-list (?:-n ?\\d+|--max-count=\\d+|--count)(?: ${REF})+`;
const LOG = `log(?: -n ?\\d+| -\\d+)? --(?:format|pretty)=(?:format:)?%[hH](?: ${REF})?`;
const IN_GIT = `git (?:${REV_PARSE}|merge-base ${REF} ${REF}|branch --show-current|${DESCRIBE}|${REV_LIST}|${LOG})`;
/** What begins with no dash: ids, and names that git or the system gives. */
const NAME = `(?:${IN_GIT}|docker ps -[al]*q[al]*|whoami|hostname(?: -s)?|uname(?: -[smrnp])?)`;
/** Substitutions that say a number, or a date in numbers, and nothing else. */
const COUNTED = new RegExp(`\\$\\([ \\t]*(?:${ALWAYS}|${IF_ANYTHING})[ \\t]*\\)`, 'g');
const SAID: readonly (readonly [RegExp, Said])[] = [
  [alone(ALWAYS), 'number'],
  [alone(IF_ANYTHING), 'number or nothing'],
  [alone(NAME), 'name or nothing'],
  [alone('pwd'), 'here'],
];

function alone(command: string): RegExp {
  return new RegExp(`^"?\\$\\([ \\t]*${command}[ \\t]*\\)"?$`);
}

/** What a word says that is a substitution and nothing else, if it is known of that. */
export function saidBy(word: string): Said | undefined {
  if (!word.includes('$(')) return undefined;
  return SAID.find(([pattern]) => pattern.test(word))?.[1];
}

/** What a substitution says is evaluated as well; quotes do not keep it from running. */
function saysMoreThanNumbers(text: string, { hasOwnCounters }: ScriptVariables): boolean {
  const substitution = /\$\((?!\()|`/;
  return substitution.test(text) && (hasOwnCounters || substitution.test(text.replace(COUNTED, '')));
}

/** Programs of which it is known what they say; a function of such a name may say anything. */
export const COUNTER = new RegExp(`^(?:${LISTERS}|wc|nproc|id|tput|date|whoami|hostname|uname|pwd)$`);

/** Words of which each is known become others where they touch: `a$x`, `${x}b`, `a""b`. */
const GLUED = /[\w"'`$][$"'`]|[})"'][\w$"']|\$[?!#$@*-][\w$"']/;
const WHOLLY_QUOTED = /(?<![\w$}"'])"(\$?\w+|\$[?#!$]|\$\{\w+\})"(?![\w$"'{(])/g;

/** Assignments, and what may become one where something is put in beside a sign. */
const SETS_NUMBERS = /(?<![=!<>])=(?!=)|\+\+|--|[-+=]\s*["']?\$|\$[\w{}?!#]+["']?\s*[-+=]/;

/** Learns which variables a text may set, evaluated as arithmetic, and says why it may run something. */
export function readArithmetic(text: string, variables: ScriptVariables): string | undefined {
  if (SETS_NUMBERS.test(text))
    for (const [name] of text.matchAll(/(?<![\w$])[A-Za-z_]\w*/g)) variables.setToNumber(name);
  if (text.includes(HOLE) || saysMoreThanNumbers(text, variables)) return EVALUATED;
  // Quotes are undone, and what is made of a value is put in, before it is evaluated.
  if (/['\\]|\$\{\w+(?!\w|\}|\[|:?[-=+]\d*\})/.test(text.replace(COUNTED, ''))) return EVALUATED;
  if (GLUED.test(text.replace(WHOLLY_QUOTED, '$1'))) return EVALUATED;
  const names = text.match(/\$\{?(?:[\d@*]+|-)|[A-Za-z_]\w*/g) ?? [];
  // `((IFS=3))`, `let PATH=1`; nobody counts with these.
  const set = names.find((name) => steeringOf(name) !== undefined);
  if (set !== undefined) return `${set} decides what later commands do`;
  return names.every((name) => variables.isNumber(name.replace(/^\$\{?/, ''))) ? undefined : EVALUATED;
}
