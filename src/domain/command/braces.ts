import type { WordPart } from 'unbash';
import { NUMBER } from './marks.ts';

const MOST_WORDS = 64;
/** As many as a variable may have values. */
const MOST_INTEGERS = 16;
/** Quotes around what means the same without them. */
const PLAINLY_QUOTED = /'([\w./-]*)'|"([\w./-]*)"/g;
const INTEGERS = /^\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}$/;

/**
 * The words that a word with `{a,b}` in it stands for; undefined where that takes more than its text (`{$x,b}`), where there
 * are too many, or for a sequence of letters. Of a long sequence of integers it is one number.
 */
export function braceWords(parts: readonly WordPart[]): readonly (readonly WordPart[])[] | undefined {
  let words: readonly (readonly WordPart[])[] = [[]];
  for (const part of parts) {
    const choices = part.type === 'BraceExpansion' ? alternatives(part.text) : undefined;
    if (part.type === 'BraceExpansion' && choices === undefined) return undefined;
    const pieces: readonly WordPart[] = choices?.map((text) => asPart(text, part)) ?? [part];
    if (words.length * pieces.length > MOST_WORDS) return undefined;
    words = words.flatMap((word) => pieces.map((piece) => [...word, piece]));
  }
  return words;
}

/** `{1..3}`, `{01..10..3}`; a number, whichever, where there are too many. */
function integers(given: string): readonly string[] {
  const [from = '', to = '', by = '1'] = given.slice(1, -1).split('..');
  const isPadded = /^-?0\d/.test(from) || /^-?0\d/.test(to);
  const [first, last] = [Number(from), Number(to)];
  const step = Math.max(1, Math.abs(Number(by))) * (first <= last ? 1 : -1);
  const count = Math.floor(Math.abs(last - first) / Math.abs(step)) + 1;
  if (count > MOST_INTEGERS || isPadded) return [NUMBER];
  return Array.from({ length: count }, (_, nth) => String(first + nth * step));
}

function asPart(text: string, { pos, end }: WordPart): WordPart {
  const place = { pos, end, value: text, text };
  return /[*?]/.test(text) ? { type: 'Glob', kind: 'star', ...place } : { type: 'Literal', ...place };
}

/** `{a,b{c,d}}` is a, bc and bd. */
function alternatives(given: string): readonly string[] | undefined {
  if (INTEGERS.test(given)) return integers(given);
  const text = given.replace(PLAINLY_QUOTED, '$1$2');
  if (/["'`$\\[\]~]/.test(text) || text.length > 2000) return undefined;
  const inner = text.slice(1, -1);
  const choices: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= inner.length; at += 1) {
    const character = inner[at];
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (character === undefined || (character === ',' && depth === 0)) {
      choices.push(inner.slice(start, at));
      start = at + 1;
    }
  }
  if (depth !== 0 || choices.length < 2) return undefined;
  const spread: string[] = [];
  for (const choice of choices) {
    const nested = nestedAlternatives(choice);
    if (nested === undefined || spread.length + nested.length > MOST_WORDS) return undefined;
    spread.push(...nested);
  }
  return spread;
}

function nestedAlternatives(choice: string): readonly string[] | undefined {
  const open = choice.indexOf('{');
  if (open === -1) return choice.includes('}') ? undefined : [choice];
  let depth = 0;
  for (let at = open; at < choice.length; at += 1) {
    if (choice[at] === '{') depth += 1;
    if (choice[at] === '}') depth -= 1;
    if (depth > 0) continue;
    const inner = alternatives(choice.slice(open, at + 1));
    const rest = nestedAlternatives(choice.slice(at + 1));
    if (inner === undefined || rest === undefined || inner.length * rest.length > MOST_WORDS) return undefined;
    return inner.flatMap((middle) => rest.map((end) => choice.slice(0, open) + middle + end));
  }
  return undefined;
}
