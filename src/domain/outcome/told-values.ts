import { isCommon, isElsewhere, removeBehind } from './named-values.ts';
import type { OnFound } from './named-values.ts';
import { SECRET_NAME } from './secrets.ts';

/**
 * Secrets that people and tables tell: `the password is x`, `| password | x |`, `password<TAB>x`. Each expression looks for what is
 * between name and value first, and back for the name only there: names are looked for everywhere once already, which is enough.
 */

const NAME = String.raw`${SECRET_NAME}[\w.-]{0,24}["']?`;
const NOT_YET = String.raw`(?!["']?\[redacted\])`;

/** With blanks: without them `(?:token|user|…)` is an expression. */
const IN_ROW = new RegExp(
  String.raw`(?=[|│])(?<=[|│][ \t]{0,40}["']?[\w.-]{0,40}?${NAME}[ \t]{0,60})([|│][ \t]{1,60})${NOT_YET}[^\s|│]{4,512}(?=[ \t]{1,60}[|│])`,
  'gi',
);
const BEHIND_TAB = new RegExp(String.raw`(?=\t)(?<=${NAME})(\t{1,8})${NOT_YET}[^\s|│]{4,512}`, 'gi');
/** Without the name, which is looked for where this is found: in most texts something is something. */
const IN_SENTENCE =
  /( is(?:\s{0,4}:\s{0,4}|\s{1,4}))(?!["']?\[redacted\])(?:"[^"\n]{4,512}"|'[^'\n]{4,512}'|[^\s"',;<>]{3,511}[^\s"',;<>.!?)])/g;
const BEHIND_NAME = new RegExp(String.raw`(?<=${NAME}\s{0,4})`, 'iy');

export function removeTold(text: string, onFound?: OnFound): string {
  const untabbed = text.includes('\t') ? removeBehind(text, BEHIND_TAB, onFound, isHeading) : text;
  const rows = /[|│]/.test(untabbed) ? removeBehind(untabbed, IN_ROW, onFound, isHeading) : untabbed;
  return removeBehind(
    rows,
    IN_SENTENCE,
    onFound,
    (head, value, at) => isSaidOfOne(head, value) || !isBehindName(rows, at),
  );
}

function isBehindName(text: string, at: number): boolean {
  BEHIND_NAME.lastIndex = at;
  return BEHIND_NAME.test(text);
}

function isHeading(_: string, value: string): boolean {
  return isCommon(value) || /^[A-Za-z]+(?:_[A-Za-z]+)+$/.test(value);
}

/** `is required`, `is base64-encoded`, `is 16-bytes`. Behind a colon it would be the password itself. */
function isSaidOfOne(head: string, value: string): boolean {
  if (/^["']/.test(value)) return false;
  if (isCommon(value) || isElsewhere(value)) return true;
  if (head.includes(':')) return false;
  const isMixed =
    /\d/.test(value) && /[a-z]/i.test(value) && !/^(?:base|sha|md|utf|aes|o?auth|v)-?\d|^\d+-?[a-z]+$/i.test(value);
  return !isMixed && !/^\d{4,}$|[!@#$%^&*+=~]|^[a-z]+(?:-[a-z]+){2,}$/i.test(value);
}
