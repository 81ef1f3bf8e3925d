import { foldCase, namesOf } from './path-text.ts';

/** A pattern that can never match as meant. It is refused when rules are read: a rule that is dropped would fail open. */
export class InvalidGlob extends Error {
  override readonly name = 'InvalidGlob';
  constructor(pattern: string, why: string) {
    super(`${JSON.stringify(pattern.slice(0, 200))} is no pattern: ${why}`);
  }
}

/** One compiled pattern. `absolute`: it begins with a slash and is about the whole path, not what lies below a root. */
export interface PathGlob {
  readonly source: string;
  readonly absolute: boolean;
  /** Alternatives that braces spell out; each is a list of segments. */
  readonly alternatives: readonly (readonly Segment[])[];
}

type Segment = '**' | readonly Piece[];
type Piece =
  | { readonly kind: 'literal'; readonly character: string }
  | { readonly kind: 'one' }
  | { readonly kind: 'many' }
  | { readonly kind: 'class'; readonly negated: boolean; readonly ranges: readonly (readonly [string, string])[] };

const MOST_ALTERNATIVES = 256;
const LONGEST = 4096;

/**
 * `*` and `?` within a name, `**` for any directories, `[a-z]`, `[!a-z]`, `{a,b}`, and `\` before a character that is meant
 * as itself. A pattern without a slash is about a name at any depth.
 */
export function compilePathGlob(pattern: string, { ignoreCase = false } = {}): PathGlob {
  const refuse = (why: string): never => {
    throw new InvalidGlob(pattern, why);
  };
  if (pattern === '') refuse('it is empty');
  if (pattern.length > LONGEST) refuse(`it is longer than ${LONGEST} characters`);
  if (pattern.includes('\0')) refuse('it holds a NUL character');
  if (/^~/.test(pattern)) refuse('`~` is not expanded; write the directory in full');
  const absolute = pattern.startsWith('/');
  const text = ignoreCase ? foldCase(pattern) : pattern;
  const bare = text.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '');
  const alternatives = expandBraces(bare, refuse).map((choice) => {
    if (choice === '' && !absolute) refuse('it names nothing');
    const segments = namesOf(choice).map((part) => compileSegment(part, refuse));
    return choice.includes('/') || absolute ? segments : ['**' as const, ...segments];
  });
  return { source: pattern, absolute, alternatives };
}

/** Whether a list of names matches. A pattern that ends in `/**` also matches the directory it is about. */
export function matchesPath(glob: PathGlob, names: readonly string[]): boolean {
  return glob.alternatives.some(
    (segments) => matches(segments, names) || (segments.at(-1) === '**' && matches(segments.slice(0, -1), names)),
  );
}

/** Only the last `**` is ever retried, as in `matchesName`: the time is at most pattern times path. */
function matches(segments: readonly Segment[], names: readonly string[]): boolean {
  return matchRun(
    segments.length,
    names.length,
    (at) => segments[at] === '**',
    (at, name) => {
      const segment = segments[at];
      return segment !== undefined && segment !== '**' && matchesName(segment, names[name] ?? '');
    },
  );
}

function matchesName(pieces: readonly Piece[], name: string): boolean {
  const [first] = pieces;
  // Most names are told by this from most patterns.
  if (first?.kind === 'literal' && !name.startsWith(first.character)) return false;
  const characters = Array.from(name);
  return matchRun(
    pieces.length,
    characters.length,
    (at) => pieces[at]?.kind === 'many',
    (at, index) => {
      const piece = pieces[at];
      return piece !== undefined && matchesCharacter(piece, characters[index] ?? '');
    },
  );
}

function matchRun(
  patternLength: number,
  textLength: number,
  isStar: (at: number) => boolean,
  isMatch: (at: number, index: number) => boolean,
): boolean {
  let [at, index, star, retryFrom] = [0, 0, -1, 0];
  while (index < textLength) {
    if (at < patternLength && isStar(at)) {
      star = at;
      retryFrom = index;
      at += 1;
    } else if (at < patternLength && isMatch(at, index)) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      retryFrom += 1;
      index = retryFrom;
      at = star + 1;
    } else return false;
  }
  while (at < patternLength && isStar(at)) at += 1;
  return at === patternLength;
}

function matchesCharacter(piece: Piece, character: string): boolean {
  switch (piece.kind) {
    case 'literal':
      return piece.character === character;
    case 'one':
      return true;
    case 'many':
      return false;
    case 'class':
      return piece.ranges.some(([low, high]) => character >= low && character <= high) !== piece.negated;
  }
}

function compileSegment(part: string, refuse: (why: string) => never): Segment {
  if (part === '**') return '**';
  if (part === '..' || part === '.') refuse(`\`${part}\` in it never matches a resolved path`);
  if (part.includes('**')) refuse('`**` stands alone between slashes');
  const characters = Array.from(part);
  const pieces: Piece[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? '';
    if (character === '*') pieces.push({ kind: 'many' });
    else if (character === '?') pieces.push({ kind: 'one' });
    else if (character === '[') {
      const end = closingBracket(characters, at);
      if (end === -1) refuse('`[` is not closed');
      pieces.push(characterClass(characters.slice(at + 1, end), refuse));
      at = end;
    } else if (character === '\\') {
      at += 1;
      const escaped = characters[at];
      if (escaped === undefined) return refuse('it ends in `\\`');
      pieces.push({ kind: 'literal', character: escaped });
    } else pieces.push({ kind: 'literal', character });
  }
  return pieces;
}

/** A `]` right after `[` or `[!` is a member. */
function closingBracket(characters: readonly string[], open: number): number {
  const first = characters[open + 1] === '!' || characters[open + 1] === '^' ? open + 2 : open + 1;
  return characters.indexOf(']', first + 1);
}

function characterClass(inside: readonly string[], refuse: (why: string) => never): Piece {
  const negated = inside[0] === '!' || inside[0] === '^';
  const members = negated ? inside.slice(1) : inside;
  const ranges: [string, string][] = [];
  for (let at = 0; at < members.length; at += 1) {
    const low = members[at] ?? '';
    const high = members[at + 1] === '-' ? members[at + 2] : undefined;
    if (low === '\\') refuse('`\\` has no meaning between `[` and `]`');
    if (high !== undefined && high < low) refuse(`the range ${low}-${high} is empty`);
    ranges.push([low, high ?? low]);
    if (high !== undefined) at += 2;
  }
  return { kind: 'class', negated, ranges };
}

/** `a{b,c}d` to `abd` and `acd`, from the innermost brace outwards. */
function expandBraces(pattern: string, refuse: (why: string) => never): string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const brace = innermostBrace(next, refuse);
    if (brace === undefined) done.push(next);
    else {
      const { open, close } = brace;
      for (const choice of splitChoices(next.slice(open + 1, close)))
        waiting.push(next.slice(0, open) + choice + next.slice(close + 1));
    }
    if (done.length + waiting.length > MOST_ALTERNATIVES) {
      refuse(`its braces spell out more than ${MOST_ALTERNATIVES} patterns`);
    }
  }
  return done;
}

function innermostBrace(text: string, refuse: (why: string) => never): { open: number; close: number } | undefined {
  let open = -1;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '{') open = at;
    else if (text[at] === '}') return open === -1 ? refuse('`}` has no `{`') : { open, close: at };
  }
  return open === -1 ? undefined : refuse('`{` is not closed');
}

function splitChoices(text: string): string[] {
  const choices = [''];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === ',') choices.push('');
    else {
      const taken = text[at] === '\\' ? text.slice(at, at + 2) : text.charAt(at);
      choices.push(`${choices.pop() ?? ''}${taken}`);
      at += taken.length - 1;
    }
  }
  return choices;
}
