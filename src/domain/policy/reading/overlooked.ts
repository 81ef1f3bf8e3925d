import type { ParameterExpansionPart, SyntaxNode } from 'unbash';

const IN_PLAIN_WORD = /[`"'\\]|\$[\w({['"@*#?$!-]|[<>]\(/;
/** `1<(x)`: a substitution, although it looks like a redirection. */
const SUBSTITUTES = /[<>]\(/;
/** What ends a word, or begins another reading of it. */
const ENDS_WORD = /[\s;|&()<>`'"\\]/;
const IN_LITERAL = /`|\$[({]/;

/** Where parentheses do not match as bash counts them, `((…))` is no arithmetic to it but a shell within a shell. */
const UNCOUNTABLE = /;|\\[()]|\$\{[^}]*[()]|(["'])[^"']*[()][^"']*\1/;

/** Whether no word of a text can hide anything: what quotes, escapes or expands is nowhere in it. */
export function isBare(source: string): boolean {
  return !/[`"'\\$(]|~[-+\d]|\/proc\//.test(source);
}

/**
 * Whether the parser has left something unread: a word that it says is plain, yet has quotes or expansions in it
 * (`a[; x ]$(y)`, which bash takes for one word). Nothing of the kind may pass for text.
 */
export function isOverlooked(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'Word':
      return node.parts === undefined
        ? holds(node.text, IN_PLAIN_WORD)
        : node.parts.some((part) => part.type === 'Literal' && holds(part.text, SUBSTITUTES));
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return !isClosed(node.text);
    case 'Literal':
      return holds(node.text, IN_LITERAL);
    case 'ParameterExpansion':
      return isMismeasured(node);
    case 'ArithmeticCommand':
      return UNCOUNTABLE.test(node.body);
    case 'ArithmeticExpansion':
      return UNCOUNTABLE.test(node.text);
    case 'HereDoc':
      // `<<\`, a new line and `-E` is `<<-E`; and a delimiter that holds an expansion ends where nobody would think.
      return /^-|[$`\n(){}]/.test(node.delimiter?.text ?? '');
    default:
      return false;
  }
}

/** `>&-x` closes a stream, and `x` is the next word; the parser takes `-x` for a file. */
export function closesAndGoesOn(node: SyntaxNode): boolean {
  return node.type === 'Redirect' && node.operator.endsWith('&') && /^['"\\]*-./s.test(node.target?.text ?? '');
}

/**
 * Where `${…}` ends: to bash at the first `}`, to the parser at the one that matches a `{`. A backslash before a new line is nothing
 * to bash, and one between quotes within quotes is not what it seems.
 */
function isMismeasured({ text, operation }: ParameterExpansionPart): boolean {
  if (operation?.type === 'Unknown' || text.includes('\\\n')) return true;
  if (text.includes('"') && text.includes('\\')) return true;
  return /(?<!\$)\{/.test(text.slice(2)) && ENDS_WORD.test(text);
}

/** Taken apart in the middle, it has no end. */
function isClosed(text: string): boolean {
  return text.startsWith('`') ? text.length > 1 && text.endsWith('`') : /[)}]$/.test(text);
}

/** What a backslash stands before is text: `a\ b`. */
function holds(text: string, pattern: RegExp): boolean {
  return pattern.test(text) && pattern.test(text.replace(/\\./gs, ''));
}
