import { expect, it } from 'vitest';
import { keyword } from '../../src/temporal/search-attributes.ts';

it.each([
  ['a short text', 'api.example.com', 15],
  ['exactly 255 bytes', 'x'.repeat(255), 255],
  ['256 bytes', 'x'.repeat(256), 255],
  ['characters of two bytes', 'é'.repeat(200), 254],
  ['characters of three bytes', '語'.repeat(200), 255],
  ['characters of four bytes', '🔧'.repeat(200), 252],
])('a keyword made of %s fits and is not cut inside a character', (_, text, bytes) => {
  const kept = keyword(text);
  expect(Buffer.byteLength(kept)).toBe(bytes);
  expect(text.startsWith(kept)).toBe(true);
});
