/** Postgres has no NUL in text, and no \u0000 in jsonb; a report that holds one must still be recorded. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}

export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'string' ? storable(inner) : inner));
}
