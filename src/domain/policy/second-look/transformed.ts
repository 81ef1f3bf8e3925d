import type { Command, Pipeline, Redirection, SyntaxNode } from 'unbash';
import { expansionsIn } from '../reading/syntax.ts';

/** What they are given they pass on, all of it or a part, line by line; or they count. */
const PASSES = /^(?:cat|head|tail|sort|uniq|[efz]?grep|rg|wc|tee|nl|less|more|column|pv|sponge)$/;
const SAYS = /^(?:echo|printf)$/;
/** A pattern of names: it may stand for what the line has made. */
const OF_SEVERAL = /[{*?[]/;
const WORD = /[A-Za-z].*[A-Za-z]/s;

/**
 * Where in a pipeline a text that the line itself says is made into another one (`echo odus | rev`), if need be by way of one of the
 * files that hold such texts; -1 if nowhere.
 */
export function transformedAt({ commands }: Pick<Pipeline, 'commands'>, files: ReadonlySet<string>): number {
  let isSaid = false;
  return commands.findIndex((node) => {
    isSaid ||= node.type === 'Command' && (saysText(node) || namesOf(node).some((name) => files.has(name)));
    return isSaid && !(node.type === 'Command' && passes(node));
  });
}

/** The files to which commands write a text that they say. */
export function filesOfTexts(commands: readonly Command[]): ReadonlySet<string> {
  return new Set(commands.filter(saysText).flatMap((node) => targets(node, '>')));
}

/** The files that hold what is said on the line, be it but a letter, by way of others as well. */
export function filesSaid(commands: readonly Command[]): ReadonlySet<string> {
  const said = new Set<string>();
  for (const node of commands) {
    const isFed = node.redirects.some(({ type }) => type !== 'Redirect');
    if (isFed || SAYS.test(node.name?.value ?? '') || namesOf(node).some((name) => said.has(name)))
      for (const name of targets(node, '>')) said.add(name);
  }
  return said;
}

/**
 * Whether a command puts texts that are said on the line together in one file: what it holds then stands nowhere. Nobody does so who could have
 * written it down at once.
 */
export function joinsTexts(node: Command, said: ReadonlySet<string>): boolean {
  if (!passes(node) || SAYS.test(node.name?.value ?? '')) return false;
  const from = namesOf(node).filter((name) => !name.startsWith('-'));
  const to = [...targets(node, '>'), ...(node.name?.value === 'tee' ? from : [])];
  const isAdded = node.redirects.some(({ operator }) => operator === '>>') && to.some((name) => said.has(name));
  const parts = from.filter((name) => said.has(name) || (said.size > 1 && OF_SEVERAL.test(name)));
  return (
    to.length > 0 && parts.length > 0 && (isAdded || parts.length > 1 || parts.some((name) => OF_SEVERAL.test(name)))
  );
}

function namesOf(node: Command): readonly string[] {
  return [...node.args.map(({ text }) => text), ...targets(node, '<')];
}

function targets({ redirects }: Command, direction: '<' | '>'): readonly string[] {
  return redirects.flatMap((each) =>
    each.type === 'Redirect' && each.operator.includes(direction) && each.target !== undefined
      ? [each.target.text]
      : [],
  );
}

function passes({ name }: Command): boolean {
  const program = name?.value ?? '';
  return SAYS.test(program) || PASSES.test(program);
}

/** Whether all that a command says, or is fed, is written out on the line. */
function saysText(node: Command): boolean {
  const fed = node.redirects.filter(({ type }) => type !== 'Redirect');
  if (fed.length > 0) return fed.every((each) => isWrittenOut(each) && WORD.test(textOf(each)));
  return (
    SAYS.test(node.name?.value ?? '') && node.args.some((arg) => WORD.test(arg.text)) && node.args.every(isWrittenOut)
  );
}

function isWrittenOut(node: SyntaxNode): boolean {
  return expansionsIn(node).length === 0;
}

function textOf(fed: Redirection): string {
  if (fed.type === 'HereDoc') return fed.body.text;
  return fed.target?.text ?? '';
}
