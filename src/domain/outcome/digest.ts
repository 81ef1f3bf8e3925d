import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { dateText, elements, field, isList, isObject, keysOf } from './field.ts';
import { notShownAsJson } from './plain-data.ts';

/**
 * Identity of a call's arguments: SHA-256 over RFC 8785, so key order and number spelling do not matter. Unlike all else
 * that looks at arguments it reads them to the end: two calls that differ in their last byte are two calls. No arguments
 * are one thing, whether they were left out, null or empty.
 *
 * Of what JSON does not show (`notShownAsJson`) it is only a summary, and no person is asked about that.
 */
export function argumentsDigest(args: unknown): string {
  const given = args ?? {};
  const text = notShownAsJson(given) === undefined ? canonical(given) : undefined;
  return hash('sha256', text ?? inPart(given), 'hex');
}

/** Undefined where a getter throws. */
function canonical(args: unknown): string | undefined {
  try {
    return canonicalize(args);
  } catch {
    return undefined;
  }
}

/** Bounded; told from every text that is whole. */
function inPart(value: unknown): string {
  return `in part ${tagged(value, { nodes: 100_000 }, [])}`;
}

/** As stable as the canonical text, for values that never travelled as JSON. */
function tagged(value: unknown, left: { nodes: number }, above: readonly unknown[]): string {
  left.nodes -= 1;
  if (left.nodes < 0 || above.length > 64) return '…';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value.toString()}n`;
  if (typeof value === 'symbol') return `symbol ${JSON.stringify(value.description ?? '')}`;
  if (typeof value === 'function') return 'function';
  if (!isObject(value)) return String(value);
  if (above.includes(value)) return `^${above.length - above.indexOf(value)}`;
  const path = [...above, value];
  if (isList(value)) {
    return `[${elements(value, left.nodes)
      .map((element) => tagged(element, left, path))
      .join(',')}]`;
  }
  const date = dateText(value);
  if (date !== undefined) return date;
  const pairs = keysOf(value)
    .sort()
    .map((key) => [key, field(value, key)] as const)
    .filter(([, held]) => held !== undefined);
  return `{${pairs.map(([key, held]) => `${JSON.stringify(key)}:${tagged(held, left, path)}`).join(',')}}`;
}
