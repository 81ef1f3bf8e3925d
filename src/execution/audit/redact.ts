import type { AuditEntry } from '../../domain/audit/entry.schema.ts';
import { dateText, elements, field, isList, isObject, keysOf } from '../../domain/outcome/field.ts';
import { plainCopy } from '../../domain/outcome/plain.ts';
import { redactText } from '../../domain/outcome/redact.ts';
import { isSecretName, looksRandom, REDACTED, splitTokens } from '../../domain/outcome/secrets.ts';
import { findSecrets, SHORTEST_PIECE } from './secrets.ts';

/** How much of a call its line keeps. What is looked through is bounded by the same numbers, however much there is. */
const [LONGEST_TEXT, LONGEST_END, MOST_NODES, MOST_CHARACTERS, DEEPEST] = [4000, 2000, 1000, 65_536, 16];
/** Looked at beyond what is kept: a credential that begins before a cut must be whole to be known. */
const BEYOND = 2000;

/**
 * The same entry without credentials. They are known by shape, by the name they go under, or by secretlint's detectors; what
 * is found anywhere in the entry is removed everywhere in it.
 */
export async function redactEntry(entry: AuditEntry): Promise<AuditEntry> {
  const bounds = { nodes: MOST_NODES, characters: MOST_CHARACTERS };
  const named: string[] = [];
  const texts: string[] = [];
  const given = [entry.arguments, entry.edited_from];
  const [args, edited] = given.map((each) => (each === undefined ? each : clip(each, { ...bounds }, texts, named, [])));
  const ends = entry.output === undefined ? undefined : bothEnds(entry.output);
  const rest = Object.entries(entry).filter(
    ([key]) => !['ts', 'result', 'arguments', 'edited_from', 'output'].includes(key),
  );
  const spoken = rest.map(([, value]) => value).filter((value) => typeof value === 'string');
  const shortened = spoken.map((text) => text.slice(0, LONGEST_TEXT + BEYOND));
  const secrets = await findSecrets([...texts, ...shortened, ...(ends ?? [])]);
  const known = [...named.filter(({ length }) => length >= 6), ...secrets].sort((a, b) => b.length - a.length);
  // Only where they are neighbours: a word beside a token may be taken for its end.
  const pieces = splitTokens(texts).filter(({ length }) => length >= SHORTEST_PIECE);
  const inArguments = [...known, ...pieces];
  const clean = (text: string, max: number) => redactLongRuns(redactText(without(text, known), max));
  const cleaned = Object.fromEntries(
    rest.map(([key, value]) => [key, typeof value === 'string' ? clean(value, LONGEST_TEXT) : value]),
  );
  const limits = { depth: DEEPEST + 1, nodes: MOST_NODES * 2, characters: LONGEST_TEXT };
  const cleanArguments = (json: Json) => {
    const plain = eachText(json, (text) => without(text, inArguments));
    return eachText(plainCopy(plain, limits), redactLongRuns);
  };
  return {
    ...cleaned,
    ts: entry.ts,
    result: entry.result,
    ...(args === undefined ? {} : { arguments: cleanArguments(args) }),
    ...(edited === undefined ? {} : { edited_from: cleanArguments(edited) }),
    ...(ends === undefined ? {} : { output: ends.map((end) => clean(end, LONGEST_END)).join('\n…\n') }),
  } as AuditEntry;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A bounded copy that collects its texts, and the values that stand under, or after, a name of a secret. */
function clip(
  value: unknown,
  left: { nodes: number; characters: number },
  texts: string[],
  named: string[],
  above: readonly unknown[],
): Json {
  left.nodes -= 1;
  if (left.nodes < 0 || left.characters <= 0) return '…';
  if (typeof value === 'string') {
    const text = wholeWords(value, Math.min(left.characters, LONGEST_TEXT + BEYOND));
    left.characters -= text.length;
    texts.push(text);
    return text;
  }
  if (!isObject(value)) return plainCopy(value, { depth: 1, nodes: 1, characters: 100 });
  if (above.includes(value)) return '[cycle]';
  if (above.length >= DEEPEST) return '[deep]';
  const path = [...above, value];
  const within = (each: unknown) => clip(each, left, texts, named, path);
  const hide = (each: unknown): Json => {
    collectTexts(each, named, 100);
    return REDACTED;
  };
  if (isList(value)) {
    const items = elements(value, left.nodes);
    return items.map((item, index) => (isSecretFlag(items[index - 1]) ? hide(item) : within(item)));
  }
  const date = dateText(value);
  if (date !== undefined) return date;
  // { name: 'Authorization', value: 'Bearer …' }
  const spoken = ['name', 'key', 'header', 'field', 'option']
    .map((key) => field(value, key))
    .find((each) => typeof each === 'string');
  const isPair = typeof spoken === 'string' && isSecretName(spoken);
  const entries: [string, Json][] = [];
  for (const key of keysOf(value)) {
    if (left.nodes <= 0) break;
    const hidden = isSecretName(key) || (isPair && /^(?:value|val|data|content|secret)$/i.test(key));
    texts.push(key.slice(0, LONGEST_TEXT));
    entries.push([key, hidden ? hide(field(value, key)) : within(field(value, key))]);
  }
  return Object.fromEntries(entries);
}

/** `--api-key`, whose value is the next argument. */
function isSecretFlag(value: unknown): boolean {
  return typeof value === 'string' && /^--?[A-Za-z][\w-]*$/.test(value) && isSecretName(value);
}

function collectTexts(value: unknown, into: string[], most: number): void {
  if (into.length >= most) return;
  if (typeof value === 'string') into.push(value.slice(0, LONGEST_TEXT));
  else for (const key of keysOf(value).slice(0, most)) collectTexts(field(value, key), into, most);
}

function eachText(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => eachText(each, change));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [change(key), eachText(each, change)]));
}

function without(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
}

/** Beginning and end of a long output. The end begins after a line break, and after a private key that began before it. */
function bothEnds(output: string): readonly string[] {
  if (output.length <= LONGEST_TEXT) return [output];
  const beginning = output.slice(0, LONGEST_END + BEYOND);
  const end = output.slice(-(LONGEST_END + BEYOND));
  const from = Math.max(end.length - LONGEST_END, 0);
  const cut = end.slice(from);
  const line = cut.indexOf('\n');
  const key = cut.search(/-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/);
  const start = Math.max(line, key);
  return [beginning, start === -1 ? '' : cut.slice(start + 1)];
}

function wholeWords(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = most;
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end -= 1;
  return `${text.slice(0, end)}…`;
}

/** The middle of a key whose beginning was cut away has no other sign than being long and random. */
function redactLongRuns(text: string): string {
  return text.replace(/[A-Za-z0-9+/=_-]{40,}/g, (run) => (looksRandom(run) ? REDACTED : run));
}
