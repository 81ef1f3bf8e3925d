import { sha256Hex } from './sha256.ts';

const HASH_DIGITS = 32;

/**
 * A text of at most `most` UTF-8 bytes: itself, or its beginning, `~` and a hash of the whole. Identities stay readable
 * and stay apart, however long the names they are made of.
 */
export function bounded(text: string, most: number): string {
  // No code unit takes more than three bytes, so nearly every name is decided without encoding it.
  if (text.length * 3 <= most || utf8Length(text) <= most) return text;
  return `${beginning(text, most - HASH_DIGITS - 1)}~${sha256Hex(text).slice(0, HASH_DIGITS)}`;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}

function beginning(text: string, bytes: number): string {
  let kept = '';
  let length = 0;
  for (const character of text) {
    length += utf8Length(character);
    if (length > bytes) break;
    kept += character;
  }
  // A percent-escape cut in two would read as another character.
  return kept.replace(/%[0-9A-F]?$/, '');
}
