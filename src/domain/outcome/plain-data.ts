import { dateText, field, isList, isObject, keysOf, storable } from './field.ts';

/** Deeper than this nobody reads, and whatever walks through it by itself would run out of stack. */
const MOST_DEPTH = 200;
/** Objects that hold each other many times over are small in memory and endless as text. */
const MOST_VALUES = 500_000;

/**
 * Where in some arguments there is something that their JSON does not show, and what: two different calls would look the same
 * to whoever decides about them. Undefined where JSON shows all of it.
 */
export function notShownAsJson(args: unknown): string | undefined {
  const left: Place[] = [{ path: () => 'args', value: args, depth: 0 }];
  let values = 0;
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { path, value, depth } = next;
    const what = kindWithoutJson(value);
    if (what !== undefined) return `${path()} is ${what}`;
    if (depth > MOST_DEPTH) return `${path().slice(0, 40)}… is nested deeper than ${MOST_DEPTH} levels`;
    const names = dateText(value) === undefined ? keysOf(value) : [];
    // Places come before names, whatever was put in first.
    if (isList(value) && names.length > 0 && !/^\d+$/.test(names.at(-1) ?? ''))
      return `${path()} is a list with ${JSON.stringify(names.at(-1))} besides its elements, which JSON does not show`;
    for (const name of names) {
      values += 1;
      if (storable(name) !== name) return `${path()} has a name with ${NO_TEXT}`;
      const held = field(value, name);
      const isFine = !isObject(held) && kindWithoutJson(held) === undefined;
      if (!isFine) left.push({ path: () => `${path()}.${name}`, value: held, depth: depth + 1 });
    }
    if (values > MOST_VALUES) return `args hold more than ${MOST_VALUES} values`;
  }
  return undefined;
}

interface Place {
  readonly path: () => string;
  readonly value: unknown;
  readonly depth: number;
}

const NO_TEXT = 'NUL or half of a surrogate pair in it, which is kept as another character';

function kindWithoutJson(value: unknown): string | undefined {
  if (typeof value === 'string') return storable(value) === value ? undefined : `text with ${NO_TEXT}`;
  if (typeof value === 'number' && !Number.isFinite(value)) return `${value}, which JSON has no number for`;
  if (['bigint', 'symbol', 'function'].includes(typeof value)) return `a ${typeof value}, which JSON does not have`;
  if (!isObject(value) || isList(value) || isPlain(value) || dateText(value) !== undefined) return undefined;
  return `${nameOf(value)}, of which JSON shows only a part`;
}

/** An object without a class; also one that was made in another realm. */
function isPlain(value: object): boolean {
  try {
    const prototype: unknown = Object.getPrototypeOf(value);
    return prototype === null || Object.getPrototypeOf(prototype) === null;
  } catch {
    return false;
  }
}

function nameOf(value: object): string {
  const made = field(value, 'constructor');
  return typeof made === 'function' && made.name !== '' ? `of class ${made.name}` : 'no plain object';
}
