/** What a credential looks like: by its own shape, by the name it goes under, or by being long and random. */

export const REDACTED = '[redacted]';

/** Of keys only such as lock something: what a primary, sort, cache or public key is, everybody may see. */
const KEY_KINDS =
  'encrypt(?:ion)?|decrypt(?:ion)?|cipher|crypto|master|sign(?:ing)?|hmac|jwt|rsa|aes|ssh|gpg|pgp|symmetric|shared|storage|account|' +
  'auth|service|server|security|recovery|wallet|licen[cs]e|deploy(?:ment)?|webhook|admin|root|subscription|ingest(?:ion)?|integration';

/** Argument and header names whose values are never shown. `max_tokens`, `author` and `pass_rate` are not secrets. */
const SECRET_NAMES = [
  'pass(?:word|wd|phrase|code)',
  '(?<!by|com|en|sur|tres|over|under)pass(?![a-z]|[-_ ]?(?:count|rate|through|thru|fail|percent|number|threshold))',
  'pwd',
  'pswd',
  // Not `pw_name` of a user database, nor the topics of Playwright's log.
  '(?:(?<![a-z])|root|db|user|admin|bind)pw\\d*(?![\\w-]|:(?:api|browser|protocol|channel|error|test|webserver|install|proxy|\\*))',
  // What is one has a shape of its own; `jwt:secret` is a task of a framework.
  '(?<![a-z])jwt(?:[-_]?v?\\d+)?(?![\\w-]|:[a-z])',
  // Alone it is the name of a data source.
  '(?<=[a-z0-9][-_])dsn(?![\\w-])',
  '(?<![a-z])otp(?![a-z])',
  '(?<![a-z])creds?(?![a-z])',
  `(?:${KEY_KINDS})[-_ ]?key(?![a-z]|[-_ ]?(?:id|name|type|size|length|file|path|url|version|format|count|alias|usage)s?(?![a-z]))`,
  'secret',
  '(?<!(?:max|min|num|total)[-_])token(?![a-z])',
  '(?<![a-z])pin(?:[-_]?(?:code|number))?(?![\\w-])',
  'api[-_ ]?key',
  'access[-_ ]?key',
  'private[-_ ]?key',
  'auth(?:orization|entication)?(?![a-z])',
  'credential',
  'cookie',
  '(?<!(?:xdg|i?term|shell)[-_])session[-_]?id',
  'signature',
  'bearer(?![a-z])',
  '(?:seed|recovery)[-_ ]?phrase',
  'mnemonic',
  'connection[-_]?string',
].join('|');

/** A name that ends so says how many there are, or how long one lasts. */
const COUNTS =
  'count|length|size|limit|budget|usage|total|min|max|age|ttl|expiry|timeout|attempt|retrie|version|seconds|minutes|hours|days|ms';

/** As the source of a larger expression; matched without regard to case. */
export const SECRET_NAME = `(?:${SECRET_NAMES})(?!(?:[\\w-]{0,40}[-_])?(?:${COUNTS})s?(?![\\w-]))`;

const SECRET_NAME_PATTERN = new RegExp(SECRET_NAME, 'i');
/** Keys of an environment that lock nothing; every other one does. As the source of a larger expression. */
export const OPEN_KEY =
  '(?:PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|CACHE|GROUP|INDEX|OBJECT|ROUTING|IDEMPOTENCY|COMPOSE)_KEY';
const SECRET_VARIABLE = new RegExp(`^(?:[A-Z][A-Z0-9_]*_)?PAT$|^DSN$|^(?!.*${OPEN_KEY}$)[A-Z][A-Z0-9_]*_KEY$`);
/** By name only where it is the name of a value: in a text `id_rsa: …` is what a program says of a file. */
const PRIVATE_KEY_NAME =
  /(?:^|_)(?:id_(?:rsa|dsa|ecdsa|ed25519)|ID_(?:RSA|DSA|ECDSA|ED25519)|RSA_(?:PRIV(?:ATE)?|PEM))$|^(?!EASY_|.*PUB(?:LIC)?_)[A-Z][A-Z0-9_]*_RSA$/;

/** Whether values under this name are kept out of everything; camelCase is taken apart first (`accessTokens` is not). */
export function isSecretName(name: string): boolean {
  const bounded = name.slice(0, 200);
  if (SECRET_VARIABLE.test(bounded) || PRIVATE_KEY_NAME.test(bounded)) return true;
  return SECRET_NAME_PATTERN.test(bounded.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));
}

/** Tokens that name their issuer. Over-long is better than a remainder, so every shape is greedy. */
const SHAPES = [
  '(?:sk|rk|pk)[-_][A-Za-z0-9_-]{16,}',
  'gh[oprsu]_[A-Za-z0-9_]{16,}',
  'github_pat_[A-Za-z0-9_]{16,}',
  'gl(?:pat|rt|dt|ptt|cbt|soat|ft|imt|oas|agent)-[A-Za-z0-9_-]{16,}',
  '(?:AKIA|ASIA)[A-Z0-9]{16,}',
  'xox[a-z]-[A-Za-z0-9-]{8,}',
  'xapp-[A-Za-z0-9-]{8,}',
  'AIza[A-Za-z0-9_-]{30,}',
  'ya29\\.[A-Za-z0-9_-]{16,}',
  'npm_(?!(?:config|package|lifecycle|execpath|node|command)(?![a-z0-9]))[A-Za-z0-9]{3,}(?!_)',
  'dckr_[po]at_[A-Za-z0-9_-]+',
  'GOCSPX-[A-Za-z0-9_-]+',
  'cio[A-Za-z0-9]{32}(?![A-Za-z0-9])',
  'key-[0-9a-f]{32}(?![0-9a-f])',
  's\\.(?=[A-Za-z]*[0-9])[A-Za-z0-9]{24}(?![A-Za-z0-9])',
  'pypi-[A-Za-z0-9_-]{16,}',
  'hf_[A-Za-z0-9]{16,}',
  'shp(?:at|ca|pa|ss)_[A-Za-z0-9]{16,}',
  'dop_v1_[A-Za-z0-9]{16,}',
  'SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}',
  '[0-9]{6,12}:[A-Za-z0-9_-]{30,}',
  'hv[sbr]\\.[A-Za-z0-9_-]{16,}',
  'AGE-SECRET-KEY-1[A-Za-z0-9]{20,}',
  '(?:HRKU|PMAK|CFPAT|NRAK|CCIPAT)[-_](?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}',
  'sq0[a-z]{3}-[A-Za-z0-9_-]{16,}',
  'whsec_[A-Za-z0-9+/=]{16,}',
  'ATATT3x[A-Za-z0-9_=-]{16,}',
  'ATBB(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,}',
  '(?:gsk|r8|tfp|sbp|glsa|sntry[su]|fig[do]|pscale_(?:tkn|pw|oauth))_(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}',
  '(?:nvapi|xai|tskey|pul)-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}',
  'secret_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{32,}',
  '(?:dapi|SK)[0-9a-f]{32,}',
  'EAAC[A-Za-z0-9]{20,}',
].join('|');

/**
 * A web token. Taken to its end also where it has no dot, and then looked at: trying from each `eyJ` to the end again would take
 * time by the square of a text's length.
 */
const WEB_TOKEN = 'eyJ[A-Za-z0-9_-]{5,}(?:\\.[A-Za-z0-9_-]{5,}(?:\\.[A-Za-z0-9_-]*)?)?';

/** In this order: what is within a web token is not to be taken apart. */
const patterns = (before: string, flags: string) =>
  [WEB_TOKEN, SHAPES].map((shape) => new RegExp(`${before}(?:${shape})`, flags));
const TOKEN = patterns('(?<![A-Za-z0-9])', 'g');
/** A host or a path may have been lower-cased on its way. */
const TOKEN_ANY_CASE = patterns('(?<![A-Za-z0-9])', 'gi');
const TOKEN_ANYWHERE = patterns('', 'g');

/** JSON in base64 without what makes it a web token, and words: `sk-learn-contrib` is a package. */
const NO_TOKEN = /^(?:[eE][yY][jJ][A-Za-z0-9_-]*|(?:sk|rk|pk)(?:[-_][a-z]{1,14}){2,}[-_]?)$/;

/** No shape is shorter than this. */
const SHORTEST_TOKEN = 7;

export function redactTokens(text: string, mask = (_token: string) => REDACTED): string {
  if (text.length < SHORTEST_TOKEN) return text;
  return TOKEN.reduce(
    (rest, shape) => rest.replace(shape, (found) => (NO_TOKEN.test(found) ? found : mask(found))),
    text,
  );
}

/**
 * The same issuers, by their prefix and a few characters: whoever stores a text can do without them, where whoever decides about one
 * must see every word that may be a name. Runs are taken whole and looked at afterwards, as above.
 */
const SHORT_TOKEN = new RegExp(
  '(?<![A-Za-z0-9])(?:' +
    [
      '(?:sk|rk|pk)[-_][A-Za-z0-9_-]{3,}',
      'gh[oprsu]_(?!import(?![a-z0-9]))[A-Za-z0-9_]+',
      '(?:github_pat_|glpat-|dop_v1_|shp(?:at|ca|pa|ss)_)[A-Za-z0-9_-]+',
      'hf_(?!(?:hub|transfer|token|home|api|xet|cache|datasets?|endpoint|models?|repo)(?![a-z0-9]))[A-Za-z0-9]{3,}',
      'AKIA[A-Za-z0-9]+',
      'ASIA(?=[A-Z]{0,16}[0-9])[A-Z0-9]{3,}',
      '(?:AIza|ya29\\.|whsec_|hv[sbr]\\.)[A-Za-z0-9_-]+',
      'xox[a-z]-[A-Za-z0-9-]+',
      '(?:xapp-|pypi-|SG\\.|gsk_)(?=[A-Za-z_-]{0,20}[0-9])[A-Za-z0-9_.-]{3,}',
    ].join('|') +
    ')',
  'g',
);
/** Which key it is, or where letters and digits are mixed as in no word and no version. */
const KEY_AFTER_PREFIX =
  /^..(?:_(?:live|test)_|-(?:proj|ant|svcacct)-)|[-_](?!(?:v|py|rc)\d+(?![A-Za-z0-9]))(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{4,}/;

/** Also what is too short to be told from a word but for its prefix. */
export function redactEveryToken(text: string): string {
  return redactTokens(text).replace(SHORT_TOKEN, (found) =>
    /^[srp]k/.test(found) && !KEY_AFTER_PREFIX.test(found) ? found : REDACTED,
  );
}

/**
 * The pieces of tokens that are spread over neighbouring texts, as when a program is given one in two arguments. A token
 * begins a text or follows what is neither letter nor digit, as it does within one.
 */
export function splitTokens(texts: readonly string[]): readonly string[] {
  const ends: number[] = [];
  for (const text of texts) ends.push((ends.at(-1) ?? 0) + text.length);
  const together = texts.join('');
  const pieces: string[] = [];
  for (const { 0: token, index } of TOKEN_ANYWHERE.flatMap((shape) => [...together.matchAll(shape)])) {
    if (NO_TOKEN.test(token)) continue;
    const cuts = ends.filter((end) => end > index && end < index + token.length);
    const isStart = index === 0 || ends.includes(index) || !/[A-Za-z0-9]/.test(together.charAt(index - 1));
    if (cuts.length === 0 || !isStart) continue;
    const edges = [index, ...cuts, index + token.length];
    for (const [at, edge] of edges.slice(1).entries()) pieces.push(together.slice(edges[at], edge));
  }
  return pieces;
}

export function hasToken(text: string): boolean {
  return TOKEN_ANY_CASE.some((shape) => (text.match(shape) ?? []).some((found) => !NO_TOKEN.test(found)));
}

/**
 * Long and random: 32 or more hex digits, or a run of 24 letters and digits in which the digits come in three or more
 * groups. Names that people give (`my-long-project-2024`, `ApplicationConfiguration2`) have fewer, UUIDs shorter runs.
 */
export function looksRandom(text: string): boolean {
  const runs = text.slice(0, 4096).match(/[A-Za-z0-9]{24,}/g) ?? [];
  return runs.some(
    (run) => /^[0-9a-f]{32,}$/i.test(run) || (/[A-Za-z]/.test(run) && (run.match(/\d+/g) ?? []).length >= 3),
  );
}
