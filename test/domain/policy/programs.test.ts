import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

const policy = policyOf(ShellRules.parse({}));
const verdicts = (command: string) =>
  (['provisional', 'trusted'] as const).map((trust) => judgeCommand(command, policy, { trust }).verdict);

/** `reboot` is blocked; wherever a program is told to run it, it is as if it stood there alone. */
describe('a blocked program that another one is told to run is denied', () => {
  it.each([
    'git -c core.pager=reboot log',
    'git -ccore.pager=reboot log',
    "git -c alias.x='!reboot' x",
    'git -c core.sshCommand=reboot fetch',
    'git -c diff.external=reboot diff',
    'git -c interactive.diffFilter=reboot add -p',
    "git -c submodule.x.update='!reboot' submodule update",
    'git clone -u reboot x',
    'git clone -qureboot x',
    'git clone --upload-p reboot x',
    'git clone -c core.fsmonitor=reboot x',
    'git clone --config core.fsmonitor=reboot x',
    "git clone 'ext::sh -c reboot'",
    'git fetch --upload-pack=reboot',
    'git push --receive-pack reboot o',
    'git archive --exec reboot --remote x',
    'git grep -Oreboot x',
    'git grep --open=reboot x',
    'git rebase --ex reboot main',
    "git config alias.x '!reboot'",
    'git config set --global core.pager reboot',
    'GIT_SSH_COMMAND=reboot git fetch',
    'GIT_PAGER=reboot git log',
    "PAGER='sh -c reboot' git log",
    'export EDITOR=reboot; git commit',
    'env VISUAL=reboot git commit',
    'MANPAGER=reboot man ls',
    'CC=reboot make',
    'make CC=reboot',
    'make SHELL=reboot',
    'RUSTC_WRAPPER=reboot cargo build',
    'npm_config_script_shell=reboot npm test',
    'rpm --pipe reboot -qa',
    'tar xf x --to-com reboot',
    'tar -I reboot -cf x a',
    'tar --use=reboot -cf x a',
    'tar --rmt-command=reboot -xf x',
    'rsync -ave reboot a b:c',
    'rsync --rsync-p=reboot a b:c',
    'ssh -o ProxyCommand=reboot h',
    'ssh -vo ProxyCommand=reboot h',
    "ssh -o 'proxycommand reboot' h",
    'scp -S reboot a b:c',
    'man -P reboot ls',
    'man --pag reboot ls',
    'bat --pager=reboot f',
    'sort --compress-p=reboot f',
    'fd -x reboot',
    'mysql --pager=reboot',
    'nano -s reboot f',
    'install -s --strip-program=reboot a b',
    'sdiff --diff-program=reboot a b',
    'diff3 --diff-p reboot a b c',
    'rustc -C linker=reboot a.rs',
    'rustc -Clinker=reboot a.rs',
    'cargo rustc -- -C linker=reboot',
    'go build -ldflags=-extld=reboot',
    "go build -ldflags '-s -extld reboot'",
    'cmake --build . -- SHELL=reboot',
    'bazel run --run_under=reboot //x',
    "bazel run --run_under='reboot -n' //x",
    'helm install --post-renderer=reboot x y',
    "hg --config alias.x='!reboot' x",
    "hg --config=alias.x='!reboot' x",
    'svn diff --diff-cmd=reboot',
    'npm config set script-shell reboot',
    'npm config set script-shell=reboot',
    "psql -c 'select 1' -o '|reboot'",
    "psql -c 'select 1' '-qo|reboot'",
    "duckdb -c '.sh reboot'",
    "concurrently npm:watch 'reboot now'",
    "ansible all -m shell -a 'reboot now'",
    "latexmk -pdflatex='reboot %O' x.tex",
  ])('%s', (command) => {
    expect(verdicts(command)).toEqual(['deny', 'deny']);
  });
});

describe('what a program may run that nobody can tell asks, also at full trust', () => {
  it.each([
    'git -c protocol.ext.allow=always fetch',
    'git -c unheard.of=1 fetch',
    'git --exec-path=/x log',
    'git init --template=/x',
    'git send-email --to-cmd=x',
    'git hook run x',
    'git merge-index x -a',
    'git config --global include.path /x',
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager git log',
    'GIT_TEMPLATE_DIR=/x git init',
    'HOME=/x git log',
    'XDG_CONFIG_HOME=/x git log',
    "LESS='+!x' less f",
    "VIMINIT=':!x' vim f",
    'LUA_INIT=x lua x.lua',
    'MAKEFILES=/x make',
    'GOFLAGS=-toolexec=x go build',
    'go build -toolexec=x',
    'PYTHONBREAKPOINT=os.system python3 a.py',
    'CLASSPATH=/x java X',
    "rpm --eval '%(x)'",
    "rpm -E '%(x)'",
    "sqlite3 x.db '.shell x'",
    "sqlite3 -cmd '.shell x' x.db",
    "echo '.shell x' | sqlite3",
    "sqlite3 x.db 'select load_extension(1)'",
    "psql -c '\\! x'",
    'psql -c "copy t to program \'x\'"',
    "mysql -e '\\! x'",
    'tar cf x.tar --checkpoint-act exec=x a',
    'tar cIf x y a',
    'ssh -F x h',
    'ssh -o PKCS11Provider=x h',
    'vimdiff -c :x a b',
    'emacsclient --eval x',
    "less '+!x' f",
    'make -f -',
    'make --file=/dev/stdin',
    'make -f <(echo x)',
    "make --ev='x:;y'",
    'cmake -E env x',
    'cmake -P x.cmake',
    "gnuplot -e 'x'",
    'jrunscript -e x',
    'mongosh --eval x',
    'mongosh',
    "tmux ls -F '#(x)'",
    "tmux ls ';' new x",
    'crontab f',
    'screen x',
    'pdflatex -shell-escape x.tex',
    'rake -e x',
    'awk \'BEGIN { print 1 > "/etc/x" }\'',
    "sed 'r /etc/shadow' f",
    "sed 's/a/b/w /etc/x' f",
    'sed -f - f',
    "sed --expr '1e x' f",
  ])('%s', (command) => {
    for (const verdict of verdicts(command)) expect(['ask', 'deny']).toContain(verdict);
  });
});

describe('everyday uses of the same programs run', () => {
  it.each([
    'git -c color.ui=never log',
    'git -c core.pager=cat log',
    'git -c user.name=a -c user.email=b@c commit -m x',
    'git config user.email a@b',
    'git config --get core.pager',
    'git config core.pager',
    'git push -u origin main',
    'git commit -c HEAD',
    'git diff --exit-code',
    'GIT_AUTHOR_NAME=a git commit -m x',
    'PAGER=cat git log',
    'GIT_EDITOR=true git rebase --continue',
    'CC=clang make -j4',
    'make CC=gcc test',
    'make -f Makefile.dev all',
    'tar -I zstd -xf x.tar.zst',
    'tar -xzf x.tgz -C dir',
    'ssh -i ~/.ssh/k -o StrictHostKeyChecking=no h uptime',
    "sqlite3 x.db '.tables'",
    "sqlite3 x.db 'select 1'",
    "psql -c '\\dt'",
    'psql -f schema.sql',
    'vim f',
    'less f',
    'rg --pretty x',
    'NODE_ENV=test npm test',
    "awk '$1 > 5 { print $2 }' f",
    'rsync -av --exclude=x a b',
    'sort -k2 f',
    'cmake -B build -S . -DCMAKE_BUILD_TYPE=Release',
    'cmake -DBUILD_TESTING=ON -DCMAKE_C_COMPILER=clang ..',
    'cmake --build build --target install -j8',
    'crontab -l',
    'tmux ls',
    'less +F log',
    'less +/word log',
    'vim +10 f',
    'latexmk -pdf x.tex',
    'npm config set registry https://x',
    "psql -c 'select 1' -o out.txt",
    'while IFS= read -r line; do echo "$line"; done < f',
    'cat My\\ Documents/a',
  ])('%s', (command) => {
    expect(verdicts(command)).toEqual(['allow', 'allow']);
  });
});

describe('the name of a blocked program in an argument asks of whoever may run it, and of nobody else', () => {
  it.each([
    'unheard-of reboot',
    'unheard-of --with=reboot',
    'unheard-of --with=/sbin/reboot',
    "unheard-of --with='reboot now'",
    "unheard-of 'reboot now'",
    "unheard-of -x '!reboot now'",
    'unheard-of -o a=b=reboot',
    'cmake -DCMAKE_C_COMPILER=reboot ..',
    'terraform apply -var=x=reboot',
    'docker run --runtime=reboot x',
  ])('%s', (command) => {
    expect(verdicts(command)).toEqual(['ask', 'ask']);
  });

  it.each([
    "git commit -m 'reboot fix'",
    "git commit --message='reboot fix'",
    "hg commit -m 'reboot fix'",
    "gh pr create --title 'curl is gone'",
    'grep reboot x',
    'grep --include=reboot x',
    "echo 'reboot now' a=reboot",
    'man reboot',
    'apt install sudo',
    'npm install wget',
    "pytest -k 'sudo and not root'",
    'docker run --name=curl x',
    'timeout 5 grep reboot x',
    "ssh h 'man reboot'",
    "unheard-of 'to reboot or not'",
  ])('%s runs', (command) => {
    expect(verdicts(command)).toEqual(['allow', 'allow']);
  });
});

describe('the reason is the right one', () => {
  it.each([
    ['export PATH=$PATH:/x', 'PATH decides what later commands do'],
    ["node <<'E'\nconst x = [1].map((a) => a);\nE", 'node runs code in a language of its own'],
    ["psql <<'E'\nselect count(*) from t;\nE", 'psql runs code in a language of its own'],
  ])('%s', (command, because) => {
    const { reasons } = judgeCommand(command, policy, { trust: 'trusted' });
    expect(new Set(reasons.map((each) => each.because))).toEqual(new Set([because]));
  });
});

it('a variable that is set from itself settles, and what it may name is followed', () => {
  expect(verdicts('export X=$X:a; echo $X')).toEqual(['allow', 'allow']);
  expect(verdicts('export X=sudo; export X=$X; $X id')).toEqual(['deny', 'deny']);
});
