import { forEachChild, type Command, type ParsedScript, type SyntaxNode, type WordPart } from 'unbash';
import { isExpansion } from '../../command/expand.ts';

export function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  forEachChild(node, (child) => {
    children.push(child);
  });
  return children;
}

export function commandsIn(node: SyntaxNode): readonly Command[] {
  const within = childrenOf(node).flatMap(commandsIn);
  return node.type === 'Command' ? [node, ...within] : within;
}

/** The outermost expansions in a node. */
export function expansionsIn(node: SyntaxNode): readonly SyntaxNode[] {
  return isExpansion(node) ? [node] : childrenOf(node).flatMap(expansionsIn);
}

/** `$(cat <<'E' … E)` is a text, and nothing is run to get it but what hands it on. */
export function isWrittenOut(script: ParsedScript | undefined): boolean {
  const [statement, ...others] = script?.commands ?? [];
  const command = statement?.command;
  if (others.length > 0 || command?.type !== 'Command' || command.name?.value !== 'cat') return false;
  const [redirect, ...more] = command.redirects;
  return (
    command.args.length === 0 &&
    more.length === 0 &&
    redirect?.type === 'HereDoc' &&
    redirect.delimiter?.quoted === true
  );
}

/** Parts of which every character is text: in single quotes, and here-documents that expand nothing. */
export function plainTextsIn(node: SyntaxNode): readonly { readonly pos: number; readonly end: number }[] {
  if (node.type === 'SingleQuoted') return [node];
  if (node.type === 'HereDoc') return node.delimiter?.quoted === true ? [node.body] : [];
  return childrenOf(node).flatMap(plainTextsIn);
}

/** Each text of a word that stands in quotes or was escaped, as it is without them. */
export function textsIn(node: SyntaxNode): readonly string[] {
  switch (node.type) {
    case 'Word':
      return node.parts === undefined ? [node.value] : [node.parts.map(textOf).join('')];
    case 'Assignment':
      return node.value.type === 'Word' ? textsIn(node.value) : node.value.elements.flatMap(textsIn);
    case 'HereDoc':
      return node.delimiter?.quoted === true ? [node.body.text] : [];
    default:
      return [];
  }
}

function textOf(part: WordPart): string {
  switch (part.type) {
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map(textOf).join('');
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return part.value;
    default:
      return '';
  }
}
