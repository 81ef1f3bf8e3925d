import { hasToken, isSecretName, looksRandom, redactTokens } from '../outcome/secrets.ts';

const ONE_WORD = /^(?:(?:bearer|basic|token|digest) +)?[\w.~+/=:@%-]{1,512}$/i;
/** A name that ends so says where a secret is, or what kind of one, and not what it is. */
const OF_SOMETHING_ELSE =
  /[-_ a-z](?:url|uri|urn|endpoint|host|file|path|dir|directory|folder|jar|store|name|type|kind|mode|method|provider|enabled|required)s?$/i;
/** Its password, if it has one, is masked wherever it stands. */
const LINK = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * Whether what stands under a name is a secret. What a link, a file or a thing is called decides what is done: it is shown, or a
 * person would approve blindly.
 */
export function isSecret(name: string, value: string | number): boolean {
  const text = String(value);
  if (!isSecretName(name) || OF_SOMETHING_ELSE.test(name) || !ONE_WORD.test(text) || LINK.test(text)) return false;
  if (looksRandom(text) || hasToken(text)) return true;
  const isPlain = typeof value === 'number' ? Math.abs(value) < FEWEST_THAT_LOCK : PLAIN_WORD.test(value);
  return !isPath(text) && (isAlwaysSecret(name) || !isPlain);
}

/** What people write, and machines that make secrets hardly ever: letters of one case, and few. */
const PLAIN_WORD = /^(?:[A-Z]?[a-z]{1,11}|[A-Z]{1,12})$/;
/** No lock has a number of fewer than four digits. */
const FEWEST_THAT_LOCK = 1000;

/**
 * Names of nothing but passwords, keys and their like. A token may be a coin, `auth` a switch, a pin one of a board, and `pwd`
 * where one is.
 */
const ALWAYS_SECRET = new RegExp(
  [
    'pass(?:word|wd|phrase|code)',
    '[a-z0-9][-_ ](?:pass|pwd|pw)(?![a-z])',
    'key',
    'creds?(?![a-z])|credential',
    '(?:client|app|application|consumer|shared|webhook|signing|jwt)[-_ ]?secret',
    '(?:access|refresh|id|auth|api|bearer|session|personal|bot|csrf|xsrf|oauth)[-_ ]?token',
    'session[-_]?id|connection[-_]?string',
  ].join('|'),
  'i',
);

function isAlwaysSecret(name: string): boolean {
  return ALWAYS_SECRET.test(name.slice(0, 200).replace(/([a-z0-9])([A-Z])/g, '$1_$2'));
}

/** Words with a number after them, as directories and files are called; base64 has letters of both cases and digits all over. */
const PIECE = /^(?:[a-z]+|[A-Z]+|[A-Z]?[a-z]{2,}(?:[A-Z][a-z]+)*)?\d{0,8}[a-z]{0,3}$/;

/** Piece by piece: one expression for all of them would try each in every way it can be read. */
function isPath(value: string): boolean {
  if (/^(?:~|\.\.?)$/.test(value)) return true;
  const pieces = value.replace(/^~(?=\/)/, '').split(/[/._-]@?/);
  return value.includes('/') && pieces.every((piece) => piece.length <= 40 && PIECE.test(piece));
}

/**
 * User and host of a URL stay. Of a password only what means nothing to a shell and to no reader of URLs: nothing that would run,
 * and no other host, hides behind a mask.
 */
const PASSWORD_IN_URL = /(:\/\/[^\s/?#:@\\"'<>]{0,512}:)([\w.~+=%!*,:^-]{1,512})(?=@)/g;

export function redactPasswords(text: string, mask: (password: string) => string): string {
  return text.replace(PASSWORD_IN_URL, (_, before: string, password: string) => `${before}${mask(password)}`);
}

/** Why a pattern cannot be granted: whoever sees the grant, here and in Temporal, would read the credential in it. */
export function credentialIn(pattern: Readonly<Record<string, string>>): string | undefined {
  const found = Object.entries(pattern).find(
    ([name, glob]) =>
      hasToken(name) || hasToken(glob) || isSecret(name, glob) || redactPasswords(glob, () => '') !== glob,
  );
  return found === undefined ? undefined : `the pattern for ${redactTokens(found[0])} holds a credential`;
}
