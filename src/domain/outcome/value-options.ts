import { BEFORE_A_PASSWORD, BEFORE_A_PASSWORD_IN_ANY_CASE } from './password-places.ts';
import { removeBehind } from './named-values.ts';
import type { OnFound } from './named-values.ts';
import { QUOTES_BEHIND } from './shell-word.ts';

const VALUE = String.raw`(?!\[redacted\])(?:\$?"[^"\n]{1,512}"|\$?'[^'\n]{1,512}'|[^\s"'|;&]{1,512})${QUOTES_BEHIND}`;

const PASSWORDS = [
  new RegExp(String.raw`\b(?=[a-z])(${BEFORE_A_PASSWORD.join('|')})${VALUE}`, 'g'),
  new RegExp(`(${BEFORE_A_PASSWORD_IN_ANY_CASE.join('|')})${VALUE}`, 'gi'),
];
/** One command may be given so many (`--from-literal=a=… --from-literal=b=…`); each look finds the next one of it. */
const MOST_OF_ONE_COMMAND = 20;

/** What is piped to a program that reads a password: `echo x | docker login --password-stdin`. */
const READS_PASSWORD = String.raw`(?:--password-stdin|--with-token|--stdin|--passphrase-fd\s0|chpasswd|kinit|sudo\s{1,4}-\w{0,8}S|login\s{1,4}-|secrets?\s{1,4}(?:set|put|create))(?![\w-])`;
const PIPED = new RegExp(
  String.raw`(\b(?:echo(?:\s{1,4}-n)?|printf(?:\s{1,4}["']?%s(?:\\n)?["']?)?)\s{1,4})${VALUE}(?=\s{0,4}\|\s{0,4}[^|;&\n]{0,200}?${READS_PASSWORD})`,
  'gi',
);

const USER_OPTION = String.raw`\s(?:-u|-U|--user|--proxy-user)[\s=]{0,4}`;
const CLIENT_OPTION = String.raw`\b(?:curl|https?|xhs?|httpie)(?=\s)[^|;&\n]{0,300}?\s-\w{0,8}[auU]\s{0,4}`;
const NAME = String.raw`[^\s:"'=/]{1,128}:(?!\[redacted\])`;
const QUOTED_USER = new RegExp(String.raw`((?:${USER_OPTION}|${CLIENT_OPTION})["']${NAME})[^"'\n]{1,512}`, 'g');
/** `-u name:password`; two numbers are a user and a group, a path is where something goes. */
const USER = new RegExp(String.raw`(${USER_OPTION}${NAME})(?!\d+(?![\w-])|[/.])[^\s"']{1,512}`, 'g');

/** A command line without the passwords that options of well-known programs take. */
export function redactValueOptions(text: string, onFound?: OnFound): string {
  return [PIPED, QUOTED_USER, USER].reduce(
    (rest, place) => removeBehind(rest, place, onFound),
    redactPasswords(text, onFound),
  );
}

function redactPasswords(text: string, onFound: OnFound | undefined): string {
  let rest = text;
  for (let look = 0; look < MOST_OF_ONE_COMMAND; look += 1) {
    const before = rest;
    for (const password of PASSWORDS) rest = removeBehind(rest, password, onFound);
    if (rest === before) break;
  }
  return rest;
}
