import { SECRET_NAME } from './secrets.ts';

/** What belongs to one command, and no more of it than a person types. */
const SAME_COMMAND = String.raw`[^|;&\n]{0,300}?`;

/**
 * Expressions that end where a password begins, as one would type the line: a blank stands for several, `…` for whatever else the
 * command says, WORD for one word of it, and USER for a name (or none) and its colon.
 */
const typed = (lines: readonly string[]) =>
  lines.map((line) =>
    line
      .replaceAll(' ', String.raw`\s{1,4}`)
      .replaceAll('…', String.raw`(?=\s)${SAME_COMMAND}\s`)
      .replaceAll('WORD', String.raw`[^\s|;&]{1,200}`)
      .replaceAll('USER', String.raw`[^\s:"'|;&]{0,128}:`),
  );

/** Options whose values are passwords although nothing in their names says so. In the other case they are others: `mysql -P3306`. */
const AFTER_OPTIONS = typed([
  String.raw`(?:mysql|mariadb)[\w-]{0,20}…-p`,
  String.raw`(?:docker|podman|nerdctl|buildah|skopeo|crane|helm|oc|az)…(?:WORD )?login…-p[\s=]{0,4}`,
  '(?:redis|valkey|keydb)-cli…-a ',
  String.raw`ldap[a-z]{3,10}…-[a-zA-Z]{0,6}w\s{0,4}`,
  String.raw`(?:sqlcmd|bcp)…-P\s{0,4}`,
  '(?:twine|poetry|rabbitmqadmin|yt-dlp|youtube-dl|beeline|ncftp[a-z]{0,5}|useradd|usermod|az sql)…-p ',
  '(?:hydra|netexec|nxc|crackmapexec|evil-winrm|psexec)…-p ',
  String.raw`(?:https?|xhs?|httpie)…-\w{0,8}a\s{0,4}USER`,
  String.raw`(?:https?|xhs?|httpie)(?=[^|;&\n]{0,300}?\s(?:-A bearer|--auth-type)\b)…-\w{0,8}a `,
  'httpx…--auth WORD ',
  String.raw`curl…(?:-[\w#]{0,10}[uU]\s{0,4}USER|(?:-E\s{0,4}|--(?:proxy-)?cert[\s=]{1,4})USER(?!\/\/)|-b\s{0,4}(?=["']?[^\s"'=/.]{1,128}=))`,
  String.raw`(?:ab|hey)…-[aAP]\s{0,4}USER`,
  'ssh-keygen…-[NP] ',
  String.raw`snmp[a-z]{2,10}…-[AXc]\s{0,4}`,
  'security add-[a-z]{3,10}-password…-w ',
  '(?:keytool|jarsigner)…-(?:store|key|src|dest)[a-z]{0,8}pass ',
  '(?:glab auth|doctl|vercel|influx)…-t ',
  'nuget push…-k ',
  String.raw`gh secret set…(?:-b\s{0,4}|--body[\s=]{1,4})`,
  String.raw`aws ssm put-parameter(?=[^|;&\n]{0,300}?SecureString)…--value[\s=]{1,4}`,
  String.raw`az keyvault secret set…--value[\s=]{1,4}`,
  String.raw`kubectl…create secret…--from-literal[=\s]\s{0,4}(?:[\w.-]{1,128}=|(?=["']))`,
  String.raw`(?:fly|flyctl|doppler|supabase) secrets set…\w{1,128}=`,
  String.raw`vault kv (?:put|patch)…[A-Za-z_][\w.-]{0,128}=(?!@)`,
]);

/** Commands that take a password where it stands. */
const AFTER_WORDS = typed([
  'mysqladmin…password ',
  '(?:cargo|wandb|vault) login (?!-)',
  '(?:snyk auth|ngrok authtoken|ngrok config add-authtoken|cloudflared service install) (?!-)',
  'bw (?:unlock|login (?!-)WORD) (?!-)',
  'rabbitmqctl (?:add_user|change_password) WORD ',
  'neo4j-admin (?:dbms )?set-initial-password (?!-)',
  'mc(?:li)? alias set WORD WORD WORD ',
  'poetry config (?:pypi-token[.]WORD|http-basic[.]WORD WORD) (?!-)',
  String.raw`pulumi config set(?=[^|;&\n]{0,300}?\s--secret\b) (?:--secret )?(?!-)WORD (?!-)`,
  'dotnet user-secrets set (?!-)WORD (?!-)',
  'isql (?!-)WORD (?!-)WORD (?!-)',
  'connect to WORD user WORD using ',
  'ansible-vault encrypt_string (?!-)',
  String.raw`travis encrypt (?!-)(?:\w{1,128}=)?`,
  // The last word; an option is none.
  String.raw`openssl passwd…(?=[^\s|;&<>-][^\s|;&<>]{0,511}\s{0,4}(?:[<>|;&\n]|$))`,
]);

/** Where programs that read a password from their input are given it as a word: `sudo -S ls <<< password`. */
const AFTER_HERE = typed([
  String.raw`(?:kinit|passwd|sudo -\w{0,8}S|secrets? (?:set|put|create)|login…--(?:password-stdin|with-token))\b[^|;&\n]{0,100}<<<\s{0,4}`,
]);

/** Each begins with a small letter at the beginning of a word. */
export const BEFORE_A_PASSWORD: readonly string[] = [...AFTER_OPTIONS, ...AFTER_WORDS, ...AFTER_HERE];

/** In any case: most of these programs are also those of systems that do not tell one from the other. */
export const BEFORE_A_PASSWORD_IN_ANY_CASE: readonly string[] = [
  String.raw`\b(?:sshpass|mongosh?|mongo[a-z]{4,10})${SAME_COMMAND}\s-p\s{0,4}`,
  String.raw`\b(?:sqlcmd|rdesktop|bcp|isql|mosquitto_[a-z]{3}|ipmitool|cqlsh|cypher-shell)\s${SAME_COMMAND}\s?-p\s{1,4}`,
  String.raw`\bopenssl\s${SAME_COMMAND}\s-k\s{1,4}`,
  String.raw`\b(?:7z[arz]?|(?:un)?rar)\s${SAME_COMMAND}\s?-p(?=\S)`,
  String.raw`\b(?:plink|pscp|psftp)\s${SAME_COMMAND}\s?-pw\s{1,4}`,
  // The last word, whatever stands between; `2>` begins no word.
  String.raw`\bhtpasswd\s(?=[^|;&\n]{0,200}?-\w{0,8}b)[^|;&\n<>]{0,300}\s(?!\d[<>])(?=[^\s|;&<>]{1,512}\s{0,4}(?:\d?[<>]|[|;&\n]|$))`,
  String.raw`\b(?:smb[a-z]{2,10}|rpcclient|net|winexe)\s${SAME_COMMAND}\s?(?:-U\s{0,4}|--user[=\s]\s{0,4})["']?[^\s%"'|;&]{1,128}%`,
  String.raw`\bnet\s{1,4}use\s{1,4}(?:[a-z*]:?\s{1,4})?["']?\\{2,4}[^\s|;&]{1,200}\s{1,4}(?![/*])`,
  String.raw`\b(?:un)?zip\s${SAME_COMMAND}\s?-P\s{0,4}`,
  String.raw`\blftp\s${SAME_COMMAND}\s?-u\s{1,4}[^\s,"'|;&]{1,128},`,
  String.raw`\b(?:sqlplus|sqlldr|expdp|impdp|rman)\s${SAME_COMMAND}[^\s/"'|;&=-]{1,128}\/`,
  String.raw`\b[a-z]{0,2}freerdp\s${SAME_COMMAND}\/p:`,
  String.raw`\bwpa_passphrase\s{1,4}[^\s|;&]{1,128}\s{1,4}`,
  String.raw`\b(?:nmcli|rclone)\s${SAME_COMMAND}\s${SECRET_NAME}[\w-]{0,24}\s{1,4}`,
  String.raw`sonar\.login=`,
  String.raw`\bchpasswd\b[^|;&\n]{0,100}<<<\s{0,4}["']?[^\s:"']{1,128}:`,
  String.raw`\s-(?:password|passwd|passphrase|token|secret|api-?key)\s{1,4}`,
  String.raw`\b(?:configure|config)\s{1,4}set\s{1,4}[\w.:/@-]{0,100}?${SECRET_NAME}[\w.-]{0,24}\s{1,4}`,
];
