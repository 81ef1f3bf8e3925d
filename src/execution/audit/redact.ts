import type { AuditEntry } from '../../domain/audit/entry.schema.ts';
import { awsKeys } from '../../domain/outcome/aws-keys.ts';
import { dateText, elements, field, isList, isObject, keysOf } from '../../domain/outcome/field.ts';
import { isTelling } from '../../domain/outcome/named-values.ts';
import { plainCopy } from '../../domain/outcome/plain.ts';
import { namedSecrets, redactText } from '../../domain/outcome/redact.ts';
import { isSecretName, looksRandom, REDACTED, splitTokens } from '../../domain/outcome/secrets.ts';
import { isChecksum, isGitObject } from './plain-hashes.ts';
import { findSecrets, SHORTEST_PIECE } from './secrets.ts';

/** How much of a call its line keeps. What is looked through is bounded by the same numbers, however much there is. */
const [LONGEST_TEXT, LONGEST_END, MOST_NODES, MOST_CHARACTERS, DEEPEST] = [4000, 2000, 1000, 65_536, 16];
/** Looked at beyond what is kept: a credential that begins before a cut must be whole to be known. */
const BEYOND = 2000;
const MOST_TOLD = 200;
const CLEANED_APART = ['arguments', 'edited_from', 'output'];
/** Always words of our own; a password may be the same word, and they must stay readable. */
const OWN_WORDS = ['ts', 'result', 'error_category', 'error_phase', 'trust'];

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
  const rest = Object.entries(entry).filter(([key]) => !CLEANED_APART.includes(key));
  const isSpoken = (key: string, value: unknown): value is string =>
    typeof value === 'string' && !OWN_WORDS.includes(key);
  const spoken = rest.flatMap(([key, value]) => (isSpoken(key, value) ? [value] : []));
  const shortened = spoken.map((text) => text.slice(0, LONGEST_TEXT + BEYOND));
  const all = [...texts, ...shortened, ...(ends ?? [])];
  const detected = await findSecrets(all);
  const told = toldSecrets(all, named);
  // Only where they are neighbours: a word beside a token may be taken for its end.
  const pieces = splitTokens(texts).filter(({ length }) => length >= SHORTEST_PIECE);
  const clean = (text: string, max: number) =>
    redactLongRuns(redactText(withoutTold(without(text, detected), told), max));
  const cleaned = Object.fromEntries(
    rest.map(([key, value]) => [key, isSpoken(key, value) ? clean(value, LONGEST_TEXT) : value]),
  );
  const limits = { depth: DEEPEST + 1, nodes: MOST_NODES * 2, characters: LONGEST_TEXT };
  const cleanArguments = (json: Json) => {
    const plain = eachText(json, (text) => withoutTold(without(text, [...detected, ...pieces]), told));
    return eachText(plainCopy(plain, limits), redactLongRuns);
  };
  return {
    ...cleaned,
    ...(args === undefined ? {} : { arguments: cleanArguments(args) }),
    ...(edited === undefined ? {} : { edited_from: cleanArguments(edited) }),
    ...(ends === undefined ? {} : { output: ends.map((end) => clean(end, LONGEST_END)).join('\n…\n') }),
  } as AuditEntry;
}

/** What goes under a name of its own in one field or another, the longest first. */
function toldSecrets(texts: readonly string[], named: readonly string[]): readonly string[] {
  const telling = [...named.filter(isTelling), ...texts.flatMap(namedSecrets)];
  const found = [...telling.flatMap((secret) => [secret, asInJson(secret)]), ...awsKeys(texts.join('\n'))];
  return [...new Set(found)].sort((a, b) => b.length - a.length).slice(0, MOST_TOLD);
}

/** Last: a password may be a part of a token, which without it would no longer be known as one. */
function withoutTold(text: string, told: readonly string[]): string {
  if (!told.some((secret) => text.includes(secret))) return text;
  return without(redactText(text, LONGEST_TEXT + BEYOND), told);
}

/** As it stands in an answer that is JSON. */
function asInJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
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
    const isBinary = key === 'content' && field(value, 'encoding') === 'base64';
    const hidden = isSecretName(key) || (isPair && /^(?:value|val|data|content|secret)$/i.test(key));
    texts.push(key.slice(0, LONGEST_TEXT));
    const each = field(value, key);
    entries.push([key, hidden ? hide(each) : within(isBinary ? noteOfBinary(each) : each)]);
  }
  return Object.fromEntries(entries);
}

/** `--api-key`, whose value is the next argument. */
function isSecretFlag(value: unknown): boolean {
  return typeof value === 'string' && /^--?[A-Za-z][\w-]*$/.test(value) && isSecretName(value);
}

/** In base64 a secret has neither name nor shape. */
function noteOfBinary(content: unknown): unknown {
  return typeof content === 'string' ? `[binary, ${Buffer.byteLength(content, 'base64')} bytes]` : content;
}

function collectTexts(value: unknown, into: string[], most: number): void {
  if (into.length >= most) return;
  if (typeof value === 'string') into.push(value.slice(0, LONGEST_TEXT));
  else if (typeof value === 'number') into.push(String(value));
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
  const key = cut.search(/-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/);
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
  return text.replace(/[A-Za-z0-9+/=_-]{40,}/g, (run, at: number) =>
    (looksRandom(run) || changesOften(run)) && !isGitObject(text, at, run) && !isChecksum(text, at, run)
      ? REDACTED
      : run,
  );
}

/** Where + and / take a random run apart, it still goes from case to case, and to digits and back, as no path and no name does. */
function changesOften(run: string): boolean {
  if (!/[A-Z]/.test(run) || !/[a-z]/.test(run) || !/\d/.test(run)) return false;
  const kinds = Array.from(run, (character) => [/[A-Z]/, /[a-z]/, /\d/].findIndex((kind) => kind.test(character)));
  const changes = kinds.filter((kind, at) => at > 0 && kind !== -1 && kinds[at - 1] !== -1 && kind !== kinds[at - 1]);
  return changes.length >= 0.35 * run.length;
}
