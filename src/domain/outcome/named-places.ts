import { OPEN_KEY, SECRET_NAME } from './secrets.ts';
import { QUOTED, SHELL_WORD } from './shell-word.ts';

/** Expressions whose one group is followed by a secret, by the name it goes under. */

/** A block of YAML's, a list or an object in one line, quoted (also inside quoted JSON, where the quotes are escaped), or one word. */
const VALUE = [
  String.raw`[|>][-+\d]{0,2}[ \t]{0,4}\r?\n(?:[ \t]{1,80}[^\n]{1,1024}(?:\n|$)){1,100}`,
  String.raw`\[[^\][\n]{1,1024}\]`,
  String.raw`\{[^{}\n]{1,1024}\}`,
  String.raw`\\{1,4}"[^"]*(?:"|$)`,
  String.raw`(?<==|--[\w-]{1,80}\s{1,4})${SHELL_WORD}`,
  QUOTED,
  String.raw`[^\s,;&"'<>)}\]\\]+`,
].join('|');

const SCHEME = /\b((?:bearer|basic|negotiate|digest)\s{1,4})(?=\S*[\d._=+/-]|\S{16})(?!\[redacted\])[^\s"',;<>]{6,}/gi;
/** Letters alone may be a word of a sentence about it, unless it is none that is said of one. */
const BEARER =
  /\b(Bearer\s{1,4})(?!(?:tokens?|auth[a-z]*|schemes?|headers?|format|credentials?|challenge|realm|errors?|required|missing|invalid|expired|prefix|type|method|must|should|shall|could|would|cannot)\b)[A-Za-z]{6,}(?![A-Za-z])/g;
const AUTHORIZATION =
  /(authorization["'\\]{0,5}\s{0,4}[:=]\s{0,4}["'\\]{0,5})(?:[a-z][a-z0-9-]{2,20}\s+)?(?!\[redacted\])[^\s"',;<>\\]+/gi;
/** As a terminal is told colours. */
const COLOUR = String.raw`(?:\x1b\[[\d;]{0,12}m){0,3}`;
/** `=`, `: `, `=>`, `: str =`; what stands on the next line is a value only if it is quoted. */
const ASSIGNS = String.raw`\s{0,4}(?::\s{0,4}[a-z][\w.|]{0,40}\s{0,4}=(?!=)|[:=]{1,2}>?)${COLOUR}(?:\s{0,60}(?=\\{0,4}["'])|\s{0,4})`;
/** The file of that name holds no passwords any more, and `/etc/passwd: …` is what a program says of it. */
const NO_FILE = String.raw`(?<!(?<![\w.@+-])[~.]{0,2}\/(?:[\w.@+-]{1,64}\/){0,8}passwd(?=-?:))`;
/** What a system says of a file that has such a name. */
const NO_COMPLAINT =
  '(?!(?:permission denied|no such file|is a directory|not a directory|operation not permitted|input/output error)\\b)';
export const NAMED = new RegExp(
  String.raw`(${SECRET_NAME}${NO_FILE}[\w-]{0,24}${COLOUR}\\{0,4}["']?${ASSIGNS}|--[\w-]{0,24}${SECRET_NAME}[\w-]{0,24}\s{1,4})` +
    String.raw`(?![:=>\s]{0,4}\\{0,4}["']?\[redacted\])${NO_COMPLAINT}(?:${VALUE})`,
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
  String.raw`(?<![\w.-])((?![A-Z0-9_]{0,60}${OPEN_KEY})[A-Z][A-Z0-9_]{0,60}_KEY=)` +
    String.raw`(?!["']?\[redacted\])(?=["']?[^\s"',;&<>)}\]]{4}|\$["'])${SHELL_WORD}`,
  'g',
);
/** `git config --global github.token x` */
const CONFIGURED = new RegExp(
  String.raw`(\bgit\s{1,4}config(?:\s{1,4}--?[a-z-]{1,40}){0,4}\s{1,4}[\w.-]{0,80}${SECRET_NAME}[\w-]{0,24}\s{1,4})` +
    String.raw`(?!["']?\[redacted\])["']?[^\s"';|&]{1,1024}["']?`,
  'gi',
);
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
/** As Oracle's driver has it: `jdbc:oracle:thin:me/password@host`. */
const ORACLE = /(jdbc:oracle:[a-z\d]{2,8}:[^\s/@"']{1,128}\/)(?!\[redacted\])(?:"[^"\n]{1,512}"|[^\s@"']{1,512})(?=@)/g;
/** What SQL calls a password: always quoted, so that a sentence about one stays as it is. */
const STATED =
  /\b((?:identified\s{1,4}(?:with\s{1,4}\S{1,64}\s{1,4})?(?:by|as)|password)\s{1,4}(?:password\s{1,4})?)(?:'(?!\[redacted\])[^'\n]{1,512}'|"(?!\[redacted\])[^"\n]{1,512}")/gi;

export const BEFORE_NAMES = [AUTHORIZATION, SCHEME, BEARER, ELEMENT, ATTRIBUTE, NETRC, PGPASS, STATED];
export const AFTER_NAMES = [DEFINED, KEY_VARIABLE, CONFIGURED, ORACLE];
