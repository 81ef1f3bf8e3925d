import { visible } from '../domain/outcome/visible.ts';

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const NO_WIDTH = /\p{M}/u;

/**
 * Names and messages are anybody's text. On a terminal, control characters in them could hide a line or fake another one,
 * so none gets through: what cannot be seen is named, as in the console.
 */
export function plain(text: string): string {
  return visible(text.replace(/[\n\r\t]+/g, ' '));
}

export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** At most this wide, the end replaced by … where it does not fit. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const character of text) {
    used += widthOfCharacter(character);
    if (used > width - 1) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/** Lines of at most this width, broken between words where there are any. */
export function wrap(text: string, width: number, mostLines = Infinity): string[] {
  const lines: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    if (lines.length + 1 >= mostLines) return [...lines, cut(rest, width)];
    const line = beginning(rest, width);
    lines.push(line.trimEnd());
    rest = rest.slice(line.length).trimStart();
  }
  return lines;
}

function beginning(text: string, width: number): string {
  let fits = '';
  let used = 0;
  for (const character of text) {
    used += widthOfCharacter(character);
    if (used > width) break;
    fits += character;
  }
  if (fits === text || text[fits.length] === ' ') return fits;
  const space = fits.lastIndexOf(' ');
  return space > 0 ? fits.slice(0, space) : fits;
}

function widthOfCharacter(character: string): number {
  if (character >= ' ' && character <= '~') return 1;
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
