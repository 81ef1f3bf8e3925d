import type { ParameterExpansionPart, Word, WordPart } from 'unbash';

/** One field a word expands to. `literal` is false where only the running shell knows what will stand there. */
export interface Field {
  readonly text: string;
  readonly literal: boolean;
}

/**
 * The fields of a shell word, as far as its text tells: quotes and escapes undone, `{a,b}` spread, `${X:-a}` read as its
 * default, `$IFS` splitting. These are the usual ways to hide a program's name from whoever compares strings.
 */
export function fieldsOf(word: Word): readonly Field[] {
  if (word.parts === undefined) return [{ text: word.value, literal: true }];
  const spread = braceAlternatives(word.parts);
  if (spread !== undefined) return spread;
  const pieces = word.parts.map(pieceOf);
  const literal = pieces.every((piece) => piece.literal);
  return pieces
    .map((piece) => piece.text)
    .join('')
    .split(SPLIT)
    .filter((text, _, all) => text !== '' || all.length === 1)
    .map((text) => ({ text, literal }));
}

/** Stands for an unquoted `$IFS` until the word is split; cannot occur in a command line. */
const SPLIT = '\0';

function pieceOf(part: WordPart): Field {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
    case 'Glob':
      return { text: part.value, literal: true };
    case 'DoubleQuoted':
    case 'LocaleString': {
      const pieces = part.parts.map((child) => quotedPiece(child));
      return { text: pieces.map((piece) => piece.text).join(''), literal: pieces.every((piece) => piece.literal) };
    }
    case 'SimpleExpansion':
      return part.text === '$IFS' ? { text: SPLIT, literal: true } : { text: part.text, literal: false };
    case 'ParameterExpansion':
      return part.parameter === 'IFS' ? { text: SPLIT, literal: true } : expansionPiece(part);
    case 'BraceExpansion':
    case 'ExtendedGlob':
      return { text: part.text, literal: true };
    case 'CommandExpansion':
    case 'ArithmeticExpansion':
    case 'ProcessSubstitution':
      return { text: part.text, literal: false };
  }
}

/** Inside double quotes nothing is split. */
function quotedPiece(part: WordPart): Field {
  const piece = pieceOf(part);
  return piece.text === SPLIT ? { text: ' ', literal: true } : piece;
}

function expansionPiece(part: ParameterExpansionPart): Field {
  const operation = part.operation;
  if (operation?.type !== 'Default' || operation.operator.includes('+') || operation.operator.includes('?')) {
    return { text: part.text, literal: false };
  }
  return { text: operation.operand.value, literal: true };
}

/** `{sudo,id}` is two fields, `/{etc,usr}` too. Nested and repeated braces stay as they are. */
function braceAlternatives(parts: readonly WordPart[]): readonly Field[] | undefined {
  const at = parts.findIndex((part) => part.type === 'BraceExpansion');
  const brace = parts[at];
  if (brace === undefined || parts.some((part, index) => index !== at && part.type === 'BraceExpansion'))
    return undefined;
  const inner = brace.text.slice(1, -1);
  if (!inner.includes(',') || /[{}$`'"\\]/.test(inner)) return undefined;
  const around = [...parts.slice(0, at), ...parts.slice(at + 1)].map(pieceOf);
  if (around.some((piece) => !piece.literal || piece.text.includes(SPLIT))) return undefined;
  const [before, after] = [around.slice(0, at), around.slice(at)].map((side) => side.map(({ text }) => text).join(''));
  return inner.split(',').map((text) => ({ text: `${before ?? ''}${text}${after ?? ''}`, literal: true }));
}
