/**
 * Reading values that others made. A tool may hand us a getter that throws, a revoked proxy or a million keys; what it
 * answers must still be judged, so every look inside such a value goes through here and none of these can throw.
 */

/** One property, inherited ones too (a fetch `Response` keeps `status` on its prototype); undefined if unreadable. */
export function field(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  try {
    return value[name];
  } catch {
    return undefined;
  }
}

/** The first of several names that holds anything but undefined or null. */
export function firstField(value: unknown, names: readonly string[]): unknown {
  for (const name of names) {
    const found = field(value, name);
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

/**
 * Whether every property of a plain object with few of them is as expected: one look at what is there instead of one for
 * each name that might be. In doubt false, and then whoever asks looks for each name after all.
 */
export function holdsOnly(value: unknown, isExpected: (key: string, value: unknown) => boolean): boolean {
  if (!isObject(value)) return false;
  try {
    if (Object.getPrototypeOf(value) !== Object.prototype) return false;
    let looked = 0;
    for (const key in value) {
      looked += 1;
      if (looked > 32 || !isExpected(key, value[key])) return false;
    }
    return true;
  } catch {
    return false;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** `Array.isArray` throws on a revoked proxy. */
export function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** The first `most` elements of an array, unreadable ones as undefined; nothing for anything else. */
export function elements(value: unknown, most: number): unknown[] {
  if (!isList(value)) return [];
  const length = field(value, 'length');
  const count = typeof length === 'number' ? Math.min(length, most) : 0;
  return Array.from({ length: count }, (_, index) => field(value, String(index)));
}

/** Own enumerable string keys, in their order. Empty for what is no object or hides its keys. */
export function keysOf(value: unknown): string[] {
  if (!isObject(value)) return [];
  try {
    return Object.keys(value);
  } catch {
    return [];
  }
}

/** ISO text of a Date, which has no keys of its own; undefined for anything else and for an invalid one. */
export function dateText(value: unknown): string | undefined {
  try {
    return value instanceof Date ? value.toISOString() : undefined;
  } catch {
    return undefined;
  }
}

/** A string with something in it besides spaces. */
export function isText(value: unknown): value is string {
  // Only the beginning is looked at: trimming a hundred megabytes of spaces would be work for nothing.
  return typeof value === 'string' && /\S/.test(value.slice(0, 1024));
}

/** Without NUL and halves of surrogate pairs, which neither UTF-8 nor a database can hold. */
export function storable(text: string): string {
  return text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');
}

/**
 * Beginning and end of a text, for pattern matching in bounded time: the first line of an error names it, the last lines
 * of a traceback explain it.
 */
export function excerpt(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor(most / 2);
  return `${text.slice(0, half)}\n${text.slice(-half)}`;
}
