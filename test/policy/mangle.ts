import type { Random } from './generate.ts';

/** One line for every way in which bash reads words, each of which runs a blocked program or only says its name. */
const LINES = [
  'echo a; sudo id',
  '{ sudo id; }',
  '( sudo id )',
  'true && sudo id || sudo id',
  'echo a | sudo id & wait',
  'if true; then sudo id; fi',
  'for x in a b; do sudo id; done',
  'case x in (x) sudo id;; esac',
  'f() { sudo id; }; f',
  '[[ a == a ]] && sudo id',
  '(( 1 + 2 )) && sudo id',
  'echo $(( 1 + 2 )); sudo id',
  'x=(a b); sudo id',
  'a[1]=2 sudo id',
  'echo a # b\nsudo id',
  'echo a \\\n b; sudo id',
  'echo "$(sudo id)"',
  'echo `sudo id`',
  'echo "${x:-$(sudo id)}"',
  'echo ${x/a/b} ${#x} ${x%a}; sudo id',
  'echo <(sudo id)',
  'echo a >b 2>&1; sudo id',
  'cat <<E\n$(sudo id)\nE\n',
  "cat <<'E'\n$(sudo id)\nE\nsudo id",
  'cat <<-E\n\ta\n\tE\nsudo id',
  'sh <<< "sudo id"',
  "echo $'a\\'b' 'sudo id'",
  'echo "a; sudo id"',
  "trap 'sudo id' EXIT",
  'eval "sudo id"',
];
/** What words, quotes, expansions and commands begin and end with. */
const PIECES = [
  ...`" ' \\ \` $ $( \${ $(( (( )) ( ) { } [ ] [[ ]] ; ;; & && | || ! # < > << <<- <<< >& <& &> >| <( >( $' $"`.split(
    ' ',
  ),
  ...['\n', '\\\n', ' ', '\t', '{ ', '; }', ' #', '2>&1', '>&-', '<<E\n', '\nE\n', '{fd}>', '0<', '\v', '\r', '\u00a0'],
  ...'${x:- ${x/ ${x# $x $@ $* $# @( +( ?( !( a[ x= x=( x+=( == =~ {a,b} {1..3} ~ * ? - E 1 a'.split(' '),
  ...'if then fi else for in do done while case esac function select coproc time eval exec command . echo'
    .split(' ')
    .map((word) => `${word} `),
];

/** A line with up to five pieces put in or letters taken out, somewhere: hardly any is sensible, and some still run. */
export function mangledFrom(random: Random): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  let line = pick(LINES);
  for (let left = 1 + Math.floor(random() * 5); left > 0; left -= 1) {
    const at = Math.floor(random() * (line.length + 1));
    const [before, after] = [line.slice(0, at), line.slice(at)];
    const way = random();
    if (way < 0.6) line = `${before}${pick(PIECES)}${after}`;
    else if (way < 0.75) line = `${before}${after.slice(1 + Math.floor(random() * 3))}`;
    else if (way < 0.9) line = `${line}${pick(['; ', '\n', ' ', ' && ', ''])}${pick(LINES)}`;
    else line = `${pick(PIECES)}${line}${pick(PIECES)}`;
  }
  return line;
}
