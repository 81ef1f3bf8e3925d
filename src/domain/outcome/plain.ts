import { dateText, elements, field, isList, isObject, keysOf } from './field.ts';
import { redactText } from './redact.ts';
import { isSecretName, REDACTED } from './secrets.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

interface Limits {
  readonly depth: number;
  readonly nodes: number;
  readonly characters: number;
}

/**
 * A JSON-safe copy of any value, without credentials: cycles, depth and size are cut, what JSON has
 * no word for is named in brackets. Safe to stringify, and small enough to.
 */
export function plainCopy(value: unknown, limits: Limits): Json {
  return copy(value, { ...limits, text: redactText, isHidden: isSecretName }, { nodes: limits.nodes }, []);
}

/** The same with the credentials still in it, for whoever must know them to find them elsewhere. Never to be kept. */
export function openCopy(value: unknown, limits: Limits): Json {
  const text = (each: string, most: number) => each.slice(0, most);
  return copy(value, { ...limits, text, isHidden: () => false }, { nodes: limits.nodes }, []);
}

interface Manner extends Limits {
  readonly text: (text: string, most: number) => string;
  readonly isHidden: (key: string) => boolean;
}

function copy(value: unknown, limits: Manner, left: { nodes: number }, above: readonly unknown[]): Json {
  left.nodes -= 1;
  if (left.nodes < 0) return '…';
  // Redacted before it is cut: half a token has no shape to be known by.
  if (typeof value === 'string') return limits.text(value, limits.characters);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return value.toString().slice(0, limits.characters);
  if (!isObject(value)) return value === undefined ? null : `[${typeof value}]`;
  if (above.includes(value)) return '[cycle]';
  if (above.length >= limits.depth) return '[deep]';
  const path = [...above, value];
  if (isList(value)) return elements(value, left.nodes).map((element) => copy(element, limits, left, path));
  // A Date has no keys of its own, and an Error hides its message from them.
  const date = dateText(value);
  if (date !== undefined) return date;
  const shown: [string, Json][] = [];
  for (const key of [...hiddenKeys(value), ...keysOf(value)]) {
    if (left.nodes <= 0) break;
    const name = limits.text(key, limits.characters);
    shown.push([name, limits.isHidden(key) ? REDACTED : copy(field(value, key), limits, left, path)]);
  }
  return Object.fromEntries(shown);
}

function hiddenKeys(value: unknown): string[] {
  const keys = keysOf(value);
  return ['name', 'message'].filter(
    (key) => typeof field(value, 'stack') === 'string' && typeof field(value, key) === 'string' && !keys.includes(key),
  );
}
