import { forEachChild, type SyntaxNode } from 'unbash';
import type { CommandPaths } from './command-paths.ts';

/** A function of such a name takes the place of what we follow. */
const GUIDES = /^(?:cd|pushd|popd|builtin|command)$/;

const ORDERED: ReadonlySet<string> = new Set(
  'AndOr CompoundList Script Statement Pipeline If Case Function For While Select ArithmeticFor Subshell Coproc'.split(
    ' ',
  ),
);

/** Visits what a node is made of, in the order and the shell in which it runs, so that directories can be followed. */
export function walk(node: SyntaxNode, named: CommandPaths, visit: (child: SyntaxNode) => void): void {
  // Most nodes run as they stand.
  if (!ORDERED.has(node.type)) {
    forEachChild(node, visit);
    return;
  }
  const { where } = named;
  const all = () => {
    forEachChild(node, visit);
  };
  const steps = (nodes: readonly SyntaxNode[]) =>
    nodes.map((each) => () => {
      visit(each);
    });
  if (node.type === 'AndOr') where.inOrder(steps(node.commands), node.operators);
  else if (node.type === 'CompoundList' || node.type === 'Script') where.inOrder(steps(node.commands), []);
  else if (node.type === 'Pipeline') {
    node.prefixes.forEach(visit);
    if (node.commands.length === 1) node.commands.forEach(visit);
    else {
      named.loseOrder();
      for (const step of steps(node.commands)) where.apart(step);
    }
    if (node.prefixes.filter(({ type }) => type === 'Negation').length % 2 === 1) where.negated();
  } else if (node.type === 'If') {
    visit(node.clause);
    where.oneOf(steps([node.then, ...node.elif, ...(node.else === undefined ? [] : [node.else])]));
  } else if (node.type === 'Case') {
    visit(node.word);
    // One may fall through to the next.
    for (const item of node.items) where.oneOf(steps([item]));
  } else if (node.type === 'Function') {
    named.called(all);
    if (GUIDES.test(node.name.value)) where.wander();
  } else if (isLoop(node)) named.repeated(all);
  else if (isApart(node)) {
    if (node.type !== 'Subshell') named.loseOrder();
    where.apart(all);
  } else all();
}

function isLoop({ type }: SyntaxNode): boolean {
  return type === 'For' || type === 'While' || type === 'Select' || type === 'ArithmeticFor';
}

/** In a shell of its own. */
function isApart(node: SyntaxNode): boolean {
  return node.type === 'Subshell' || node.type === 'Coproc' || (node.type === 'Statement' && node.background === true);
}
