import { storable } from '../domain/outcome/field.ts';

/** For jsonb, which takes neither in a value nor in a key what no database can hold. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  // What cannot be held is written as an escape, and hardly any text has one.
  return /\\u(?:0000|d[89a-f])/i.test(text) ? withoutUnstorable(value) : text;
}

function withoutUnstorable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'string') return storable(inner);
    if (!isRecord(inner) || Object.keys(inner).every((key) => storable(key) === key)) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, held]) => [storable(key), held]));
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
