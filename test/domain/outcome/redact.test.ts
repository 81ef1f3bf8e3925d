import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrubEnvironment } from '../../../src/domain/execution/environment.ts';
import { redactText } from '../../../src/domain/outcome/redact.ts';
import { isSecretName, redactEveryToken } from '../../../src/domain/outcome/secrets.ts';

const redact = (text: string) => redactText(text, 500);

describe('what looks like it and is none', () => {
  it.each([
    'fields: ["password", "email"]',
    'PUBLIC_KEY=abcdef SORT_KEY=created_at',
    'git config user.name somebody',
    'passwords are checked: yes',
    'const tokens: Token[] = read()',
  ])('%s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('what is removed', () => {
  it.each([
    ['https://user:hunter2@host/x', 'https://[redacted]@host/x'],
    ['postgres://u:p/w@db:5432/x', 'postgres://[redacted]@db:5432/x'],
    ['Authorization: Bearer abc.def-123', 'Authorization: [redacted]'],
    ['{"Authorization":"Basic dXNlcjpwdw=="}', '{"Authorization":"[redacted]"}'],
    ['sent with bearer abcdef123456', 'sent with bearer [redacted]'],
    ['key sk-ant-api03-abcdefghijklmnop used', 'key [redacted] used'],
    ['ghp_abcdefghijklmnopqrstuvwxyz012345', '[redacted]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    ['xoxb-1234567890-abcdefghij', '[redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc', '[redacted]'],
    ['password=hunter2 next', 'password=[redacted] next'],
    ['{"password": "two words", "a": 1}', '{"password": [redacted], "a": 1}'],
    ["{'api_key': 'abc'}", "{'api_key': [redacted]}"],
    ['{\\"token\\":\\"abc def\\",\\"a\\":1}', '{\\"token\\":[redacted],\\"a\\":1}'],
    ['DB_PASSWORD=hunter2', 'DB_PASSWORD=[redacted]'],
    ['password: |\n  hunter2\n  more\nnext: 1', 'password: [redacted]next: 1'],
    ['  password: >-\n    hunter2\n', '  password: [redacted]'],
    ['{"password":\n          "hunter2"}', '{"password":\n          [redacted]}'],
    ['{"passwords":["hunter2","x"],"a":1}', '{"passwords":[redacted],"a":1}'],
    ['{"password":{"value":"hunter2"},"a":1}', '{"password":[redacted],"a":1}'],
    ["define('DB_PASSWORD', 'hunter2');", "define('DB_PASSWORD', [redacted]);"],
    ['PASSWORD: str = "hunter2"', 'PASSWORD: str = [redacted]'],
    ['\x1b[32mpassword\x1b[0m: hunter2 x', '\x1b[32mpassword\x1b[0m: [redacted] x'],
    ['STRIPE_KEY=hunter2 x', 'STRIPE_KEY=[redacted] x'],
    ['git config --global github.token hunter2 && x', 'git config --global github.token [redacted] && x'],
    ['curl --token hunter2 x', 'curl --token [redacted] x'],
    ['mysql --password=hunter2', 'mysql --password=[redacted]'],
    ['Cookie: a=b; c=d\nnext', 'Cookie: [redacted]\nnext'],
    ['GET /x?access_token=abc&page=2', 'GET /x?access_token=[redacted]&page=2'],
    ['GET /x?key=short&page=2', 'GET /x?key=[redacted]&page=2'],
    ['GET /x?q=a1b2c3d4e5f6a7b8c9d0', 'GET /x?q=[redacted]'],
    ['https://hooks.slack.com/services/T0000000/B0000000/XXXXXXXXXXXX', 'https://hooks.slack.com/services/[redacted]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- x', '[redacted] x'],
    ['-----BEGIN PRIVATE KEY-----\nMIIE', '[redacted]'],
    ['password="never closed', 'password=[redacted]'],
    ['{"password":123456,"pin":4711,"token_count":12}', '{"password":[redacted],"pin":[redacted],"token_count":12}'],
    ['login --password max --token limit', 'login --password [redacted] --token [redacted]'],
    ['DB_PASS=hunter2 SSHPASS=hunter2 x', 'DB_PASS=[redacted] SSHPASS=[redacted] x'],
    ['{"pass":"hunter2","encryptionKey":"abc"}', '{"pass":[redacted],"encryptionKey":[redacted]}'],
    ['RAILS_MASTER_KEY=abc AZURE_STORAGE_KEY=def', 'RAILS_MASTER_KEY=[redacted] AZURE_STORAGE_KEY=[redacted]'],
    ['curl -u admin:hunter2x https://x', 'curl -u admin:[redacted] https://x'],
    ['curl --user "admin:two words" x', 'curl --user "admin:[redacted]" x'],
    ['mysql -u root -phunter2x db', 'mysql -u root -p[redacted] db'],
    ['sshpass -p hunter2x ssh h', 'sshpass -p [redacted] ssh h'],
    ['docker login -u me -p hunter2x host', 'docker login -u me -p [redacted] host'],
    ['redis-cli -h x -a hunter2x ping', 'redis-cli -h x -a [redacted] ping'],
    ['aws configure set aws_secret_access_key hunter2x', 'aws configure set aws_secret_access_key [redacted]'],
    ...[
      ...[
        'sk-abc123',
        'sk_live_abcdef',
        'pk_test_abc',
        'sk-proj-abcdef',
        'ghp_abc',
        'gho_abcdef',
        'github_pat_abc',
        'glpat-abc',
      ],
      ...['hf_abc', 'AIzaSyA-abc', 'ya29.abc', 'xoxb-1-2-abc', 'AKIA123', 'npm_abc', 'dckr_pat_x', 'shpat_abc'],
    ].map((token) => [`got ${token}, then`, 'got [redacted], then']),
    ['sent Bearer abcdef to', 'sent Bearer [redacted] to'],
    ['openssl enc -pass pass:hunter2x -in a', 'openssl enc -pass pass:[redacted] -in a'],
    ['DB_PW=hunter2 ROOTPW=hunter2 run --pw hunter2', 'DB_PW=[redacted] ROOTPW=[redacted] run --pw [redacted]'],
    ['{"pw": "two words", "jwt": "hunter2"}', '{"pw": [redacted], "jwt": [redacted]}'],
    ['MY_JWT=hunter2 CI_JOB_JWT_V2=hunter2 x', 'MY_JWT=[redacted] CI_JOB_JWT_V2=[redacted] x'],
    ['SENTRY_DSN=hunter2 x', 'SENTRY_DSN=[redacted] x'],
    ['dial me:hunter2@tcp(db:3306)/app failed', 'dial [redacted]@tcp(db:3306)/app failed'],
    ['DRIVER=x;UID=sa;PWD=/hunter2', 'DRIVER=x;UID=sa;PWD=[redacted]'],
    ['pwd=/hunter2', 'pwd=[redacted]'],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });
});

describe('a value is removed to its end', () => {
  it.each([
    ["PASSWORD=$'s3cretPW99' true", 'PASSWORD=[redacted] true'],
    ['PASSWORD=$"s3cret PW99" true', 'PASSWORD=[redacted] true'],
    ['PASSWORD=a\\ s3cretPW99 true', 'PASSWORD=[redacted] true'],
    ['PASSWORD="a"s3cretPW99 true', 'PASSWORD=[redacted] true'],
    ['PASSWORD=a"s3cretPW99" true', 'PASSWORD=[redacted] true'],
    ["PASSWORD='it'\\''s-s3cret' true", 'PASSWORD=[redacted] true'],
    ["PASSWORD='it'\\'' is s3cret' true", 'PASSWORD=[redacted] true'],
    [`PASSWORD='it'"'"'s s3cret' true`, 'PASSWORD=[redacted] true'],
    ["run --token $'s3cretPW99' x", 'run --token [redacted] x'],
    ["sshpass -p $'s3cretPW99' ssh h", 'sshpass -p [redacted] ssh h'],
    ['sshpass -p "a"s3cretPW99 ssh h', 'sshpass -p [redacted] ssh h'],
    ["STRIPE_KEY=$'s3cretPW99' x", 'STRIPE_KEY=[redacted] x'],
    ['password=s3cret,PW99 next', 'password=[redacted] next'],
    ['PASSWORD=s3cr}etPW99 next', 'PASSWORD=[redacted] next'],
    ["{'password': b'two words', 'a': 1}", "{'password': [redacted], 'a': 1}"],
    ['| password | s3cretPW99 |', '| password | [redacted] |'],
    ['| 7 | db_password   | s3cretPW99 | x |', '| 7 | db_password   | [redacted] | x |'],
    ['user\tme\npassword\ts3cretPW99\n', 'user\tme\npassword\t[redacted]\n'],
    ['the password is s3cretPW99.', 'the password is [redacted].'],
    ['your password is: s3cretPW99', 'your password is: [redacted]'],
    ['Your password is: swordfish', 'Your password is: [redacted]'],
    ['the password is "two words" now', 'the password is [redacted] now'],
    ['the password is correct-horse-battery', 'the password is [redacted]'],
    ['jdbc:oracle:thin:u/pw99@h:1521:x', 'jdbc:oracle:thin:u/[redacted]@h:1521:x'],
    ['AKIAIOSFODNN7EXAMPLE,wJalrXUtnFEMI/KSMDENG/bPxRfiCYEXAMPLEKEY\n', '[redacted],[redacted]\n'],
  ])('%s', (text, expected) => {
    expect(redact(text)).toBe(expected);
    expect(redact(expected)).toBe(expected);
  });

  it.each([
    ['docker run -e "PASSWORD=abc" img "x y"', 'docker run -e "PASSWORD=[redacted]" img "x y"'],
    ['["PASSWORD=abc","B=c"]', '["PASSWORD=[redacted]","B=c"]'],
    ['f(password=abc,user=me)', 'f(password=[redacted],user=me)'],
    ['password=abc, user me', 'password=[redacted], user me'],
    ['<db password="abc"/>', '<db password=[redacted]/>'],
    ['{"command":"PASSWORD=abc\\nls"}', '{"command":"PASSWORD=[redacted]\\nls"}'],
    ['{\\"env\\":\\"PASSWORD=abc\\",\\"a\\":1}', '{\\"env\\":\\"PASSWORD=[redacted]\\",\\"a\\":1}'],
  ])('and not beyond: %s', (text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it.each([
    'cat: /etc/passwd: Permission denied',
    '/etc/passwd:root:x:0:0:root:/root:/bin/bash',
    'cat: /run/secrets/db_password: No such file or directory',
    'password is required, the token is invalid; the secret is not set, your password is too short',
    'the token is base64-encoded, the password is user-provided',
    'cat password | base64 -d; get-token | sha256sum',
    '| password | string | yes |',
    'user\tpassword\temail\tcreated_at',
  ])('what is no value stays: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('of a path, what it holds does not', () => {
    expect(redact('/etc/passwd: password=hunter2 x')).toBe('/etc/passwd: password=[redacted] x');
  });
});

describe('what stays', () => {
  it.each([
    'max_tokens: 4096 exceeded',
    'author: Jane',
    'https://registry.npmjs.org/@scope/pkg',
    'https://host:8080/path/@user',
    'GET /x?page=2&sort=created_at',
    'commit 3f2504e04f8911d39a0c0305e82c3301aaaaaaaa not found',
    'Basic authentication required',
    'the task-list-of-the-month-is-empty',
    'primary_key: 7, sort_key: name, public_key: abc, key_id: 9',
    'pass_rate: 98, bypass: on, compass: north',
    'docker run -u 1000:1000 -p 80:80 img',
    'git push -u origin HEAD:main',
    'rsync -u host:/x y && mkdir -p a/b',
    'mysql -p db',
    'pip install sk-learn sk-learn-contrib-x sk-image-v2 sk_utils',
    'lang sk-SK, pk_id 7, ghp_import, hf_hub, hf_transfer, ASIAN, npm_config_x',
    'Bearer authentication required, Bearer tokens expire, the bearer of this',
    'PWD=/home/me/x make\nOLDPWD=/home/me\nPWD="/a b" ls',
    'DEBUG=pw:api npx playwright test; php artisan jwt:secret; pw_name: root, jwt malformed',
    'isql: DSN=warehouse; cat: /root/.ssh/id_rsa: No such file or directory',
    'XDG_SESSION_ID=3 TERM_SESSION_ID=w0t0p0',
  ])('%s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('passwords that options of programs take', () => {
  const word = 'hunter2hunter2';
  it.each([
    ...[
      'http -a me:WORD x',
      'https -ame:WORD x',
      'xh -a me:WORD :3000/x',
      'xhs --auth me:WORD GET x',
      'http --auth=me:WORD x',
    ],
    ...["httpie -va 'me:WORD x' x", 'http -a me:"WORD x" x', 'http GET https://x/a q==b -a me:WORD', 'http -a :WORD x'],
    ...['http -A bearer -a WORD x', 'xh x -a WORD --auth-type=bearer', 'httpx https://x --auth me WORD'],
    ...['curl -u me:WORD x', 'curl -sSLu me:WORD x', 'curl -sume:WORD x', 'curl -u :WORD x', 'curl -u me:"WORD x" x'],
    ...['curl --user me:WORD x', 'curl -U me:WORD x', 'curl --proxy-user me:WORD x', 'curl -E a.pem:WORD x'],
    ...['curl --cert a.pem:WORD x', "curl -b 'sid=WORD; a=b' x", 'curl --oauth2-bearer WORD x', 'curl --pass WORD x'],
    ...['wget --password=WORD x', 'wget --http-password WORD x', 'wget --ftp-password=WORD x'],
    ...['redis-cli -a WORD ping', 'redis-cli --pass WORD', 'redis-cli -u redis://me:WORD@h', 'valkey-cli -a WORD ping'],
    ...['ldapsearch -x -D cn=a -w WORD -b x', 'ldapsearch -xw WORD', 'ldapmodify -wWORD -f x'],
    ...['mongosh -p WORD h', 'mongosh --password WORD', 'mongosh "mongodb://me:WORD@h/x"', 'mongodump -u a -p WORD'],
    ...['psql postgres://me:WORD@h/x', 'psql "host=h user=me password=WORD"', 'MYSQL_PWD=WORD mysql'],
    ...['mysql -P3306 -pWORD db', "mysqldump -u me -p'WORD' db", 'mysqladmin -u root password WORD'],
    ...[
      'az login -u me -p WORD',
      'az login --service-principal -u x -p=WORD -t y',
      'az sql server create -u a -p WORD',
    ],
    ...[
      'docker login -pWORD h',
      'docker login -u me -p WORD h',
      'oc login -u me -p WORD',
      'helm registry login h -p WORD',
    ],
    ...['gh auth login --with-token <<< WORD', 'echo WORD | gh auth login --with-token', 'sudo -S ls <<< "WORD"'],
    ...[
      'gh secret set X -b WORD',
      'gh secret set X --body=WORD',
      'echo WORD | gh secret set X',
      'gh secret set X <<< WORD',
    ],
    ...['aws configure set aws_secret_access_key WORD', 'aws configure set aws_session_token WORD --profile x'],
    ...['aws ssm put-parameter --name x --value WORD --type SecureString', 'aws rds x --master-user-password WORD'],
    ...['aws secretsmanager create-secret --name x --secret-string WORD', 'az keyvault secret set -n x --value WORD'],
    ...[
      'kubectl create secret generic x --from-literal=password=WORD',
      'kubectl -n a create secret x --from-literal a=WORD',
    ],
    ...['kubectl create secret generic x --from-literal=a=WORD --from-literal=b=WORD --from-literal="c=WORD x"'],
    ...['fly secrets set A=WORD B=WORD', 'doppler secrets set A=WORD', 'vault kv put -mount=kv x a=WORD b=WORD'],
    ...['pulumi config set --secret x WORD', 'pulumi config set x WORD --secret', 'dotnet user-secrets set Db WORD'],
    ...['rabbitmqctl add_user me WORD', 'rabbitmqctl change_password me WORD', 'rabbitmqadmin -u a -p WORD list'],
    ...['useradd -p WORD me', 'usermod -p WORD me', 'openssl passwd -6 WORD', 'openssl passwd -6 -salt ab WORD | cat'],
    ...[
      'keytool -storepass WORD',
      'jarsigner -storepass WORD -keypass WORD a.jar',
      'ssh-keygen -p -P WORD -N WORD -f x',
    ],
    ...['security add-generic-password -a me -s x -w WORD', "ansible-vault encrypt_string 'WORD'"],
    ...['snmpwalk -v3 -A WORD -X WORD h', 'snmpget -v2c -c WORD h', 'sqlcmd -S h -PWORD', 'isql dsn me WORD'],
    ...['twine upload -u me -p WORD dist/x', 'poetry publish -u me -p WORD', 'poetry config pypi-token.pypi WORD'],
    ...[
      'poetry config http-basic.x me WORD',
      'cargo login WORD',
      'wandb login WORD',
      'snyk auth WORD',
      'bw unlock WORD',
    ],
    ...['bw login me@x WORD', 'ngrok authtoken WORD', 'ngrok config add-authtoken WORD', 'nuget push x -ApiKey WORD'],
    ...['dotnet nuget push x -k WORD', 'cloudflared service install WORD', 'tailscale up --authkey=WORD'],
    ...[
      'glab auth login -t WORD',
      'doctl auth init -t WORD',
      'vercel deploy -t WORD',
      'mc alias set m http://h me WORD',
    ],
    ...['yt-dlp -u me -p WORD x', 'beeline -n me -p WORD', 'evil-winrm -i h -u me -p WORD', 'ab -A me:WORD http://h/'],
    ...['hey -a me:WORD http://h/', 'sonar-scanner -Dsonar.login=WORD', 'neo4j-admin dbms set-initial-password WORD'],
    ...['db2 connect to x user me using WORD', 'travis encrypt X=WORD'],
  ])('%s', (line) => {
    const shown = redact(line.replaceAll('WORD', word));
    expect(shown).not.toContain(word);
    expect(shown).toContain('[redacted]');
    expect(redact(shown)).toBe(shown);
  });

  it('what is none of them stays, before and behind one', () => {
    expect(redact('http -v -a me:hunter2 POST x a:=1 && echo done')).toBe(
      'http -v -a me:[redacted] POST x a:=1 && echo done',
    );
    expect(redact('curl -su me:123456 -o out https://x')).toBe('curl -su me:[redacted] -o out https://x');
    expect(redact('ldapsearch -W -b dc=x -w hunter2 "(cn=a)"')).toBe('ldapsearch -W -b dc=x -w [redacted] "(cn=a)"');
  });

  it.each([
    'http -a me example.com X-Schema:a; http --session=s -f POST x name=joe',
    'http x --data a:b; tar -a file; git commit -am "http: fix"',
    'curl -e https://x/y -E cert.pem --cert a.pem -b cookies.txt -o menu:x https://x',
    'curl -sS -X PUT -d @a https://x; curl -Lo a https://x/u:b',
    'kubectl create configmap x --from-literal=color=blue; kubectl create secret generic x --from-file=a=b',
    'mysql -h x -P3306 -P 3306 -p db; ldapsearch -x -W -b dc=x; redis-cli --askpass',
    'docker login -u me h; docker run -p 80:80 login; gh secret list; gh secret set X < file',
    'aws ssm put-parameter --name x --value plain --type String; pulumi config set region eu',
    'ssh-keygen -t ed25519 -N "" -f x; useradd -m me; openssl passwd -stdin; openssl passwd -6',
    'cargo login; wandb login --relogin; bw unlock --raw; snyk auth; poetry config virtualenvs.in-project true',
    'vault kv get x; vault kv put x @data.json; fly secrets list; keytool -list; rabbitmqctl list_users',
    'mkdir -p a/b; yt-dlp -P dir x; twine check dist/x; snmpwalk -v2c h; security find-generic-password -w -s x',
  ])('ordinary: %s', (text) => {
    expect(redact(text)).toBe(text);
  });
});

describe('names', () => {
  it.each(
    'DB_PASS SMTP_PASS SSHPASS pass dbPass ENCRYPTION_KEY RAILS_MASTER_KEY SIGNING_KEY AZURE_STORAGE_KEY STRIPE_KEY DB_CREDS pin CARD_PIN pinCode password_package DB_PW PW PW2 dbPw ROOTPW bindpw MY_JWT CI_JOB_JWT CI_JOB_JWT_V2 jwt SENTRY_DSN mailerDsn DSN ID_RSA SSH_ID_RSA id_ed25519 ID_ECDSA DEPLOY_RSA RSA_PRIVATE MYSQL_PWD DB_PWD TS_AUTHKEY'.split(
      ' ',
    ),
  )('%s holds a secret', (name) => {
    expect(isSecretName(name)).toBe(true);
    expect(scrubEnvironment({ [name]: 'hunter2', HOME: '/x' })).toEqual({ HOME: '/x' });
  });

  it.each(
    'primary_key foreign_key sortKey public_key PUBLIC_KEY key_id SIGNING_KEY_ID signing_key_path issue_key monkey bypass compass passed sacred tokens max_tokens max_token token_count passwordLength AUTH_TOKEN_LIMIT cookie_max_age pinned pin_memory spin pw_name PWSH JWT_ISSUER jwt_algorithm dsn DSN_TIMEOUT RSA_BITS rsa EASY_RSA PUBLIC_RSA SESSION XDG_SESSION_ID TERM_SESSION_ID'.split(
      ' ',
    ),
  )('%s holds none', (name) => {
    expect(isSecretName(name)).toBe(false);
  });

  it('of sessions in an environment only those that let somebody in are taken out', () => {
    const ordinary = {
      ...{ XDG_SESSION_ID: '3', XDG_SESSION_TYPE: 'wayland', XDG_SESSION_CLASS: 'user', DESKTOP_SESSION: 'gnome' },
      ...{ TERM_SESSION_ID: 'w0t0p0:7F9C24E5', ITERM_SESSION_ID: 'w0t0p0:7F9C24E5', SHELL_SESSION_ID: '7f9c24e5' },
      ...{ DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus', SESSION: 'ubuntu', DEBUG: 'pw:api,pw:browser*' },
    };
    expect(scrubEnvironment({ ...ordinary, SESSION_ID: 'a1b2', WEB_SESSION_ID: 'a1b2' })).toEqual(ordinary);
  });

  it('what may be several credentials, or one whose name is cut short, is taken out unless it is a number or a switch', () => {
    const ordinary = { MAX_TOKENS: '4096', USE_PRIVATE: 'true', GOPRIVATE: 'example.com/x', SACRED: 'cow', TOKENS: '' };
    const secret = { API_TOKENS: 'one,two', DEPLOY_PRIVATE: 'hunter2', MYCRED: 'hunter2', DBCREDS: 'me:hunter2' };
    expect(scrubEnvironment({ ...ordinary, ...secret })).toEqual(ordinary);
  });

  it('where a shell is it finds out for itself: by another name of that directory `cd ..` would lead elsewhere', () => {
    expect(scrubEnvironment({ PWD: '/home/me/link', OLDPWD: '/', HOME: '/x' }, ['*'])).toEqual({ HOME: '/x' });
  });
});

describe('laws', () => {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  const word = (min: number, max: number, of = letters) =>
    fc.string({ unit: fc.constantFrom(...Array.from(of)), minLength: min, maxLength: max });
  /** A secret and the text it stands in, by one of the known shapes. */
  const planted = fc.oneof(
    word(20, 60).map((body) => [body, `sk-${body}`]),
    word(20, 60).map((body) => [body, `ghp_${body}`]),
    word(16, 16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789').map((body) => [body, `AKIA${body}`]),
    word(12, 40).map((body) => [body, `xoxb-${body}`]),
    word(16, 60).map((body) => [body, `Bearer ${body}`]),
    word(8, 60).map((body) => [body, `Authorization: Token ${body}`]),
    word(8, 60).map((body) => [body, `https://me:${body}@example.com/x`]),
    word(8, 60).map((body) => [body, `{"client_secret":"${body}"}`]),
    word(8, 60).map((body) => [body, `API_KEY=${body}`]),
    word(8, 60).map((body) => [body, `--password ${body}`]),
    word(8, 60).map((body) => [body, `/x?a=1&access_token=${body}&b=2`]),
    fc.tuple(word(10, 40), word(10, 40)).map(([head, body]) => [body, `eyJ${head}.${body}.${head}`]),
  ) as fc.Arbitrary<[string, string]>;
  const prose = fc.string({ unit: fc.constantFrom('a', 'e', ' ', '\n', '.', 'ü', '😀', '(', '"'), maxLength: 3000 });

  it('no planted credential survives, wherever it stands and wherever the text is cut', () => {
    fc.assert(
      fc.property(prose, planted, prose, fc.integer({ min: 10, max: 2000 }), (before, [secret, text], after, max) => {
        const shown = redactText(`${before} ${text} ${after}`, max);
        // Six characters are more than chance leaves in prose made of "a" and "e".
        expect(shown).not.toContain(secret.slice(0, 6));
        expect(shown.length).toBeLessThanOrEqual(max);
      }),
      { numRuns: 500 },
    );
  });

  it('half a credential at the end of what is looked at is not shown either', () => {
    const shown = redactText(`token=${'x'.repeat(1200)} sk-abcdefghijklmnopqrstuvwxyz and more`, 100);
    expect(shown).not.toContain('abcdef');
  });

  it('a second time changes nothing', () => {
    fc.assert(
      fc.property(prose, planted, (before, [, text]) => {
        const once = redactText(`${before} ${text}`, 8000);
        expect(redactText(once, 8000)).toBe(once);
      }),
    );
  });

  it.each([
    ...['PASSWORD=a"b"', "PASSWORD='a'\\''", 'password is ', '| password ', 'password\t', 'PASSWORD=a,', 'AKIA,a+/'],
    ...['http -a a:', 'kubectl create secret --from-literal=a=b ', 'vault kv put a b=c ', 'openssl passwd a '],
  ])('takes no longer for a text full of: %s', (piece) => {
    const started = performance.now();
    expect(redactText(piece.repeat(1000), 8000)).toBeTypeOf('string');
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it.each(['sk-', 'sk-a1', 'ghp_', 'AKIA', 'hf_hub_', 'Bearer ', 'curl -u a:'])(
    'takes no longer for many of: %s',
    (piece) => {
      const started = performance.now();
      expect(redactEveryToken(piece.repeat(300_000))).toBeTypeOf('string');
      expect(performance.now() - started).toBeLessThan(3000);
    },
  );

  it('takes any text, of any length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 1, max: 500 }), (text, max) => {
        expect(redactText(text.repeat(1000), max).length).toBeLessThanOrEqual(max);
      }),
      { numRuns: 50 },
    );
  });
});
