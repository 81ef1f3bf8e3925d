import type { HereDoc, ParameterExpansionPart, SyntaxNode, WordPart } from 'unbash';
import { isExpansion } from '../../command/expand.ts';
import { plainTextsIn } from './syntax.ts';

const ODD_TEXT = /[^\P{Cc}\n\t\r]/u;
/** `~+`, `~-` and `~2` are directories one has been in. */
const ODD_TILDE = /(?:^|[=:])~[-+\d$]/;
/** What is known of these is where they lead, not how they are spelt: `${PWD}x` lies beside it. */
const GLUED_PLACE = /(?:\$\{(?:PWD|OLDPWD|HOME)\}|\$\(pwd\)|\$(?:PWD|OLDPWD|HOME)(?!\w))"?[\w.~+@%=-]/;
/** What other programs have open, by way of where the system shows it. */
const OF_OTHERS = /[$*?[`]|\/fd\b/;
const PLAIN_DELIMITER = /^(?:[\w.!@%+:-]+|(['"])[\w.!@%+: -]+\1|\\\w+)$/;
const PLAIN_INDEX = /^[\w@*$+ -]*$/;
/** Within `${…}` quotes mean this in one place and that in another; these are the same everywhere. */
const PLAINLY_QUOTED = /\\[/ .*#%&-]|"(?:[\w./ {}:@=,*-]|\$(?=[\w{]))*"/g;
const OWN_FUNCTION = /^[A-Za-z_][\w-]*$/;

/**
 * Whether a text is written as hardly anybody writes. Bash has many ways to say the same, and more than one reader of it has gone astray
 * in the rare ones: what is known to be plain is read, and of all else it is not even tried to tell what it does.
 */
export function isOddText(source: string, script: SyntaxNode): boolean {
  return ODD_TEXT.test(source) || hasNoComment(source) || (source.includes('\\\n') && hasBrokenWord(source, script));
}

/** What begins as a comment does, and to bash goes on with a word: `<(x)#y`. */
function hasNoComment(source: string): boolean {
  const at = source.search(/[<>]\(/);
  return at !== -1 && source.includes(')#', at);
}

/** A line that goes on in the middle of a word, and not in quotes where that is all text. */
function hasBrokenWord(source: string, script: SyntaxNode): boolean {
  const texts = plainTextsIn(script);
  for (const { index } of source.matchAll(/(?<=[^\s\\])\\\n(?=\S)/g))
    if (!texts.some(({ pos, end }) => index >= pos && index < end)) return true;
  return false;
}

/** The same of a part of a text. */
export function isOddlyWritten(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'Word':
      return (
        ODD_TILDE.test(node.text) ||
        GLUED_PLACE.test(node.text) ||
        (node.text.includes('/proc/') && OF_OTHERS.test(node.text)) ||
        (node.parts !== undefined && isOddWord(node.parts))
      );
    case 'ParameterExpansion':
      return isOddExpansion(node);
    case 'ArithmeticExpansion':
      return node.text.startsWith('$[');
    case 'HereDoc':
      return isOddHereDocument(node);
    case 'Assignment':
      return node.index !== undefined && !PLAIN_INDEX.test(node.index.text);
    case 'Function':
      return !OWN_FUNCTION.test(node.name.text);
    case 'Coproc':
    case 'Select':
      return true;
    default:
      return false;
  }
}

function isOddWord(parts: readonly WordPart[]): boolean {
  const expands = parts.some(isExpansion);
  return parts.some((part) => {
    switch (part.type) {
      case 'LocaleString':
      case 'ExtendedGlob':
        return true;
      case 'BraceExpansion':
        return expands;
      // A dollar sign that expands nothing stands at the end, if anywhere; a bracket beside an expansion may begin a pattern.
      case 'Literal':
        return expands && /(?<!\\)[$[]/.test(part.text);
      case 'DoubleQuoted':
        return part.parts.some((each) => each.type === 'Literal' && /(?<!\\)\$\[/.test(each.text));
      case 'Glob':
        return /[$`]/.test(part.text);
      default:
        return false;
    }
  });
}

function isOddExpansion({ text, operation, index }: ParameterExpansionPart): boolean {
  if (operation?.type === 'Unknown' || (index !== undefined && !PLAIN_INDEX.test(index.text))) return true;
  const inner = text.slice(2, -1);
  if (inner.includes('\n') || /(?<!\$)\{/.test(inner)) return true;
  return /['"\\]/.test(inner) && /['"\\]/.test(inner.replace(PLAINLY_QUOTED, ''));
}

function isOddHereDocument({ operator, delimiter, body, closing }: HereDoc): boolean {
  // Where it ends within `$(cat <<E)`, only bash knows.
  if (closing === undefined || !PLAIN_DELIMITER.test(delimiter?.text ?? '')) return true;
  // Whose tabs are taken away decides where one within it ends.
  return operator === '<<-' && body.text.includes('<<');
}
