import type { SyntaxNode, Word } from 'unbash';
import { expandWhole, type Variables } from '../command/expand.ts';
import type { ScriptVariables } from './variables.ts';

/** Variables by which a program is told to run others, or the shell to find other programs. */
const SENSITIVE =
  /^(?:PATH|IFS|ENV|BASH_ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|CDPATH|EXECIGNORE|GLOBIGNORE|LD_.*|DYLD_.*|GIT_(?:SSH|SSH_COMMAND|PAGER|EDITOR|SEQUENCE_EDITOR|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND|EXEC_PATH|CONFIG.*)|PAGER|MANPAGER|EDITOR|VISUAL|FCEDIT|BROWSER|SHELL|LESSOPEN|LESSCLOSE|PERL5(?:OPT|LIB|DB)|PYTHON(?:STARTUP|PATH|HOME|INSPECT)|RUBY(?:OPT|LIB)|NODE_OPTIONS|JAVA_TOOL_OPTIONS|MAKEFLAGS|RSYNC_RSH|SSH_ASKPASS|SUDO_ASKPASS|TAR_OPTIONS|OPENSSL_CONF|GCONV_PATH|HOSTALIASES)$/;
const NUMERIC_TEST = /^-(?:eq|ne|lt|le|gt|ge)$/;

export function sensitiveVariable(name: string): boolean {
  return SENSITIVE.test(name);
}

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
    case 'Assignment':
      if (sensitiveVariable(node.name)) return `${node.name} decides what later commands do`;
      return node.index === undefined ? undefined : arithmetic(node.index.text, variables);
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
    case 'Slice':
      return arithmetic(source.slice(node.pos, node.end), variables);
    case 'ArithmeticFor':
      return arithmetic(source.slice(node.pos, node.body.pos), variables);
    case 'ParameterExpansion':
      if (node.prefix === '!' && node.operation?.type !== 'Names' && !/^[@*]$/.test(node.index?.text ?? '')) {
        return 'a variable that names another one hides what it holds';
      }
      return node.index === undefined ? undefined : arithmetic(node.index.text, variables);
    case 'Transform':
      return node.operand.text === 'P' ? 'a text is expanded once more' : undefined;
    case 'For':
    case 'Select':
      return sensitiveVariable(node.name.value) ? `${node.name.value} decides what later commands do` : undefined;
    case 'TestUnary':
      return node.operator === '-v' ? testOperand(node.operand, view, variables) : undefined;
    case 'TestBinary':
      if (!NUMERIC_TEST.test(node.operator)) return undefined;
      return testOperand(node.left, view, variables) ?? testOperand(node.right, view, variables);
    default:
      return undefined;
  }
}

function testOperand(word: Word, view: Variables, variables: ScriptVariables): string | undefined {
  const hides = expandWhole(word, view).some((text) => /\$\(|`|\[/.test(text));
  return hides ? EVALUATED : arithmetic(word.text, variables);
}

const EVALUATED = 'arithmetic evaluates what a variable holds, and that is only known when it runs';

function arithmetic(text: string, variables: ScriptVariables): string | undefined {
  const names = text.match(/\$[\d@*]|[A-Za-z_]\w*/g) ?? [];
  return names.every((name) => variables.isNumber(name.replace('$', ''))) ? undefined : EVALUATED;
}
