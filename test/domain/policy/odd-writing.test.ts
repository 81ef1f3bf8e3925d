import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

const policy = policyOf(ShellRules.parse({}));
const verdict = (line: string) => judgeCommand(line, policy, { trust: 'trusted' }).verdict;

describe('what hardly anybody writes asks, also where nothing hides in it', () => {
  it.each([
    'x=a; echo $x{b,c}',
    'echo ${x:-{}b}',
    'echo $"hello"',
    'ls !(a|b)',
    'x=a; echo $x$',
    'echo [$x]',
    'echo $[1+1]',
    'echo "$[1+1]"',
    'ls ~-',
    'ls ~2/x',
    'echo "${x:-\'a\'}"',
    'cat <<E\n${x:-"it\'s"}\nE',
    "cat <<'$x'\na\n$x",
    'cat <<-E\ncat <<F\nE\nF\nE',
    'echo $(cat <<E)\na\nE',
    'cat <<E\na',
    'echo a\\\nb',
    '[\\\n[ a ]]',
    'coproc cat',
    'select x in a b; do echo $x; done',
    'a.b() { :; }',
    'echo \u0007',
    'bash +c ls',
    'bash -norc x.sh',
    'sh -o stdin x',
    'bash --posix x.sh',
    'bash -O extglob -c ls',
    'shopt -s extglob; ls',
    'set -o posix; ls',
    'exec -l bash x.sh',
    'exec < x; ls',
    'declare -l x=A; ls',
    'declare -a "x=(a)"; ls',
    'printf -v a -v b x; ls',
    'eval "ls $x"',
    'bash <<E\nls $HOME\nE',
    'f=x.sh; bash $f',
    'timeout $x ls',
    'xargs -E -I ls',
  ])('%j', (line) => {
    expect(verdict(line)).toBe('ask');
  });
});

describe('what people write runs', () => {
  it.each([
    'echo {a,b}{1..3} "$x"{,}',
    'mv "$f" "${f%.txt}.md"',
    'echo "${x:-$HOME/a}" ${y:-1} "${z:-"a b"}" ${#x} ${x^^}',
    'echo "${x//\\//-}" "${x/ /_}" "${x#*/}" "${x##*/}" "${x:0:3}"',
    'grep "^a$" b; grep -E "a$|b$" c',
    'ls ~/x ~ ~root',
    'for i in "${a[@]}"; do echo "${a[0]}" "${#a[@]}"; done',
    "cat <<'E O F'\na\nE O F",
    'cat <<-E\n\ta\n\tE',
    'docker run \\\n  -it \\\n  x',
    "sed '1i\\\nhello' f",
    'set -euo pipefail; ls; set +e',
    'set -x; shopt -s nullglob; ls',
    'bash -eu -o pipefail x.sh',
    'bash -lc ls',
    'exec > log 2>&1; ls',
    'exec 3> x; echo a >&3',
    'declare -A m; declare -r x=1; export -f f; local y="$x"',
    'printf -v a %s b; echo "$a"',
    'timeout 5 ls; nice -n 10 ls; xargs -n 1 ls < x',
    'x=1; [[ $x -gt 0 ]] && echo $((x + 1))',
    'build() { npm run build; }; build',
  ])('%j', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});
