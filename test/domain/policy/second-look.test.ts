import { describe, expect, it } from 'vitest';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';
import { secondLook } from '../../../src/domain/policy/second-look/second-look.ts';

const strict = policyOf(ShellRules.parse({ blockedCommands: ['fmt*', 'c++'] }));
const nameIn = (line: string) => secondLook(line, strict)?.rule;

describe('a blocked name counts wherever it is not plainly said, whatever is made of the line', () => {
  it.each([
    ["x='a[$(sudo id)]'; ((x))", 'sudo'],
    ["declare 'x[$(sudo id)]=1'", 'sudo'],
    ['for x in git curl; do $x --version; done', 'curl'],
    ['x=(sudo id); "${x[@]}"', 'sudo'],
    ["[[ 'a[$(sudo id)]' -eq 0 ]]", 'sudo'],
    ['[[ -v a[$(sudo)] ]]', 'sudo'],
    ['(( a[$(sudo id)] ))', 'sudo'],
    ['for ((i=a[$(sudo id)]; i<1; i++)); do :; done', 'sudo'],
    ["x='su\\do id'", 'sudo'],
    ["x='s$(:)udo id'", 'sudo'],
    ["x='s$(echo $(:))udo id'", 'sudo'],
    ["x='$(s$()udo)'", 'sudo'],
    ["x='s``udo id'", 'sudo'],
    ['env A=1 sudo id', 'sudo'],
    ["printf 's%sdo id' u", 'sudo'],
    ["printf '%s%s id' su do", 'sudo'],
    ["printf '%c%s' s udo", 'sudo'],
    ['echo -n s; echo udo', 'sudo'],
    ["printf '%b' '\\x73' > f; echo udo >> f", 'sudo'],
    ["x=$'\\x73udo id'", 'sudo'],
    ["x=$'\\163udo id'", 'sudo'],
    ["x=$'\\u0073udo id'", 'sudo'],
    ['x=su""do', 'sudo'],
    ["x='cu$@rl x'", 'curl'],
    ['x=cu${none}rl', 'curl'],
    ['x=/usr/bin/sudo', 'sudo'],
    ['X=SUDO', 'sudo'],
    ["unheard-of 'sudo id'", 'sudo'],
    ['env unheard-of sudo', 'sudo'],
    ['make CC=sudo', 'sudo'],
    ["sh -c 'unheard-of sudo'", 'sudo'],
    ['bash -c "$(cat x)" sudo', 'sudo'],
    ['echo sudo id | unheard-of', 'sudo'],
    ['echo sudo id | cat | unheard-of', 'sudo'],
    ['cat <<E | unheard-of\nsudo id\nE', 'sudo'],
    ['unheard-of <<E\nsudo id\nE', 'sudo'],
    ["unheard-of <<< 'sudo id'", 'sudo'],
    ['echo "$(unheard-of sudo)"', 'sudo'],
    ['echo "${x:-$(unheard-of sudo)}"', 'sudo'],
    ['echo $((a[$(sudo)]))', 'sudo'],
    ['cat <<E\n$(unheard-of sudo)\nE', 'sudo'],
    ['echo a > "$(unheard-of sudo)"', 'sudo'],
    ['echo `unheard-of sudo`', 'sudo'],
    ["git config alias.x '!sudo id'", 'sudo'],
    ["git -c alias.log='!sudo id' log", 'sudo'],
    ['npm config set call sudo', 'sudo'],
    ['npm run env -- sudo', 'sudo'],
    ["sed '1e sudo id' x", 'sudo'],
    ["sed 's/a/sudo id/e' x", 'sudo'],
    ["sed 's/a/b/;1e sudo /p' x", 'sudo'],
    ["sed -e 's/a/b/' -e '1e sudo id' x", 'sudo'],
    ["awk -f x '/sudo id/'", 'sudo'],
    ["echo 'sudo id' > x; sh x", 'sudo'],
    ["printf 'sudo\\n' | unheard-of", 'sudo'],
    ["mkdir 'a;sudo id'", 'sudo'],
    ['awk \'BEGIN { system("sudo id") }\'', 'sudo'],
    ['find . -exec sudo id ;', 'sudo'],
    ['printf -v x sudo', 'sudo'],
    ['cp /usr/bin/sudo x', 'sudo'],
    ['X=sudo echo', 'sudo'],
    ['x=mkfs.ext4', 'mkfs.ext4'],
    ['x=fmt9', 'fmt9'],
    ['x=c++', 'c++'],
  ])('%s', (line, name) => {
    expect(nameIn(line)).toBe(name);
  });
});

it('finds nothing where nothing is blocked', () => {
  const { blocked } = policyOf(ShellRules.parse({}));
  const allowedCommands = blocked.map(({ text }) => text);
  const policy = policyOf(ShellRules.parse({ allowedCommands }));
  expect(policy.blockedPrograms.size).toBe(0);
  expect(secondLook('x=sudo; y', policy)).toBeUndefined();
});

describe('words are said', () => {
  it.each([
    'ls # sudo x',
    "echo 'a; sudo b'",
    'echo sudo | grep su | cat',
    'grep -rn sudo docs && npm test',
    'timeout 5 grep sudo x',
    "git commit -m 'no more curl'",
    "unheard-of -m 'no more curl'",
    'npm run reboot',
    'which curl || echo "curl is not installed"',
    'if command -v curl >/dev/null; then echo yes; fi',
    "bash -lc 'command -v curl'",
    "bash -c 'echo sudo'",
    "cat > README.md <<'E'\nsudo make install\nE",
    'cat > README.md <<E\nsudo make install\nE',
    "sed -i 's/curl/fetch/g' README.md",
    "sed -n '/sudo/p' x",
    "awk '/sudo/ { print $1 }' x",
    'find . -name curl',
    'case $x in sudo) echo no;; esac',
    '[[ $x == sudo ]]',
    '[ "$x" = sudo ]',
    'docker exec web curl -f localhost',
    'ls curl.md src/curl/index.ts sudo-rules su2 x.su pseudo',
    "echo 'x' # $(sudo id)",
  ])('%s', (line) => {
    expect(nameIn(line)).toBeUndefined();
  });
});

describe('a text that reads as code counts wherever it may be run', () => {
  it.each([
    "unheard-of --then '$(f)do id'",
    "unheard-of 'x | sh'",
    "unheard-of '$X id'",
    "unheard-of --run='`f` id'",
    "unheard-of -c 'python3 -c x'",
    'unheard-of /usr/bin/s?do',
    'unheard-of ../bin/sud? id',
    'unheard-of /usr/bin/*',
    `unheard-of 'exec("su" . "do")'`,
    `unheard-of 's{u,}do id'`,
    "X='$(f) id'; unheard-of",
    "export X='$Y id'",
    "printf '$X id' > f; unheard-of f",
    "unheard-of <<'E'\n$X id\nE",
    "echo '$X id' | unheard-of",
    "make x 'Y=a;s${X}o'",
    'unheard-of -xsudo',
  ])('%j', (line) => {
    expect(secondLook(line, strict)).toBeDefined();
  });

  it.each([
    "awk '{ print $1 }' x | sort",
    "sed 's/$x/y/' f",
    "jq '.a | .b' x.json",
    "grep -E '(a|b)$' x",
    "git commit -m 'what $X is | was'",
    "unheard-of -m 'costs $5'",
    "unheard-of 'src/**/*.{js,ts}'",
    'unheard-of \'{"a": [1, 2]}\'',
    "unheard-of 'a b' \"it's\"",
    "echo '$X id'",
    "find . -name '*.ts' -not -path '*/node_modules/*'",
    "bash -c 'for f in *; do echo $f; done'",
    "docker exec x sh -c 'echo $HOME'",
    'unheard-of src/*.ts dist/*',
  ])('%j does not', (line) => {
    expect(secondLook(line, strict)).toBeUndefined();
  });
});
