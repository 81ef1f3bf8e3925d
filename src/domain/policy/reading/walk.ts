import { forEachChild, type Pipeline, type SyntaxNode } from 'unbash';
import type { CommandPaths } from '../paths/command-paths.ts';

/** A function of such a name takes the place of what we follow. */
const GUIDES = /^(?:cd|pushd|popd|builtin|command)$/;

const NO_OPERATORS: readonly string[] = [];

/** Visits what a node is made of, in the order and the shell in which it runs, so that directories can be followed. */
export function walk(node: SyntaxNode, named: CommandPaths, visit: (child: SyntaxNode) => void): void {
  const { where } = named;
  switch (node.type) {
    case 'AndOr':
      where.inOrder(node.commands, node.operators, visit);
      return;
    case 'CompoundList':
    case 'Script':
      where.inOrder(node.commands, NO_OPERATORS, visit);
      return;
    case 'Pipeline':
      pipeline(node, named, visit);
      return;
    case 'If':
      visit(node.clause);
      where.oneOf([node.then, ...node.elif, ...(node.else === undefined ? [] : [node.else])], visit);
      return;
    case 'Case':
      visit(node.word);
      // One may fall through to the next.
      for (const item of node.items) where.oneOf([item], visit);
      return;
    case 'Function':
      named.called(all(node, visit));
      if (GUIDES.test(node.name.value)) where.wander();
      return;
    case 'For':
    case 'While':
    case 'Select':
    case 'ArithmeticFor':
      named.repeated(all(node, visit));
      return;
    case 'Subshell':
      where.apart(all(node, visit));
      return;
    case 'Coproc':
      named.made.loseOrder();
      where.apart(all(node, visit));
      return;
    case 'Statement':
      if (node.background === true) {
        named.made.loseOrder();
        where.apart(all(node, visit));
      } else visit(node.command);
      return;
    default:
      // Most nodes run as they stand.
      forEachChild(node, visit);
  }
}

function all(node: SyntaxNode, visit: (child: SyntaxNode) => void): () => void {
  return () => {
    forEachChild(node, visit);
  };
}

function pipeline(node: Pipeline, named: CommandPaths, visit: (child: SyntaxNode) => void): void {
  const { where } = named;
  node.prefixes.forEach(visit);
  if (node.commands.length === 1) node.commands.forEach(visit);
  else {
    named.made.loseOrder();
    for (const command of node.commands)
      where.apart(() => {
        visit(command);
      });
  }
  if (node.prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1) where.negated();
}
