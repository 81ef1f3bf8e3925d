import { REDACTED, SECRET_NAME } from './secrets.ts';

/** What belongs to one command, and no more of it than a person types. */
const SAME_COMMAND = String.raw`[^|;&\n]{0,300}?`;
const VALUE = String.raw`(?!\[redacted\])(?:"[^"\n]{1,512}"|'[^'\n]{1,512}'|[^\s"'|;&]{1,512})`;

/** Options whose values are passwords although nothing in their names says so: each ends where the value begins. */
const BEFORE_A_PASSWORD = [
  String.raw`\b(?:mysql|mariadb)[\w-]{0,20}${SAME_COMMAND}\s-p`,
  String.raw`\b(?:sshpass|mongosh?|mongo[a-z]{4,10})${SAME_COMMAND}\s-p\s{0,4}`,
  String.raw`\b(?:docker|podman|nerdctl|buildah|skopeo|crane|helm|oc|az)\s${SAME_COMMAND}\blogin\s${SAME_COMMAND}\s?-p[\s=]{1,4}`,
  String.raw`\bredis-cli\s${SAME_COMMAND}\s?-a\s{1,4}`,
  String.raw`\bldap[a-z]{3,10}\s${SAME_COMMAND}\s?-w\s{1,4}`,
  String.raw`\b(?:sqlcmd|rdesktop|bcp|isql|mosquitto_[a-z]{3}|ipmitool|cqlsh|cypher-shell)\s${SAME_COMMAND}\s?-p\s{1,4}`,
  String.raw`\bopenssl\s${SAME_COMMAND}\s-k\s{1,4}`,
  String.raw`\b(?:7z[arz]?|(?:un)?rar)\s${SAME_COMMAND}\s?-p(?=\S)`,
  String.raw`\b(?:plink|pscp|psftp)\s${SAME_COMMAND}\s?-pw\s{1,4}`,
  String.raw`\bkeytool\s${SAME_COMMAND}\s-(?:store|key|src|dest)[a-z]{0,8}pass\s{1,4}`,
  // The last word, whatever stands between; `2>` begins no word.
  String.raw`\bhtpasswd\s(?=[^|;&\n]{0,200}?-\w{0,8}b)[^|;&\n<>]{0,300}\s(?!\d[<>])(?=[^\s|;&<>]{1,512}\s{0,4}(?:\d?[<>]|[|;&\n]|$))`,
  String.raw`\b(?:smb[a-z]{2,10}|rpcclient|net|winexe)\s${SAME_COMMAND}\s?(?:-U\s{0,4}|--user[=\s]\s{0,4})["']?[^\s%"'|;&]{1,128}%`,
  String.raw`\bnet\s{1,4}use\s{1,4}(?:[a-z*]:?\s{1,4})?["']?\\{2,4}[^\s|;&]{1,200}\s{1,4}(?![/*])`,
  String.raw`\b(?:un)?zip\s${SAME_COMMAND}\s?-P\s{0,4}`,
  String.raw`\bvault\s{1,4}login\s{1,4}(?!-)`,
  String.raw`\blftp\s${SAME_COMMAND}\s?-u\s{1,4}[^\s,"'|;&]{1,128},`,
  String.raw`\b(?:sqlplus|sqlldr|expdp|impdp|rman)\s${SAME_COMMAND}[^\s/"'|;&=-]{1,128}\/`,
  String.raw`\b[a-z]{0,2}freerdp\s${SAME_COMMAND}\/p:`,
  String.raw`\bwpa_passphrase\s{1,4}[^\s|;&]{1,128}\s{1,4}`,
  String.raw`\b(?:nmcli|rclone)\s${SAME_COMMAND}\s${SECRET_NAME}[\w-]{0,24}\s{1,4}`,
  String.raw`\bchpasswd\b[^|;&\n]{0,100}<<<\s{0,4}["']?[^\s:"']{1,128}:`,
  String.raw`\b(?:kinit|passwd)\b[^|;&\n]{0,100}<<<\s{0,4}`,
  String.raw`\s-(?:password|passwd|passphrase|token|secret)\s{1,4}`,
  String.raw`\b(?:configure|config)\s{1,4}set\s{1,4}[\w.:/@-]{0,100}?${SECRET_NAME}[\w.-]{0,24}\s{1,4}`,
];
const PASSWORD = new RegExp(`(${BEFORE_A_PASSWORD.join('|')})${VALUE}`, 'gi');

/** What is piped to a program that reads a password: `echo x | docker login --password-stdin`. */
const READS_PASSWORD = String.raw`(?:--password-stdin|--with-token|--stdin|--passphrase-fd\s0|chpasswd|kinit|sudo\s{1,4}-\w{0,8}S|login\s{1,4}-)(?![\w-])`;
const PIPED = new RegExp(
  String.raw`(\b(?:echo(?:\s{1,4}-n)?|printf(?:\s{1,4}["']?%s(?:\\n)?["']?)?)\s{1,4})${VALUE}(?=\s{0,4}\|\s{0,4}[^|;&\n]{0,200}?${READS_PASSWORD})`,
  'gi',
);

const USER_OPTION = String.raw`\s(?:-u|-U|--user|--proxy-user)[\s=]{0,4}`;
const NAME = String.raw`[^\s:"'=/]{1,128}:(?!\[redacted\])`;
const QUOTED_USER = new RegExp(String.raw`(${USER_OPTION}["']${NAME})[^"'\n]{1,512}`, 'g');
/** `-u name:password`; two numbers are a user and a group, a path is where something goes. */
const USER = new RegExp(String.raw`(${USER_OPTION}${NAME})(?!\d+(?![\w-])|[/.])[^\s"']{1,512}`, 'g');

/** A command line without the passwords that options of well-known programs take. */
export function redactValueOptions(text: string): string {
  return text
    .replace(PASSWORD, `$1${REDACTED}`)
    .replace(PIPED, `$1${REDACTED}`)
    .replace(QUOTED_USER, `$1${REDACTED}`)
    .replace(USER, `$1${REDACTED}`);
}
