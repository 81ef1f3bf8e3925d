import { storable } from './field.ts';
import { redactValueOptions } from './value-options.ts';
import { looksRandom, OPEN_KEY, REDACTED, redactEveryToken, SECRET_NAME } from './secrets.ts';

/** No more than this is looked at, whatever `max` says. */
const MOST_SCANNED = 8192;

/**
 * Quoted (also inside quoted JSON, where the quotes are escaped), a list or an object in one line, a block of YAML's, or one bare
 * word. An unclosed quote runs to the end.
 */
const VALUE = [
  String.raw`[|>][-+\d]{0,2}[ \t]{0,4}\r?\n(?:[ \t]{1,80}[^\n]{1,1024}(?:\n|$)){1,100}`,
  String.raw`\[[^\][\n]{1,1024}\]`,
  String.raw`\{[^{}\n]{1,1024}\}`,
  String.raw`\\{1,4}"[^"]*(?:"|$)`,
  String.raw`"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)`,
  String.raw`'(?:[^'\\]|\\[\s\S])*(?:'|\\?$)`,
  String.raw`[^\s,;&"'<>)}\]\\]+`,
].join('|');

const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g;
const USERINFO = /:\/\/[^\s/?#"'<>]{0,512}@/g;
/** A raw password may hold a slash; a port followed by a path with an `@` in it is no password. */
const USERINFO_WITH_SLASH = /:\/\/[^\s/@:"'<>]{0,512}:(?!\d{1,5}(?:\/|$))[^\s@"'<>]{0,512}@/g;
/** As drivers of databases have it: `me:password@tcp(host:3306)/name`. */
const DRIVER_USERINFO = /(?<![^\s"'=])[^\s:/@"'=]{1,128}:[^\s@"']{1,512}(?=@(?:tcp6?|unix)\()/g;
const COOKIE = /\b((?:set-)?cookie["']?\s{0,4}[:=]\s{0,4})[^\r\n]+/gi;
const SCHEME = /\b(bearer|basic|negotiate|digest)(\s{1,4})(?=\S*[\d._=+/-]|\S{16})(?!\[redacted\])[^\s"',;<>]{6,}/gi;
/** Letters alone may be a word of a sentence about it, unless it is none that is said of one. */
const BEARER =
  /\b(Bearer\s{1,4})(?!(?:tokens?|auth[a-z]*|schemes?|headers?|format|credentials?|challenge|realm|errors?|required|missing|invalid|expired|prefix|type|method|must|should|shall|could|would|cannot)\b)[A-Za-z]{6,}(?![A-Za-z])/g;
const AUTHORIZATION =
  /(authorization["'\\]{0,5}\s{0,4}[:=]\s{0,4}["'\\]{0,5})(?:[a-z][a-z0-9-]{2,20}\s+)?(?!\[redacted\])[^\s"',;<>\\]+/gi;
/** As a terminal is told colours. */
const COLOUR = String.raw`(?:\x1b\[[\d;]{0,12}m){0,3}`;
/** `=`, `: `, `=>`, `: str =`; what stands on the next line is a value only if it is quoted. */
const ASSIGNS = String.raw`\s{0,4}(?::\s{0,4}[a-z][\w.|]{0,40}\s{0,4}=(?!=)|[:=]{1,2}>?)${COLOUR}(?:\s{0,60}(?=\\{0,4}["'])|\s{0,4})`;
const NAMED = new RegExp(
  String.raw`(${SECRET_NAME}[\w-]{0,24}${COLOUR}\\{0,4}["']?${ASSIGNS}|--[\w-]{0,24}${SECRET_NAME}[\w-]{0,24}\s{1,4})` +
    String.raw`(?![:=>\s]{0,4}\\{0,4}["']?\[redacted\])(?:${VALUE})`,
  'gi',
);
/** `define('DB_PASSWORD', 'x')` and its like; elsewhere a comma is between names. */
const DEFINED = new RegExp(
  String.raw`(\b(?:define|set|put|setenv|putenv|setItem|setdefault)\(\s{0,4}["'][\w.-]{0,40}${SECRET_NAME}[\w.-]{0,24}["']\s{0,4},\s{0,4})` +
    String.raw`(?!["']\[redacted\])(?:"[^"\n]{1,1024}"|'[^'\n]{1,1024}')`,
  'gi',
);
/** As an environment has it: every key there locks something, but for a few. */
const KEY_VARIABLE = new RegExp(
  String.raw`(?<![\w.-])((?![A-Z0-9_]{0,60}${OPEN_KEY})[A-Z][A-Z0-9_]{0,60}_KEY=["']?)` +
    String.raw`(?!\[redacted\])[^\s"',;&<>)}\]]{4,}`,
  'g',
);
/** `git config --global github.token x` */
const CONFIGURED = new RegExp(
  String.raw`(\bgit\s{1,4}config(?:\s{1,4}--?[a-z-]{1,40}){0,4}\s{1,4}[\w.-]{0,80}${SECRET_NAME}[\w-]{0,24}\s{1,4})` +
    String.raw`(?!["']?\[redacted\])["']?[^\s"';|&]{1,1024}["']?`,
  'gi',
);
/** As an environment has it. Behind anything but a blank, and in small letters, it is somebody's password. */
const WORKING_DIRECTORY = /(?:^|[\s"'])(?:OLD)?PWD=["']?\//;
/** `<password>x</password>`, `<add key="Password" value="x"/>` */
const ELEMENT = new RegExp(
  String.raw`(<[\w:.-]{0,40}${SECRET_NAME}[\w.-]{0,24}(?:\s[^<>]{0,200})?>\s{0,8})(?!\[redacted\])[^<>\s][^<>]{0,1024}(?=</)`,
  'gi',
);
const ATTRIBUTE = new RegExp(
  String.raw`((?:key|name)=["'][\w:.-]{0,40}${SECRET_NAME}[\w.-]{0,24}["']\s{1,4}value=["'])(?!\[redacted\])[^"'<>]{1,1024}`,
  'gi',
);
/** Of a .netrc, in one line or in several. */
const NETRC =
  /(\b(?:machine\s{1,8}\S{1,256}|default)(?:\s{1,8}(?:login|account)\s{1,8}\S{1,256}){1,2}\s{1,8}password\s{1,8})(?!\[redacted\])\S{1,512}/gi;
/** Of a .pgpass: host, port, database, user, password. */
const PGPASS =
  /(?<![^\s"'])([\w.*-]{1,255}:(?:\d{4,5}|\*):[^\s:"']{1,64}:[^\s:"']{1,64}:)(?!\[redacted\])(?:\\.|[^\s:"'\\]){1,512}(?=[\s"']|$)/g;
/** What SQL calls a password: always quoted, so that a sentence about one stays as it is. */
const STATED =
  /\b((?:identified\s{1,4}(?:with\s{1,4}\S{1,64}\s{1,4})?(?:by|as)|password)\s{1,4}(?:password\s{1,4})?)(?:'(?!\[redacted\])[^'\n]{1,512}'|"(?!\[redacted\])[^"\n]{1,512}")/gi;
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

function removeCredentials(text: string): string {
  const named = text
    .replace(PRIVATE_KEY, REDACTED)
    .replace(USERINFO, `://${REDACTED}@`)
    .replace(USERINFO_WITH_SLASH, `://${REDACTED}@`)
    .replace(DRIVER_USERINFO, REDACTED)
    .replace(COOKIE, `$1${REDACTED}`)
    .replace(AUTHORIZATION, `$1${REDACTED}`)
    .replace(SCHEME, `$1$2${REDACTED}`)
    .replace(BEARER, `$1${REDACTED}`)
    .replace(ELEMENT, `$1${REDACTED}`)
    .replace(ATTRIBUTE, `$1${REDACTED}`)
    .replace(NETRC, `$1${REDACTED}`)
    .replace(PGPASS, `$1${REDACTED}`)
    .replace(STATED, `$1${REDACTED}`)
    .replace(NAMED, (whole: string, head: string, at: number, all: string) =>
      WORKING_DIRECTORY.test(all.slice(Math.max(0, at - 4), at + 6)) ? whole : `${head}${REDACTED}`,
    )
    .replace(DEFINED, `$1${REDACTED}`)
    .replace(KEY_VARIABLE, `$1${REDACTED}`)
    .replace(CONFIGURED, `$1${REDACTED}`)
    .replace(WEBHOOK, `$1${REDACTED}`);
  return redactEveryToken(redactValueOptions(named)).replace(
    QUERY,
    (whole, head: string, name: string, value: string) =>
      QUERY_SECRET.test(name) || isOpaque(value) ? `${head}${REDACTED}` : whole,
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
