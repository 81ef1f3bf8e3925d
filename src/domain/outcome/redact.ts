import { storable } from './field.ts';
import { removeAwsKeys } from './aws-keys.ts';
import { AFTER_NAMES, BEFORE_NAMES, NAMED } from './named-places.ts';
import { removeBehind, tellingValues } from './named-values.ts';
import type { OnFound } from './named-values.ts';
import { looksRandom, REDACTED, redactEveryToken } from './secrets.ts';
import { removeTold } from './told-values.ts';
import { redactValueOptions } from './value-options.ts';

/** No more than this is looked at, whatever `max` says. */
const MOST_SCANNED = 8192;

const PRIVATE_KEY =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;
const USERINFO = /:\/\/[^\s/?#"'<>]{0,512}@/g;
/** A raw password may hold a slash; a port followed by a path with an `@` in it is no password. */
const USERINFO_WITH_SLASH = /:\/\/[^\s/@:"'<>]{0,512}:(?!\d{1,5}(?:\/|$))[^\s@"'<>]{0,512}@/g;
/** As drivers of databases have it: `me:password@tcp(host:3306)/name`. */
const DRIVER_USERINFO = /(?<![^\s"'=])[^\s:/@"'=]{1,128}:[^\s@"']{1,512}(?=@(?:tcp6?|unix)\()/g;
const COOKIE = /\b((?:set-)?cookie["']?\s{0,4}[:=]\s{0,4})[^\r\n]+/gi;
/** As an environment has it. Behind anything but a blank, and in small letters, it is somebody's password. */
const WORKING_DIRECTORY = /(?:^|[\s"'])(?:OLD)?PWD=["']?\//;
const QUERY = /([?&;]([^=&#\s"'<>]{1,64})=)(?!\[redacted\])([^&#\s"'<>]+)/g;
/** Query parameters that hold a credential under a name too common to be one elsewhere. */
const QUERY_SECRET =
  /^(?:key|sig|code|hash|hmac|nonce|assertion|ticket|x-(?:amz|goog)-(?:signature|credential|security-token))$/i;
const WEBHOOK = /(\/(?:services|webhooks?|hooks)\/)[A-Za-z0-9_-]{6,}(?:\/[A-Za-z0-9_-]{6,})+/gi;

/**
 * A text without credentials, fit to be stored, at most `max` characters long. What is removed leaves `[redacted]` in its
 * place, together with the name it went under: an operator may know that a token was there, not which.
 */
export function redactText(text: string, max: number): string {
  if (text.length <= max && CLEAN.has(text)) return text;
  const window = within(text, Math.min(MOST_SCANNED, max * 2 + 1024));
  const clean = storable(removeCredentials(window));
  if (clean === text) rememberClean(text);
  if (clean.length <= max && window.length === text.length) return clean;
  return `${cut(clean, max - 1)}…`;
}

/**
 * Texts in which there was nothing to remove. The same few come again and again (names of arguments, kinds of errors, what a broken
 * server answers), and a look is a fifth of what a failure costs whoever reports it. What held a credential is never kept.
 */
const CLEAN = new Set<string>();
const MOST_CLEAN = 2000;
const LONGEST_CLEAN = 256;

function rememberClean(text: string): void {
  if (text.length > LONGEST_CLEAN) return;
  if (CLEAN.size >= MOST_CLEAN) CLEAN.clear();
  CLEAN.add(text);
}

/** Whether there would be anything to remove. */
export function holdsCredential(text: string): boolean {
  const window = within(text, MOST_SCANNED);
  return removeCredentials(window) !== window;
}

/** What goes under the name of a secret in a text, and would give it away in any other. */
export function namedSecrets(text: string): readonly string[] {
  const found = new Set<string>();
  removeCredentials(within(text, MOST_SCANNED), (head, value) => {
    for (const each of tellingValues(head, value)) found.add(each);
  });
  return [...found];
}

function removeCredentials(text: string, onFound?: OnFound): string {
  const behind = (from: string, places: readonly RegExp[]) =>
    places.reduce((rest, place) => removeBehind(rest, place, onFound), from);
  const addressed = [USERINFO, USERINFO_WITH_SLASH].reduce(
    (rest, place) =>
      rest.replace(place, (found) => {
        const [, password] = /^:\/\/[^:]*:([^]*)@$/.exec(found) ?? [];
        if (password !== undefined) onFound?.('', password);
        return `://${REDACTED}@`;
      }),
    removeAwsKeys(text.replace(PRIVATE_KEY, REDACTED)),
  );
  const before = behind(
    addressed.replace(DRIVER_USERINFO, REDACTED).replace(COOKIE, `$1${REDACTED}`),
    BEFORE_NAMES,
  ).replace(NAMED, (whole: string, head: string, at: number, all: string) => {
    if (WORKING_DIRECTORY.test(all.slice(Math.max(0, at - 4), at + 6))) return whole;
    onFound?.(head, whole.slice(head.length));
    return `${head}${REDACTED}`;
  });
  const named = removeTold(behind(before, AFTER_NAMES).replace(WEBHOOK, `$1${REDACTED}`), onFound);
  return redactEveryToken(redactValueOptions(named, onFound)).replace(
    QUERY,
    (whole, head: string, name: string, value: string) => {
      if (!QUERY_SECRET.test(name) && !isOpaque(value)) return whole;
      onFound?.(head, value);
      return `${head}${REDACTED}`;
    },
  );
}

/** In a query string a long value of letters and digits is more often a credential than a word. */
function isOpaque(value: string): boolean {
  return looksRandom(value) || (/^[\w.~+/=%-]{16,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value));
}

/**
 * The beginning of a long text, ending where a word ends: half a token is too short for its own shape and would be
 * left standing.
 */
function within(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = most;
  while (end > 0 && !/\s/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** Not between the two halves of a surrogate pair. */
function cut(text: string, length: number): string {
  const at = Math.max(0, length);
  const last = text.charCodeAt(at - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? at - 1 : at);
}
