import { commandIn, runsCommands, SHELL_NAMES } from '../command/argument.ts';
import { programOf } from '../command/program.ts';
import { programName } from '../command/wrappers.ts';
import { elements, field, holdsOnly, isList, isObject, isText } from '../outcome/field.ts';
import { hasToken, looksRandom, SECRET_NAME } from '../outcome/secrets.ts';
import { bounded } from './bounded.ts';
import { directoryOf, normalisePath } from './directory.ts';
import { isUrl, locationOf } from './host.ts';

/**
 * The part of a tool that can fail on its own, read from a call's arguments: `host:api.example.com`, `program:git`,
 * `dir:/etc`. Ports, credentials, `sudo`, and the last part of a path are left out; anything like a token is masked.
 */
export function scopeOf(tool: string, args: unknown): string | undefined {
  if (typeof args === 'string') return scopeOfText(tool, args);
  if (isList(args)) return runsCommands(tool) ? programScope(args) : undefined;
  if (holdsOnly(args, (name) => !SCOPE_NAMES.has(name))) return undefined;
  const host =
    shared(args, URL_NAMES, (text) => (saysHost(text) ? urlScope(text) : undefined)) ??
    shared(args, HOST_NAMES, urlScope);
  if (host !== undefined) return host;
  const path =
    shared(args, DIRECTORY_NAMES, directoryScope) ?? shared(args, PATH_NAMES, (text) => pathScope(tool, text));
  // An editor's `command` is a verb (`view`, `insert`); only a shell's comes before the path.
  if (path !== undefined && !runsCommands(tool)) return path;
  return programScope(commandIn(tool, args)) ?? path;
}

/**
 * The scopes that a call concerns. What its arguments say comes first, and is what the call is recorded under; what is claimed
 * besides adds to it and never takes its place, or whoever calls would choose by whose trust the call is judged.
 */
export function scopesOf(tool: string, args: unknown, claimed?: unknown): readonly string[] {
  const derived = scopeOf(tool, args);
  const given = normaliseScope(claimed);
  if (given === undefined || given === derived) return derived === undefined ? [] : [derived];
  return derived === undefined ? [given] : [derived, given];
}

/** A scope that was given, in the same form as a derived one: hosts and URLs, programs and directories are recognised. */
export function normaliseScope(given: unknown): string | undefined {
  if (!isText(given)) return undefined;
  const text = given.slice(0, MOST_CHARACTERS).trim();
  const [, kind, rest = ''] = /^(host|program|dir):([\s\S]*)$/.exec(text) ?? [];
  if (kind === 'host') return urlScope(rest) ?? named('host', rest.slice(rest.lastIndexOf('@') + 1).toLowerCase());
  if (kind === 'program') return named('program', programName(rest));
  if (kind === 'dir') return directoryScope(rest);
  if (/^[/~]|^[A-Za-z]:[/\\]/.test(text)) return directoryScope(text);
  if (isUrl(text) || /^[\w.-]+(?:\.[\w-]+|:\d+)\.?$|^localhost$/i.test(text)) return urlScope(text);
  const name = bounded(clean(text), MOST_BYTES);
  if (name === '') return undefined;
  // Trust is kept in objects, where `constructor` is taken.
  return name in Object.prototype ? `scope:${name}` : name;
}

const MOST_BYTES = 160;
const MOST_CHARACTERS = 4096;
const URL_NAMES = 'url uri urls endpoint href base_url baseUrl baseURL link domain'.split(' ');
const HOST_NAMES = 'host hostname'.split(' ');
const DIRECTORY_NAMES = 'dir directory folder'.split(' ');
const PATH_NAMES = (
  'path file file_path filePath filepath filename file_name fileName absolute_path relative_path target_file ' +
  'notebook_path source_path paths files'
).split(' ');
const SCOPE_NAMES: ReadonlySet<string> = new Set([
  ...[...URL_NAMES, ...HOST_NAMES, ...DIRECTORY_NAMES, ...PATH_NAMES, ...SHELL_NAMES],
]);
const LISTS_DIRECTORIES = /(?:^|[^a-z])(?:ls|dir|tree|glob|grep|rg)(?:[^a-z]|$)|directory|folder|search/i;

const NAMED_SECRET = new RegExp(`(${SECRET_NAME}[\\w-]{0,24}=)[^/\\s]+`, 'gi');

/** What the first usable argument says; an array must say one thing, or the call is about no single scope. */
function shared(
  args: unknown,
  names: readonly string[],
  read: (text: string) => string | undefined,
): string | undefined {
  for (const name of names) {
    const given = field(args, name);
    if (given === undefined || given === null) continue;
    const texts = isList(given) ? elements(given, 16) : [isObject(given) ? field(given, 'href') : given];
    const [first, ...others] = texts.map((text) => (isText(text) ? read(text) : undefined));
    if (first !== undefined && others.every((scope) => scope === first)) return first;
  }
  return undefined;
}

function scopeOfText(tool: string, text: string): string | undefined {
  if (isUrl(text)) return urlScope(text);
  if (runsCommands(tool)) return programScope(text);
  return /^[/~.]/.test(text) && !/\s/.test(text.slice(0, MOST_CHARACTERS)) ? pathScope(tool, text) : undefined;
}

/** `users` under `endpoint` is a relative path; under `host` it would be a machine. */
function saysHost(text: string): boolean {
  return /^[^/?#]*[.:]|^\/\/|^localhost(?:\/|$)/i.test(text.slice(0, MOST_CHARACTERS).trim());
}

function urlScope(text: string): string | undefined {
  const location = locationOf(text);
  if (location === undefined) return undefined;
  if ('file' in location) return named('dir', directoryOf(location.file));
  return named('host', location.host);
}

function pathScope(tool: string, text: string): string | undefined {
  if (isUrl(text)) return urlScope(text);
  const path = text.slice(0, MOST_CHARACTERS).trim();
  return named('dir', LISTS_DIRECTORIES.test(tool.slice(-200)) ? normalisePath(path) : directoryOf(path));
}

function directoryScope(text: string): string | undefined {
  if (isUrl(text)) return urlScope(text);
  return text === '' ? undefined : named('dir', normalisePath(text.slice(0, MOST_CHARACTERS).trim()));
}

function programScope(command: unknown): string | undefined {
  const program = programOf(command);
  return program === undefined ? undefined : named('program', program);
}

function named(kind: 'host' | 'program' | 'dir', text: string): string | undefined {
  const shown = clean(text);
  return shown === '' ? undefined : bounded(`${kind}:${shown}`, MOST_BYTES);
}

function clean(text: string): string {
  return masked(
    text
      .replace(NAMED_SECRET, '$1redacted')
      .replace(/[\p{Cc}\p{Surrogate}]/gu, '\ufffd')
      .trim(),
  );
}

/**
 * Segment by segment, so that what surrounds a credential still tells scopes apart. The hash at the end of a shortened
 * scope is ours.
 */
function masked(text: string): string {
  return text.replace(/[^/\\.:@\s]{12,}/g, (segment) => {
    const name = segment.replace(/(?:~[0-9a-f]{32})+$/, '');
    return hasToken(name) || looksRandom(name) ? 'redacted' : segment;
  });
}
