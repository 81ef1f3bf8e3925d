import { forEachChild, type SyntaxNode } from 'unbash';

/** Whether a function's body pipes the function into itself or leaves it running: `:(){ :|:& };:`. */
export function startsItself(name: string, body: SyntaxNode): boolean {
  let found = false;
  const calls = (node: SyntaxNode): boolean => node.type === 'Command' && node.name?.value === name;
  const look = (node: SyntaxNode): void => {
    if (node.type === 'Pipeline' && node.commands.filter(calls).length > 1) found = true;
    if (node.type === 'Statement' && node.background === true && calls(node.command)) found = true;
    forEachChild(node, look);
  };
  look(body);
  return found;
}

/** How deep brackets nest, quoted or not: a bound on the parser's work, not a reading of the text. */
export function nestingOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '(' || character === '{' || character === '[') depth += 1;
    else if ((character === ')' || character === '}' || character === ']') && depth > 0) depth -= 1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
