import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

const policy = policyOf(ShellRules.parse({}));
const verdict = (line: string) => judgeCommand(line, policy, { trust: 'trusted' }).verdict;
const asks = (line: string) => {
  expect(verdict(line)).toBe('ask');
};
const runs = (line: string) => {
  expect(verdict(line)).toBe('allow');
};

// `$(x)` says what nobody knows. No line names anything that is blocked: what asks is the way, not the name.

describe('a word that the line makes up as it runs may be an option, or a command', () => {
  it.each([
    `test "$(x)" 'a[1]'`,
    `[ "-$(x)" 'a[1]' ]`,
    `printf "$(x)" 'a[1]' u; echo $((x))`,
    'printf $(x) a; ls',
    'hash "$(x)" y ls; ls',
    'hash "-$(x)" y ls; ls',
    'set "-$(x)"; ls',
    'set "-$(x)" keyword; ls',
    'unset "-$(x)" a',
    'find . -maxdepth 0 "$(x)" sh -c y \\;',
    'find . "$(x)"',
    'sed -n p "$(x)"',
    'y=$(x); sed -n p "$y"',
    'ssh "$(x)" y',
    'i386 "$(x)" id',
    'unheard-of "$(x)"',
    'f(){ unheard-of "$1"; }; f --exec=y',
    'a=(--exec=y); unheard-of "${a[@]}"',
    'printf -v y %s x; unheard-of "$y"',
    'git config $(x); git status',
    'git bisect "$(x)" y',
    'git submodule "$(x)" y',
    'git init -q "$(x)"',
    'git fetch-pack "$(x)" . HEAD',
    'bash -n "$(x)" y',
  ])('%s asks', asks);

  it.each([
    '[ "$(x)" = y ]',
    '[ -n "$(x)" ]',
    'printf "%s\\n" "$(x)"',
    'echo "$(x)"',
    'mkdir -p "$(x)"',
    'export X="$(x)"',
    'git commit -m "$(x)"',
    'git checkout "$(git rev-parse HEAD~1)"',
    'git diff $(git merge-base main HEAD)',
    'make -j$(nproc)',
    'docker build -t app:$(git rev-parse --short HEAD) .',
    'tar czf backup-$(date +%F).tgz src',
    'python3 script.py "$(x)"',
  ])('%s does not', runs);
});

describe('what says a number is one pipeline that does, and a date begins with one', () => {
  it.each([
    'echo $(( $(cat f || : | wc -l) ))',
    'echo $(( $(cat f\n: | wc -l) ))',
    'echo $(( $(wc -l < /dev/null\ncat f) ))',
    'echo $(( $(cat f # | wc -l\n) ))',
    'echo $(( $(cat f \\| wc -l) ))',
    `echo $(( $(cat f ' | wc -l) ') ))`,
    'y=$(cat f || echo a | grep -c a); (( y > 1 ))',
    'nproc(){ cat f; }; make -j$(nproc)',
    'make $(date +..)',
  ])('%j asks', asks);

  it.each(['echo $(( $(ls | grep -v x | wc -l) + 1 ))', 'n=$(grep -c a f.txt | wc -l); (( n > 1 ))'])(
    '%s does not',
    runs,
  );
});

describe("what decides how a line is read, by whichever of bash's ways it is set", () => {
  it.each([
    '((IFS=3)); ls',
    'let IFS=3; ls',
    ': $((PATH=1)); ls',
    'for ((IFS=3;IFS<3;)); do :; done; ls',
    'a=(1); : ${a[IFS=0]}; ls',
    'y=abc; : ${y:IFS=1}; ls',
    '[[ IFS=3 -eq 3 ]]; ls',
    '((PATH++)); ls',
    'exec {IFS}>f; ls',
    ': {PATH}>f; ls',
    'coproc PATH { ls; }; ls',
    'set +B; env {A=1,echo} x',
    'set +o braceexpand; ls',
    'shopt -uo braceexpand; ls',
    "bash +B -c 'env {A=1,echo} x'",
    "sh -c 'env {A=1,echo} x'",
    'declare -a y; declare "y=$(x)"',
    'read -a y </dev/null; declare "y=$(x)"',
    'mapfile y </dev/null; typeset "y=$(x)"',
    'f(){ local -a y; local "y=$(x)"; }; f',
    "exec -a '/a[1]' bash -c 'echo $((1 $BASH))'",
    'TEXTDOMAINDIR=$PWD TEXTDOMAIN=m bash -c \'echo $"hi"\'',
    'GOCACHEPROG=y go vet errors',
    'touch x.c as; make x.o CFLAGS=-B.',
  ])('%s asks', asks);

  it.each([
    '((i=3)); ls',
    'exec {log}>f; ls',
    'shopt -s nullglob; for f in *.log; do echo "$f"; done',
    'set -o pipefail; ls',
    'f(){ local y="$(x)"; }; f',
  ])('%s does not', runs);

  it.each(["eval -- trap 'curl x' EXIT", 'jobs -x -- curl x', 'set +B; env {A=1,echo} sudo id'])(
    '`--` is no command, and what stands behind it is: %s',
    (line) => {
      expect(verdict(line)).not.toBe('allow');
    },
  );
});

describe('a file whose name the line makes up, or does not say, may be any', () => {
  it.each([
    'echo x y | xargs cp; sh y',
    'cp $(x); sh y',
    'a=(x y); cp "${a[@]}"; sh y',
    'echo x y | xargs uniq; sh y',
    'uniq $(x); sh y',
    'shuf $(x); sh y',
    'iconv "$(x)" z; sh y',
    'cp $(x); npm test',
    'cp $(x); git commit -m x',
    'git log --format=%s "$(x)"; sh y',
    'git merge-file y b o; sh y',
    "git interpret-trailers --in-place --trailer 'a:b' y; sh y",
    'git bundle create y --all; sh y',
    'git init --bare y; sh y/config',
    'npm config set init-author-name=x; . ~/.npmrc',
    'touch -- "$(x)"; tar cf a.tar *',
    'touch x.c; gcc -MM -MF y x.c; sh y',
    'echo a > y.c; gcc -shared -o y.so y.c; nm --plugin ./y.so y.so',
    'echo a > y.c; gcc -shared -o json.so y.c; python3 -m json.tool /dev/null',
    'printf a | tee {1..2}; sh 2',
    'for i in {1..3}; do echo a > f$i; done; sh f2',
    'printf a | tee f{01..03}; sh f02',
    'printf a > ~/.a/$(x); PATH=~/.a:$PATH; foo',
    'cp x node_modules/.bin/eslint; export PATH="$PWD/node_modules/.bin:$PATH"; eslint src',
    "touch 'a -e1ex'; find . | xargs sed -n p",
    'touch "a$(x)"; find . | xargs sed -n p',
  ])('%s asks', asks);

  it.each([
    'git log $RANGE',
    'cp a b && npm test',
    'for i in {1..3}; do echo a > f$i; done; npm test',
    'for i in {1..100}; do npm test; done',
    'for f in *.png; do mv "$f" "${f%.png}.jpg"; done',
    'source ~/.bashrc; npm test',
    'export PATH="$PWD/node_modules/.bin:$PATH"; eslint src',
    'export PATH="$HOME/.cargo/bin:$PATH"; cargo build',
  ])('%s does not', runs);
});

describe('names of files that were found are no options', () => {
  it.each([
    "grep -rl a src | xargs sed -i 's/a/b/g'",
    "find . -name '*.ts' | grep -v test | xargs sed -i 's/a/b/'",
    "find src -name '*.ts' -print0 | xargs -0 sed -i 's/a/b/'",
    "find . -name '*.sh' -exec bash -n {} \\;",
    'node --test test/*.test.js',
  ])('%s runs', runs);

  it.each([
    "find . -printf '-e1ex\\n' | xargs sed -n p",
    "find . | grep -o 'x' | xargs sed -n p",
    'find "$D" | xargs sed -i \'s/a/b/\'',
    "grep -l a * | xargs sed -i 's/a/b/'",
    'find(){ echo -e1ex; }; find . | xargs sed -n p',
    'node *.js',
    'echo a > test/a.test.js; node --test test/*.test.js',
  ])('%s asks', asks);
});

describe('whatever way a line makes a word', () => {
  it.each([
    "read y <<< -v; test $y 'a[1]'",
    ": -v; test $_ 'a[1]'",
    'y=_-v; test "${y#_}" \'a[1]\'',
    'set -- -v \'a[1]\'; test "$@"',
    'f(){ test "$@"; }; f -v \'a[1]\'',
    'b=(-v \'a[1]\'); test "${b[@]}"',
    'y=_-p; hash "${y#_}" z ls; ls',
    'read y < f; trap $y',
    'y=_-exec; find . -maxdepth 0 "${y#_}" sh -c z \\;',
    'y=_-oz; shuf "${y#_}" f; sh z',
    'y=s_z; i386 "${y/_/}"',
    'y=_-e1ez; sed -n p "${y/_}"',
    'y=_F; export "I${y#_}S=_"; ls',
    'echo | xargs -P2 --process-slot-var=BASH_ENV bash -c :',
    'set -oo errexit keyword; ls',
    'touch keyword; set -o key[w]ord; ls',
    'shopt -so key[w]ord; ls',
  ])('%s asks', asks);

  it.each([
    'for f in *.md; do wc -l "${f%.md}.txt"; done',
    'x=a.tar.gz; echo "${x%.gz}"',
    'while read -r f; do cat "$f"; done < list.txt',
    '[ $# -gt 0 ] && echo yes',
    '[ -f *.txt ]',
    'set -euo pipefail; npm test',
  ])('%s does not', runs);
});

describe('a number that may be none leaves no word, and what is no number is not counted with', () => {
  it.each([
    "bash $! -c 'sudo id'",
    'bash $COLUMNS -c "$z"',
    'echo z > y; bash $(wc -l < nofile) y',
    'echo z > y; sh $! y',
    'n=$!; echo z > y; bash $n y',
    "trap $LINES 'z' EXIT",
    "printf $! -v x %s 'a[1]'; echo $((x))",
    "HEAD='a[1]'; x=$(git rev-parse HEAD); echo $((x))",
    "x=$(echo 'a[1]' 2>| wc -l); echo $((x))",
    "a[$'b\\44']=1",
    "echo ${a[$'b\\44']}",
    "echo ${x:$'b\\44'}",
    "((x$'b\\44'))",
    'x=1; echo $(( ${x/1/b} ))',
    '[[ ${HOME/*/b} -gt 0 ]]',
    'printf a | xargs touch; for x in a*; do let x; done',
  ])('%s asks', (line) => {
    expect(verdict(line)).not.toBe('allow');
  });

  it.each(['x=3; echo $((x+1))', 'echo $(( ${x:-0} + 1 ))', 'a=(1 2); echo ${a[0]}', 'x=abc; echo ${x:0:2}'])(
    '%s does not',
    runs,
  );
});

describe('where streams are, and where one is', () => {
  it.each([
    'printf z | (cd /de?/fd; . ./0)',
    'printf z | (cd /de?; sh stdin)',
    'ln -s /de[v] d; printf z | sh d/stdin',
    "mkdir 'x y'; cd 'x y'; bash $PWD",
    "mkdir 'x y'; cd 'x y'; $PWD",
  ])('%s asks', asks);
});

describe('what only looks like names that were found', () => {
  it.each([
    'find . | head f | xargs cp; sh y',
    'find . | tail -n1 < f | xargs cp; sh y',
    'sort(){ echo x y; }; find . | sort | xargs cp; sh y',
    "o=-printf; find . -maxdepth 0 $o 'x y' | xargs cp; sh y",
    'grep -rhe -l f | xargs cp; sh y',
    "touch 'x y'; find 'x y' | xargs cp; sh y",
    'touch +n; echo z > y; bash -n *',
    'touch +n; echo z > y; find +n y -exec bash -n {} +',
  ])('%s asks', asks);
});
