import { scopeOf } from '../key/scope.ts';
import { field, isList, isObject, keysOf } from './field.ts';
import { redactText } from './redact.ts';
import { isSecretName } from './secrets.ts';

const MOST_KEYS = 24;
const MOST_NAME = 40;
const MOST_CHARACTERS = 1000;

/**
 * What may be known of a call's arguments: for each its name and kind, and of a URL, path or command the scope it speaks
 * of. Values never appear, whatever they look like.
 */
export function summarise(tool: string, args: unknown): Record<string, string> {
  if (args === undefined || args === null) return {};
  if (!isObject(args) || isList(args)) return { arguments: scopeOf(tool, args) ?? kindOf(args) };
  const keys = keysOf(args);
  const shown: [string, string][] = [];
  let characters = 0;
  for (const key of keys.slice(0, MOST_KEYS)) {
    const entry: [string, string] = [nameOf(key), described(tool, key, field(args, key))];
    characters += entry[0].length + entry[1].length + 6;
    if (characters > MOST_CHARACTERS) break;
    shown.push(entry);
  }
  if (shown.length < keys.length) shown.push(['…', `${keys.length - shown.length} more`]);
  return Object.fromEntries(shown);
}

function described(tool: string, key: string, value: unknown): string {
  if (isSecretName(key)) return 'redacted';
  return scopeOf(tool, { [key]: value }) ?? kindOf(value);
}

/** `string(12)`, `array(3)`, `object(2)`, `number`. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return `string(${value.length})`;
  if (isList(value)) return `array(${String(field(value, 'length'))})`;
  return isObject(value) ? `object(${keysOf(value).length})` : typeof value;
}

function nameOf(key: string): string {
  return redactText(key, MOST_NAME);
}
