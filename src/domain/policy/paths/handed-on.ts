import { forEachChild, parse, type Command, type SyntaxNode } from 'unbash';
import { expand, type Variables } from '../../command/expand.ts';
import type { Site } from '../reading/reading.ts';

/** A command whose unknown arguments are names of files that were found below the places that the line names. */
export interface HandedOn extends Site {
  /** What they hold is shown, not only how much or that it is there. */
  readonly isShown: boolean;
}

const NOTHING_KNOWN: Variables = {
  valuesOf: () => ({ values: [], certain: false }),
  breaksAtBlanks: true,
  saidBy: () => undefined,
};
const MEASURES = /^(?:wc|ls|stat|file|du|cksum|sum|b2sum|md5sum|sha(?:1|224|256|384|512)sum)$/;
const SEARCHES = /^(?:[efz]?grep|rg)$/;
const SHOWS = /^(?:cat|tac|head|tail|nl|cut|rev|jq)$/;
const ONLY_NAMES = /^(?:-[a-zA-Z]*[lLcq]|--(?:files-with-matches|files-without-match|count|quiet))$/;
/** By these a name may be of what lies elsewhere, or be made up. */
const LEADS_OUT = /^-(?:L|follow|files0-from|f?printf)$/;

/**
 * What `find -exec` and `xargs` hand on to programs that only read: `{}` lies below where `find` starts, and those places are judged by
 * themselves. Only commands that are written out in full, in the line itself.
 */
export function handedOn(command: string): readonly HandedOn[] {
  if (!/\b(?:find|xargs)\b/.test(command)) return [];
  const found: HandedOn[] = [];
  const visit = (node: SyntaxNode, before?: SyntaxNode): void => {
    if (node.type === 'Pipeline')
      for (const [at, each] of node.commands.entries()) visit(each, at === 0 ? undefined : node.commands[at - 1]);
    else if (node.type === 'Command') {
      const how = howHandedOn(wordsOf(node), before?.type === 'Command' ? wordsOf(before) : undefined);
      if (how !== undefined) found.push({ ...how, start: node.pos, end: node.end });
    } else
      forEachChild(node, (child) => {
        visit(child);
      });
  };
  visit(parse(command));
  return found;
}

/** Undefined where anything in it is only known when it runs. */
function wordsOf({ name, args, prefix }: Command): readonly string[] | undefined {
  if (name === undefined || prefix.length > 0) return undefined;
  const words: string[] = [];
  for (const word of [name, ...args]) {
    const ways = word.type === 'Word' ? expand(word, NOTHING_KNOWN) : [];
    const field = ways.length === 1 && ways[0]?.length === 1 ? ways[0][0] : undefined;
    if (field === undefined || field.open || field.many) return undefined;
    words.push(field.text);
  }
  return words;
}

type How = Pick<HandedOn, 'isShown'> | undefined;

function howHandedOn(words: readonly string[] | undefined, before: readonly string[] | undefined): How {
  if (words?.[0] === 'find') return byFind(words);
  return words?.[0] === 'xargs' && before !== undefined ? byXargs(words, before) : undefined;
}

function byFind(words: readonly string[]): How {
  const runs = words.flatMap((word, at) => (/^-(?:exec|ok)(?:dir)?$/.test(word) ? [words.slice(at + 1)] : []));
  const uses = runs.map((run) =>
    useOf(
      run.slice(
        0,
        run.findIndex((word) => /^[;+]$/.test(word)),
      ),
    ),
  );
  if (runs.length === 0 || words.some((word) => LEADS_OUT.test(word))) return undefined;
  if (uses.every((use) => use === 'measured')) return { isShown: false };
  return uses.every((use) => use !== undefined) && findsFilesOnly(words) ? { isShown: true } : undefined;
}

function byXargs(words: readonly string[], before: readonly string[]): How {
  let at = 1;
  for (; words[at]?.startsWith('-') === true; at += 1) {
    if (/^-(?:[nPLI])$/.test(words[at] ?? '')) at += 1;
    else if (!/^-(?:[0rt]+|[nPL]\d+|I.+)$/.test(words[at] ?? '')) return undefined;
  }
  const use = useOf(words.slice(at));
  if (use === undefined || !namesFiles(before)) return undefined;
  if (use === 'measured') return { isShown: false };
  // Elsewhere a blank in a name makes two of it.
  const isWhole = before.includes('-print0') && words.slice(1, at).some((word) => /^-[rt]*0/.test(word));
  return isWhole && before[0] === 'find' && findsFilesOnly(before) ? { isShown: true } : undefined;
}

function namesFiles(words: readonly string[]): boolean {
  const [program = '', verb] = words;
  if (program === 'find') return !words.some((word) => LEADS_OUT.test(word) || /^-(?:exec|ok)/.test(word));
  if (program === 'git') return verb === 'ls-files';
  return SEARCHES.test(program) && words.some((word) => /^-[a-zA-Z]*l$/.test(word));
}

/** A link may lead anywhere; with an alternative in it, nobody here knows what an expression finds. */
function findsFilesOnly(words: readonly string[]): boolean {
  const isPlain = !words.some((word) => /^(?:-o|-or|!|-not|,|\(|-L|-follow)$/.test(word));
  return isPlain && words.some((word, at) => word === '-type' && words[at + 1] === 'f');
}

function useOf([program = '', ...args]: readonly string[]): 'measured' | 'shown' | undefined {
  if (MEASURES.test(program) || (SEARCHES.test(program) && args.some((word) => ONLY_NAMES.test(word))))
    return 'measured';
  return SHOWS.test(program) || SEARCHES.test(program) ? 'shown' : undefined;
}
