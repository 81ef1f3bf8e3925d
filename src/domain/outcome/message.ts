import { elements, excerpt, field, isList, isObject, isText } from './field.ts';
import { plainCopy } from './plain.ts';

/** What an error or a result says in words, and the names it gives itself. */

/** Half of it is the beginning, which must outlast what redaction looks at: a cut may leave half a token. */
const MOST_CHARACTERS = 4096;
const MOST_CAUSES = 4;
/** Words within words within words; a value that contains itself would otherwise be walked in every order. */
const MOST_DEPTH = 3;
const WORDS = [
  'message',
  'error',
  'error_message',
  'errorMessage',
  'error_description',
  'msg',
  'detail',
  'details',
  'description',
  'reason',
  'title',
  'errors',
  'stderr',
  'body',
];
/** In an error everything is about the error; in a result only these are. */
const ERROR_NAMES = ['name', 'code', 'type', 'error_type', 'errorType', 'error_code', 'errorCode'];
const RESULT_NAMES = ['error_type', 'errorType', 'error_code', 'errorCode', 'code'];

/** The words of any thrown or returned value, cut to a few kilobytes; undefined if it has none. */
export function messageIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return isText(value) ? excerpt(value, MOST_CHARACTERS) : undefined;
  if (!isObject(value) || depth > MOST_DEPTH) return undefined;
  if (isList(value)) return joined(elements(value, 3).map((each) => messageIn(each, depth + 1)));
  const content = contentText(value);
  if (content !== undefined) return content;
  for (const name of WORDS) {
    const words = messageIn(field(value, name), depth + 1);
    if (words !== undefined) return withCause(words, value, depth);
  }
  return undefined;
}

/** "fetch failed" alone explains nothing; its cause does. */
function withCause(words: string, error: unknown, depth: number): string {
  const cause = messageIn(field(error, 'cause'), depth + 1);
  return cause === undefined || words.includes(cause) ? words : excerpt(`${words}: ${cause}`, MOST_CHARACTERS);
}

/** Words for a value that has none of its own, so that an operator sees at least its shape. */
export function shapeOf(value: unknown): string | undefined {
  if (value === undefined || value === true) return undefined;
  const shape = plainCopy(value, { depth: 3, nodes: 24, characters: 80 });
  const text = typeof shape === 'string' ? shape : JSON.stringify(shape);
  return text === '{}' ? undefined : text;
}

/** Names and codes of an error and of what caused it, outermost first: `TypeError`, `ECONNREFUSED`. */
export function namesIn(error: unknown, result: unknown): string[] {
  const names = RESULT_NAMES.map((name) => field(result, name));
  let cause = error;
  for (let depth = 0; depth <= MOST_CAUSES && isObject(cause); depth += 1) {
    const current = cause;
    names.push(...ERROR_NAMES.map((name) => field(current, name)));
    cause = field(current, 'cause') ?? elements(field(current, 'errors'), 1)[0];
  }
  return names
    .filter((name) => typeof name === 'string' || typeof name === 'number')
    .map((name) => String(name).slice(0, 100))
    .filter((name) => /^[\w.:-]+$/.test(name));
}

/** The text of an MCP result. */
function contentText(value: unknown): string | undefined {
  return joined(
    elements(field(value, 'content'), 8).map((part) => {
      const text = field(part, 'text');
      return isText(text) ? excerpt(text, MOST_CHARACTERS) : undefined;
    }),
  );
}

function joined(texts: readonly (string | undefined)[]): string | undefined {
  const said = texts.filter((text) => text !== undefined);
  return said.length === 0 ? undefined : excerpt(said.join('\n'), MOST_CHARACTERS);
}
