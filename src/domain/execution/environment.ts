import { matchesGlob } from '../key/glob.ts';
import { holdsCredential } from '../outcome/redact.ts';
import { hasToken, isSecretName } from '../outcome/secrets.ts';

/**
 * Variables by which one program changes what another one is: the command that was judged would not be what runs. Where it is a shell
 * finds out by itself; told so by way of a link, it would go elsewhere by `cd ..` than was judged.
 */
const STEERS = [
  ...'ENV BASH_* BASHOPTS SHELLOPTS POSIXLY_CORRECT PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 IFS CDPATH'.split(' '),
  ...'PWD OLDPWD GLOBIGNORE EXECIGNORE FIGNORE INPUTRC TIMEFORMAT'.split(' '),
  ...['LD_*', 'DYLD_*', 'NODE_OPTIONS', 'PYTHONSTARTUP', 'PERL5OPT', 'RUBYOPT', 'GIT_CONFIG*', 'GIT_SSH*'],
];
/** In another charset a byte of a letter may be a quote or a blank to the shell, and none to whoever judges the command. */
const CHARSET = /^(?:LANG|LC_ALL|LC_CTYPE)$/;
const PLAIN_CHARSET = /^(?:$|C$|POSIX$|.*utf-?8)/i;
/** A list of directories has colons behind names, and says nothing about who may do what. */
const DIRECTORIES = /^[~.]{0,2}\/[^:;=]*(?::(?:[~.]{0,2}\/[^:;=]*)?)*$/;
/** Without them hardly any program runs; whatever they hold, they are no credential. */
const NEEDED = /^(?:PATH|HOME|TMPDIR|SHELL|USER|LOGNAME|TERM|LANG|LANGUAGE|LC_[A-Z]+|TZ|LS_COLORS|DISPLAY)$/;
/** Of several, or cut short: elsewhere such names are of counts and kinds, here a number or a switch tells those apart. */
const MAY_BE_SECRET = /(?:^|_)(?:TOKENS|PRIVATE)$|(?<!SA)CREDS?$/i;
const SWITCH = /^(?:[\d.,]*|true|false|yes|no|on|off)$/i;
const AUTHORIZATION = /^(?:basic|bearer|digest|negotiate|token)\s+\S+$/i;
/** A user without a password: `ssh://git@host`. */
const USER_IN_URL = /:\/\/[^\s/:@]{1,19}@/g;
const PASSWORD_IN_URL = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*:[^/?#\s]*@/i;

/**
 * The environment that a command is given: without whatever is called like a credential or looks like one, and without what
 * steers interpreters. `allow` names what passes nevertheless (globs); it does not lift what steers.
 */
export function scrubEnvironment(
  given: Readonly<Record<string, string | undefined>>,
  allow: readonly string[] = [],
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || STEERS.some((pattern) => matchesGlob(pattern, name))) continue;
    if (CHARSET.test(name) && !PLAIN_CHARSET.test(value)) continue;
    if (isSecret(name, value) && !allow.some((pattern) => matchesGlob(pattern, name))) continue;
    kept[name] = value;
  }
  return kept;
}

function isSecret(name: string, value: string): boolean {
  if (isSecretName(name) || hasToken(value) || PASSWORD_IN_URL.test(value)) return true;
  if (MAY_BE_SECRET.test(name) && !SWITCH.test(value)) return true;
  if (NEEDED.test(name) || DIRECTORIES.test(value)) return false;
  return AUTHORIZATION.test(value) || holdsCredential(value.replace(USER_IN_URL, '://'));
}
