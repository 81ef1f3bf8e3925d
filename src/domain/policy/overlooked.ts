import type { SyntaxNode } from 'unbash';

const IN_PLAIN_WORD = /[`"'\\]|\$[\w({['"@*#?$!-]/;
const IN_LITERAL = /`|\$[({]/;

/**
 * Whether the parser has left something unread: a word that it says is plain, yet has quotes or expansions in it
 * (`a[; x ]$(y)`, which bash takes for one word). Nothing of the kind may pass for text.
 */
export function isOverlooked(node: SyntaxNode): boolean {
  if (node.type === 'Word') return node.parts === undefined && holds(node.text, IN_PLAIN_WORD);
  if (node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution') return !isClosed(node.text);
  return node.type === 'Literal' && holds(node.text, IN_LITERAL);
}

/** Taken apart in the middle, it has no end. */
function isClosed(text: string): boolean {
  return text.startsWith('`') ? text.length > 1 && text.endsWith('`') : /[)}]$/.test(text);
}

/** What a backslash stands before is text: `a\ b`. */
function holds(text: string, pattern: RegExp): boolean {
  return pattern.test(text) && pattern.test(text.replace(/\\./gs, ''));
}
