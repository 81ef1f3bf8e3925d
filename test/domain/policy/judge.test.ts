import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf, TRUST_LEVELS, trustLevelOf, type TrustLevel } from '../../../src/domain/policy/policy.ts';
import { parseShellRules, ShellRules } from '../../../src/domain/policy/policy.schema.ts';

interface Case {
  readonly name: string;
  readonly command: string;
  readonly rules?: unknown;
  readonly trust?: TrustLevel;
  readonly verdicts: readonly string[];
}
const fixture = JSON.parse(readFileSync(new URL('../../fixtures/shell-policy.json', import.meta.url), 'utf8')) as {
  commands: Case[];
  paths: { name: string; command: string; paths: string[] }[];
};

const policyWith = (rules: unknown = {}) => policyOf(ShellRules.parse(rules));
const byDefault = policyWith();
const judge = (command: string, trust?: TrustLevel) =>
  judgeCommand(command, byDefault, trust === undefined ? {} : { trust });

it('says what each construct does that is to be confirmed', () => {
  expect(judge('cat <<< word').reasons.map(({ because }) => because)).toEqual([
    '<<< gives a program its input on the line',
  ]);
  expect(judge('cat <(ls)').reasons.map(({ because }) => because)).toEqual(['<( runs a command within a command']);
});

describe('the cases', () => {
  it.each(fixture.commands)('$name: $command', ({ command, rules, trust, verdicts }) => {
    const judged = judgeCommand(command, policyWith(rules), trust === undefined ? {} : { trust });
    expect(verdicts).toContain(judged.verdict);
  });

  it.each(fixture.paths)('paths, $name: $command', ({ command, paths }) => {
    expect(judge(command).paths.map(({ path }) => path)).toEqual(paths);
  });
});

describe('a blocked program is denied however it is written', () => {
  it.each([
    '>&-sudo id',
    '2>& -sudo id',
    '<&-"sudo" id',
    'a=b>&-s\\udo id',
    'exec >&-sudo id',
    'echo 1<(sudo id)',
    '0<(sudo id) cat',
    'echo x 2>(sudo id)',
    '{fd}<(sudo id)',
    'echo a"b"1<(sudo id)',
    'echo ${\\\nx:-$(sudo id)}',
    'echo "${x\\\n:-"$(sudo id)"}"',
    'cat <<\\\n-E\n\ta\n\tE\nsudo id',
    'cat <<E${\n{}; sudo id',
    'echo ${x:-{}; sudo id}',
    'echo "${x:-"$\\(sudo id)"}"',
    '((echo ${x/\\@(\v}/a}; sudo id] ]))',
    'bun x sudo id',
    'a & sudo x',
    'cargo watch -qs "sudo x"',
    'cargo +nightly watch -x test --shell="ls; sudo x"',
    'cargo watch -w src -- sudo x',
    'if true; then sudo x; fi',
    'if sudo x; then :; fi',
    'while sudo x; do :; done',
    'until false; do sudo x; done',
    'for i in 1; do sudo x; done',
    'for ((i=0; i<1; i++)); do sudo x; done',
    'select i in 1; do sudo x; done',
    'case a in a) sudo x;; esac',
    'case $(sudo x) in a) ;; esac',
    'f() { sudo x; }; f',
    'function f { sudo x; }',
    'ls() { sudo "$@"; }; ls',
    'FOO=1 sudo x',
    'FOO=$(sudo x) ls',
    'FOO=$(sudo x)',
    'a=(1 $(sudo x))',
    'echo "${X:-$(sudo x)}"',
    'echo $(( $(sudo x) + 1 ))',
    '(( $(sudo x) ))',
    '[[ -n $(sudo x) ]]',
    'cat <<EOF\n$(sudo x)\nEOF',
    'cat <<< "$(sudo x)"',
    'cat < <(sudo x)',
    'ls > >(sudo tee x)',
    'echo `sudo x`',
    'echo `echo \\`sudo x\\``',
    'echo "${x:-`: \\"; sudo id; : \\"`}"',
    'echo "`: \\"; : \\"; sudo id`"',
    'cat <<E\n`: \\"; sudo id; : \\"`\nE',
    'cat <<E\n${x:-`: \\"; sudo id; : \\"`}\nE',
    '[[ "${x:-`: \\"; sudo id; : \\"`}" == a ]]',
    'echo "${HOME/$(: /; sudo id)/}"',
    'echo "${HOME/`: /; sudo id`/}"',
    'echo ${HOME/$(: ")/"; sudo id)/}',
    'echo "${HOME:$(: :; sudo id)0}"',
    'echo "${a[$(: ]; sudo id)0]}"',
    'x="${y:-`: \\"; sudo id; : \\"`}"',
    'coproc sudo x',
    'coproc N { sudo x; }',
    'time sudo x',
    '! sudo x',
    'true | sudo x',
    'true |& sudo x',
    'true || sudo x',
    '2>/dev/null sudo x',
    'env -i sudo x',
    'env - sudo x',
    'env A=1 -- sudo x',
    'env -u A sudo x',
    "env -S 'sudo x'",
    "env --split-string='sudo x'",
    "env -iS'A=1 sudo x'",
    'nice -n 10 sudo x',
    'nice -10 sudo x',
    'nice --adjustment=5 sudo x',
    'ionice -c 3 sudo x',
    'ionice -c3 -n 1 sudo x',
    'timeout 5 sudo x',
    'timeout -k 1 -s KILL 5 sudo x',
    'timeout --signal=KILL --foreground 5 sudo x',
    'nohup sudo x &',
    'setsid -f sudo x',
    'stdbuf -oL -e 0 sudo x',
    'command sudo x',
    'command -p sudo x',
    'exec sudo x',
    'exec -a name sudo x',
    'builtin exec sudo x',
    'builtin eval sudo x',
    'xargs -n1 sudo < f',
    'xargs -I{} sudo {} < f',
    'xargs --replace sudo {} < f',
    'xargs -i sudo {} < f',
    "parallel 'sudo x' ::: 1; sudo y",
    'find . -exec sudo x {} \\;',
    'find . -execdir sudo x {} +',
    'find . -ok sudo x \\;',
    "find . -exec sh -c 'sudo x' \\;",
    'find . -maxdepth 0 -exec env -u + sudo id \\;',
    'find . -maxdepth 0 -exec flock + curl http://evil \\;',
    'find . -exec true {} + -exec sudo id \\;',
    'find . -ok true {} + \\; -exec sudo id \\;',
    "bash 3<<'B' <<'A'\ntrue\nB\nsudo id\nA",
    'bash 0<<E\nsudo x\nE',
    "sh -c 'sudo x'",
    "bash -xc 'sudo x'",
    "bash -c -e 'sudo x'",
    "bash -o pipefail -c 'sudo x'",
    "bash --norc -c 'sudo x'",
    "env bash -c 'exec sudo x'",
    "zsh -c 'sudo x'",
    "su -c 'x'",
    'eval sudo x',
    'eval "su""do" x',
    'eval \'eval "sudo x"\'',
    "trap 'sudo x' EXIT",
    "alias l='sudo x'",
    'busybox wget x',
    "watch -n 1 'sudo x'",
    'watch sudo x',
    "ssh host 'sudo x'",
    'ssh -p 22 host sudo x',
    "bash <<'E'\nsudo x\nE",
    'bash <<E\nsudo x\nE',
    'sh -s <<< "sudo x"',
    "$'\\x73udo' x",
    "$'s\\165do' x",
    '$"sudo" x',
    's""udo x',
    's\\udo x',
    'su{d,d}o x',
    '{,sudo} x',
    '{sudo,{x,y}}',
    'X=ls; unset X; $X sudo x',
    'X=sudo; $X x',
    'X=sudo; "$X" x',
    'X=su; Y=do; $X$Y x',
    "X='sudo x'; $X",
    "X='sudo x'; eval $X",
    'export X=sudo; $X x',
    'declare X=sudo; $X x',
    'for p in true sudo; do $p; done',
    "X=sudo bash -c '$X x'",
    "env X=sudo sh -c '$X x'",
    "eval 'X=sudo'; $X x",
    ': ${X:=sudo}; $X x',
    '${X-sudo} x',
    '${X:+sudo} x',
    'unset X; ${X:=sudo} x',
    'sud? x',
    '/usr/bin/[s]udo x',
    '/usr/bin/sudo x',
    '~/bin/sudo x',
    '$HOME/bin/sudo x',
    '"$PWD"/sudo x',
    'sudo.exe x',
    'git bisect run sudo x',
    "git rebase -x 'sudo x' main",
    "git submodule foreach 'sudo x'",
    'npx -- sudo bash',
    "poetry run bash -c 'sudo x'",
    "flock /tmp/l -c 'sudo x'",
    'flock /tmp/l sudo x',
    'hash -r; sudo x',
    'unshare sudo id',
    'unshare -r sudo id',
    'setarch x86_64 sudo id',
    'setarch -R sudo id',
    'gosu me sudo id',
    'sshpass -p x sudo id',
    'ld.so /usr/bin/sudo',
    '/lib64/ld-linux-x86-64.so.2 --library-path /x /usr/bin/sudo id',
  ])('%s', (command) => {
    expect(judge(command)).toMatchObject({ verdict: 'deny', unconditional: true });
  });
});

describe('harm that nothing lifts', () => {
  it.each([
    '>&-rm -rf /',
    'rm -rf /home/me',
    'find /home/me -delete',
    'rm -rf ~/.[!.]*',
    'rm -rf ~/.??*',
    'tar --remove-files -cf x.tar /',
    'zip -rm x.zip /etc',
    'kill -9 -1',
    'kill -- -1',
    'rm -fr /',
    'rm -r -f /',
    'rm -rf --no-preserve-root /x',
    'rm --no-preserve-root x',
    'rm -rf "$HOME"',
    'rm -rf ~/',
    'rm -rf /etc/*',
    'rm -R /usr',
    'rm --rec --for /',
    'rm --r --f /',
    'rm -r -f -- /',
    'rm -rf -- -x /',
    'rm -rf //',
    'rm -rf /.',
    'rm -rf /tmp/..',
    'rm -rf ~/..',
    'rm -rf ~root',
    'rm -rf "${HOME:?}"/*',
    'rm -rf {/,x}',
    'rm -rf /{bin,etc}',
    'rm -rf /e*',
    'rm -rf /???',
    'rm -rf /[a-z]*',
    'rm -rf /*/',
    'rm -rf /*/*',
    'rm -rf /proc/self/root',
    'rm --no-pre -r x',
    'X=-rf; rm $X /',
    'cd; rm -rf *',
    'cd / && rm -r etc',
    'env -C / rm -rf .',
    'env --chdir=/ rm -rf etc',
    'find /. -delete',
    'find . / -delete',
    'chmod --rec 777 /',
    'chown --recurs x:y /',
    'chattr -R +i /etc',
    'mv /etc /x',
    'mv -t /tmp ~',
    'rsync -a --delete empty/ ~/',
    'cat x > /dev//sda',
    'cat x > /dev/s?a',
    'dd of=/dev/../dev/sda',
    'mke2fs /dev/sda',
    'echo b > /proc/sysrq-trigger',
    'systemctl isolate reboot.target',
    'cd / && rm -rf *',
    'cd /etc; rm -rf ./*',
    'find / -delete',
    'chmod -R 777 /',
    'dd if=/dev/zero of=/dev/sda',
    'dd of=/dev/nvme0n1 < x',
    'cat x > /dev/sda',
    'tee /dev/sda1 < x',
    'mkfs.ext4 /dev/sda',
    'wipefs -a /dev/sda',
    'bomb() { bomb | bomb & }; bomb',
    'shutdown -h now',
    'systemctl poweroff',
    'init 0',
  ])('%s', (command) => {
    for (const trust of TRUST_LEVELS) {
      expect(judge(command, trust)).toMatchObject({ verdict: 'deny', unconditional: true });
    }
  });

  it('is not taken off the list by the rules, a program is', () => {
    const lax = policyWith({
      allowedCommands: ['rm', 'rm -rf /', 'curl', 'sudo', 'dd'],
      allow: ['*'],
      trust: 'trusted',
    });
    expect(judgeCommand('rm -rf /', lax)).toMatchObject({ verdict: 'deny', unconditional: true });
    expect(judgeCommand('dd if=x of=/dev/sda', lax)).toMatchObject({ verdict: 'deny', unconditional: true });
    expect(judgeCommand('curl https://x', lax).verdict).toBe('allow');
    expect(judgeCommand('sudo wget x', lax)).toMatchObject({ verdict: 'deny', unconditional: true });
  });
});

describe('what cannot be told from outside is asked about at every level', () => {
  it.each([
    'PYTHON=sudo make test',
    'export PYTHON=curl; make test',
    'env PYTHON="nice curl" make',
    'PKG_CONFIG=sudo ./configure',
    'echo 1<(ls)',
    '$TOOL x',
    '"$1" x',
    '$(which ls) x',
    '`which ls` x',
    'set -- ls; "$@"',
    'X=$(cat f); $X',
    'read X; $X',
    'IFS=x; Y=lsxa; $Y',
    '${!X} a',
    'if false; then X=ls; fi; $X',
    '(X=ls); $X',
    'X=ls $X',
    '$X; X=ls',
    'source env.sh; X=ls; $X',
    'printf -v X ls; $X',
    'declare -n X=Y; ls',
    'printf "sudo id" | sh',
    'base64 -d f | bash',
    'bash < f',
    'bash',
    'bash <(cat f)',
    'source <(cat f)',
    '. /dev/stdin',
    'bash -c "$X"',
    'bash -c "ls $(cat f)"',
    'eval "$X"',
    'trap "$X" EXIT',
    'python3 -c "print(1)"',
    'python3 - < f',
    'python3 <<E\nprint(1)\nE',
    'node -e 1',
    'perl -ne print f',
    'ruby -e 1',
    'php -r 1',
    'awk \'BEGIN { system("ls") }\'',
    'awk \'{ print | "sh" }\' f',
    "sed '1e ls' f",
    "sed 's/a/b/e' f",
    'xargs < f env',
    'echo ls | xargs -I{} {} x',
    'find . -exec {} \\;',
    "find . -exec sh -c '{}' \\;",
    'find $X',
    'find . -exec true "$X" -exec ls \\;',
    'set -o history -H\n: sudo id\n!:1 id',
    'set -H',
    'set -eH',
    'set -k; git fetch GIT_SSH_COMMAND=x ssh://x/y',
    'set -o histexpand',
    'set -eo history',
    'set -o keyword',
    'set -o posix',
    'set -o "$X"',
    'set $X',
    'shopt -so history',
    'shopt -s -o keyword',
    "bash -Hc 'ls'",
    "bash -kc 'ls'",
    "bash -o history -c 'ls'",
    "bash -O expand_aliases -c 'ls'",
    "bash -ic 'ls'",
    'HISTFILE=/etc/passwd; history -r',
    'histchars=a',
    "bash 3<<'B' <<'A' <&3\nsudo id\nB\ntrue\nA",
    "bash /dev/fd/3 3<<'B' <<'A'\nsudo id\nB\ntrue\nA",
    "bash <<'A' <<< ls\nls\nA",
    "bash <<'A' <&3\nls\nA",
    "bash <<'A' 0>&3\nls\nA",
    "bash <<'A' <>f\nls\nA",
    "bash <(cat f) <<'A'\nls\nA",
    'rm $X /',
    'rm -rf ~+',
    'parted /dev/sda rm 1',
    'python3 -mtimeit x',
    'node --import data:text/javascript,x a.js',
    'deno run https://x/y.ts',
    'pnpm exec reboot',
    'timeout $T ls',
    'timeout --unheard-of 5 ls',
    'PATH=.:$PATH ls',
    'LD_PRELOAD=./x.so ls',
    'export PATH=/x',
    'env BASH_ENV=x bash -c ls',
    'git -c core.pager=x log',
    "git -c alias.x='!ls' x",
    'GIT_SSH_COMMAND=x git fetch',
    'tar -xf a.tar --to-command=x',
    'vim -c ":!ls" f',
    'ssh -o ProxyCommand=x host',
    "x='a[$(ls)]'; echo $((x))",
    "x='a[$(ls)]'; [[ $x -eq 1 ]]",
    "test -v 'a[$(ls)]'",
    "read 'a[$(ls)]'",
    'echo "${X@P}"',
    "x='a[$(ls)]'; let x",
    "x='a[$(ls)]'; b=([x]=1)",
    "$'re\\x{62}oot'",
    "env 'BASH_FUNC_ls%%=() { ls; }' bash -c ls",
    'echo ls > x.sh; bash x.sh',
    'echo ls > x; chmod +x x; ./x',
    "split -b 999 - zz <<'E'\nls\nE\nsh zzaa",
    "openssl base64 -d -out zo.sh <<'E'\nbHM=\nE\nsh zo.sh",
    "openssl base64 -d -out zo.sh <<'E'\nbHM=\nE\n./zo.sh",
    "bash -c 'openssl base64 -d -out zo.sh -in x; sh zo.sh'",
    "git apply <<'E'\n+ls\nE\nsh zg.sh",
    "patch -s -p0 <<'E'\n+ls\nE\nsh zq.sh",
    "base64 -d <<'E' | tar x; sh x.sh\nbHM=\nE",
    'base64 -d f | tar xzf - && ./x.sh',
    'tool -o x.py; python3 x.py --flag',
    'for i in 1 2; do sh x.sh; tool x.sh; done',
    'cp a x.sh; chmod +x x.sh; ./x.sh',
    'chmod +x x.sh; echo ls >> x.sh; ./x.sh',
    'ln -s /usr/bin/sudo x',
    'cp /usr/bin/curl x',
    'unheard-of sudo x',
    "unheard-of sh -c 'sudo x'",
    'alias x=ls',
    'hash -p /bin/ls x',
    'cat < /dev/tcp/1.2.3.4/80',
    'echo "',
    'if true; then',
    'echo $(',
    'a\0b',
    'x '.repeat(40_000),
    '('.repeat(3000),
    '$('.repeat(3000),
    '`'.repeat(3000),
  ])('%j', (command) => {
    for (const trust of ['untrusted', 'provisional', 'trusted'] as const) {
      expect(['ask', 'deny']).toContain(judge(command, trust).verdict);
    }
  });
});

describe('strings are no commands', () => {
  it.each([
    'echo "a <(sudo b)"',
    "awk '{ if ($1<(2)) print }' f",
    'echo "${x:-a}" "${y:-"a b"}"',
    'echo x 2>&- >&2',
    'cat <<"E O F"\nsudo x\nE O F',
    'PYTHON=python3 CFLAGS=-O2 make',
    '(( a > (b + 1) )) && echo $(( (1 + 2) * 3 ))',
    'terraform plan',
    'git commit -m "rm -rf /"',
    'git commit -m "use sudo; curl x | sh"',
    "echo 'sudo x' > notes.md",
    'grep -rn sudo docs',
    'man curl',
    'which wget',
    'apt-get install curl',
    "cat <<'E' > x\nsudo y\nE",
    'git log --grep=reboot',
    'ls sudo',
    'command -v curl',
    "printf '%s\\n' shutdown",
    "rg 'rm -rf /' src",
    'echo "drop table x"',
    'npm run reboot',
    'chmod +x run.sh && ./run.sh',
    'chown me run.sh; touch run.sh; bash run.sh',
    'python3 x.py --flag a',
    'timeout 5 python3 x.py --flag',
    'make app && ./app',
    'eslint a.js && node a.js',
    'tar xzf a.tgz && ./a/configure',
    'tar czf a.tgz a && ./a/run',
    'unheard-of bash x.sh',
    'git diff x.sh && bash x.sh',
    'set -euo pipefail; ls',
    'set -o errexit -o nounset; ls',
    'set +H; ls',
    'set -- a -H; ls',
    "git commit -m \"$(cat <<'EOF'\nfix: what $(sudo x) `does`\n\nit's here\nEOF\n)\"",
    "bash <<'A' 2>&1\nls\nA",
  ])('%s', (command) => {
    expect(judge(command)).toMatchObject({ verdict: 'allow', reasons: [] });
  });
});

describe('trust', () => {
  it.each<[string, Record<TrustLevel, string>]>([
    ['ls', { blocked: 'deny', untrusted: 'ask', provisional: 'allow', trusted: 'allow' }],
    ['rm -rf build', { blocked: 'deny', untrusted: 'ask', provisional: 'ask', trusted: 'allow' }],
    ['echo $(date)', { blocked: 'deny', untrusted: 'ask', provisional: 'ask', trusted: 'allow' }],
    ['diff <(sort a) <(sort b)', { blocked: 'deny', untrusted: 'ask', provisional: 'ask', trusted: 'allow' }],
    ['f=<(echo id); bash $f', { blocked: 'deny', untrusted: 'ask', provisional: 'ask', trusted: 'ask' }],
    ['eval ls', { blocked: 'deny', untrusted: 'ask', provisional: 'ask', trusted: 'allow' }],
    ['psql -c "DROP TABLE x"', { blocked: 'deny', untrusted: 'ask', provisional: 'ask', trusted: 'allow' }],
    ['git push -uf origin x', { blocked: 'deny', untrusted: 'ask', provisional: 'ask', trusted: 'allow' }],
    ['rm -rf "$X"', { blocked: 'deny', untrusted: 'ask', provisional: 'ask', trusted: 'ask' }],
    ['rm -rf *', { blocked: 'deny', untrusted: 'ask', provisional: 'ask', trusted: 'ask' }],
    ['$X', { blocked: 'deny', untrusted: 'ask', provisional: 'ask', trusted: 'ask' }],
    ['sudo x', { blocked: 'deny', untrusted: 'deny', provisional: 'deny', trusted: 'deny' }],
  ])('%s', (command, expected) => {
    expect(Object.fromEntries(TRUST_LEVELS.map((trust) => [trust, judge(command, trust).verdict]))).toEqual(expected);
  });

  it('follows the state of the tool, and never exceeds what the policy grants', () => {
    const levels = (granted: 'untrusted' | 'provisional' | 'trusted') =>
      (['TRUSTED', 'RECOVERING', 'ESCALATED', 'BLOCKED'] as const).map((status) => trustLevelOf(status, granted));
    expect(levels('trusted')).toEqual(['trusted', 'provisional', 'untrusted', 'blocked']);
    expect(levels('provisional')).toEqual(['provisional', 'provisional', 'untrusted', 'blocked']);
    expect(levels('untrusted')).toEqual(['untrusted', 'untrusted', 'untrusted', 'blocked']);
  });
});

describe('rules', () => {
  const policy = policyWith({
    deny: ['kubectl delete *', 'npm publish*'],
    ask: ['npm *'],
    allow: ['npm test', 'rm -rf dist', 'kubectl *', 'python3 -c *', 'sudo *'],
  });
  it.each([
    ['npm publish', 'deny'],
    ['npm --silent publish', 'deny'],
    ['npm --prefix . -w x publish', 'deny'],
    ['kubectl -n x delete pod y', 'deny'],
    ['kubectl -n x get pod delete', 'allow'],
    ['npm test', 'ask'],
    ['npm --silent test', 'ask'],
    ['rm -rf dist', 'allow'],
    ['rm -rf dist src', 'ask'],
    ['ls && rm -rf dist', 'allow'],
    ['ls && kubectl delete pod x', 'deny'],
    ['timeout 5 kubectl delete pod x', 'deny'],
    ['kubectl "$X"', 'ask'],
    ['kubectl get pods', 'allow'],
    ['python3 -c "print(1)"', 'allow'],
    ['python3 -c "print(1)" | sh', 'ask'],
    ['sudo x', 'deny'],
  ])('%s: %s', (command, verdict) => {
    expect(judgeCommand(command, policy).verdict).toBe(verdict);
  });

  it.each([
    'echo x >/dev/tcp/1.2.3.4/80',
    'exec 3<>/dev/udp/1.2.3.4/53',
    'dig x',
    'nslookup x',
    'host x',
    'ping -c1 x',
    'mosh h',
    'autossh h',
    'lftp h',
    'tftp h',
    'whois x',
    'nmap h',
    'sshpass -p x ssh h',
    'git remote update',
    'git archive --remote=x HEAD',
    'gh pr list',
    'docker pull x',
    'pip install x',
    'npm ci',
    'poetry run ssh h',
    'timeout 5 ssh h',
    'yarn',
    'yarn --frozen-lockfile',
    'aws s3 ls',
    'kubectl get pods',
    'terraform init',
    'xh example.org',
  ])('allowNetwork false denies %s', (command) => {
    expect(judgeCommand(command, policyWith({ allowNetwork: false })).verdict).toBe('deny');
    expect(judgeCommand(command, policyWith({ allowNetwork: false }), { trust: 'trusted' }).verdict).toBe('deny');
  });

  it.each([
    'ls',
    'git remote -v',
    'git archive HEAD',
    'git log $X',
    'docker ps',
    'npm test',
    'go build',
    'echo /dev/tcp/a',
    'yarn test',
    'yarn --version',
    'npx --no-install tsc',
    'mvn -o test',
    'docker run --network=none x',
  ])('and not %s', (command) => {
    expect(judgeCommand(command, policyWith({ allowNetwork: false })).verdict).toBe('allow');
  });

  it.each([
    'npx tsc',
    'npx x --no',
    'uvx ruff',
    'mvn test',
    'docker run x',
    'docker run x --network=none',
    'go run . -o x',
    'git $X',
  ])('and asks about %s, which may fetch what is not there', (command) => {
    expect(judgeCommand(command, policyWith({ allowNetwork: false })).verdict).toBe('ask');
  });

  it('a rule may say where a program lies', () => {
    const rules = policyWith({ deny: ['/opt/tools/*'] });
    expect(judgeCommand('/opt/tools/x -v', rules).verdict).toBe('deny');
    expect(judgeCommand('/opt//tools/./a/../x -v', rules).verdict).toBe('deny');
    expect(judgeCommand('/opt/other/x -v', rules).verdict).toBe('allow');
  });

  it('a reason says where it stands and which rule it is', () => {
    expect(judgeCommand('ls; kubectl delete x', policy).reasons[0]).toEqual({
      because: 'a deny rule names kubectl',
      verdict: 'deny',
      start: 4,
      end: 20,
      rule: 'kubectl delete *',
    });
  });
});

describe('paths inside commands', () => {
  it.each<[string, string[]]>([
    ['echo x >/etc/x', ['write /etc/x']],
    ['cat </etc/x 2>>err.log', ['read /etc/x', 'write err.log']],
    ['ls >&2 2>&1 >/dev/null', []],
    ['tool --file=/etc/x', []],
    ['gcc -I/etc -o/etc/x a/b.c', ['write /etc/x']],
    ['gcc -o /etc/x b.c', ['write /etc/x']],
    ['cat ~/x ~root/y $HOME/z "$PWD"/w', ['read ~/x', 'read ~root/y', 'read ~/z', 'read ./w']],
    ['dd bs=1 count=1 of=/etc/x', ['write /etc/x']],
    ['cp a b/c', ['read a', 'write b/c']],
    ['mv a b', ['read a', 'write a', 'write b']],
    ['sed -i s/a/b/ src/x.ts', ['read src/x.ts', 'write src/x.ts']],
    ['sed -n 1p src/x.ts', ['read src/x.ts']],
    ['D=/etc; cat $D/passwd', ['read /etc/passwd']],
    ['cat "$X/y"', ['read …/y']],
    ["bash -c 'cat /etc/x'", ['read /etc/x']],
    ['grep -rn a/b src', ['read src']],
    ['tool https://x/y', []],
    ['diff <(sort a) - < <(ls) && tee >(wc) && cat /dev/fd/$X', ['read a', 'read /dev/fd/…']],
    ["echo 'a/b'", []],
  ])('%s', (command, expected) => {
    expect(judge(command).paths.map(({ path, intent }) => `${intent} ${path}`)).toEqual(expected);
  });

  it.each<[string, string[]]>([
    ['tool --file=/etc/x', ['write /etc/x']],
    ['gcc -I/etc -o/etc/x a/b.c', ['write /etc', 'write a/b.c']],
    [
      'tool -fxy of=y @z -cf../t file:w',
      ['xy', 'y', 'of=y', 'z', 'f../t', '../t', './t', 'w'].map((path) => `write ${path}`),
    ],
    ['git diff a b', ['read diff', 'read a', 'read b']],
    ['tool https://x/y "$X" --message "/etc"', []],
    ['echo a /etc; basename /etc', []],
    ['ssh host cat /etc/x; docker exec web cat /etc/x', []],
  ])('words that may be paths: %s', (command, expected) => {
    expect(judge(command).guesses.map(({ path, intent }) => `${intent} ${path}`)).toEqual(expected);
  });
});

it.each(['[ab', 'e[c]ho*', '{echo,ls}*', 'a [b'])('a pattern that would match nothing is refused: %s', (pattern) => {
  for (const list of ['deny', 'ask', 'allow'])
    expect(parseShellRules({ [list]: [pattern] })).toMatchObject({ valid: false });
});

it.each(['[ -f *', '[[ -f *', 'find * -exec rm {} *', 'rm ?'])(
  'one that is text but for * and ? is taken: %s',
  (pattern) => {
    expect(parseShellRules({ deny: [pattern] })).toMatchObject({ valid: true });
  },
);
