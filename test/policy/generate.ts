import {
  composedForms,
  evaluatedForms,
  floodForms,
  inputForms,
  madeForms,
  optionForms,
  spokenForms,
  streamForms,
  wrapperForms,
} from './option-forms.ts';

/**
 * Commands as somebody would write them who wants a blocked program to run unseen. Knows bash, and nothing of our parser:
 * it only puts text together. Whether the program really runs is for a real bash to say.
 */
export type Random = () => number;

/** Small and seeded, so that a failure can be run again. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const BLOCKED = [
  'sudo',
  'doas',
  'su',
  'curl',
  'wget',
  'nc',
  'ncat',
  'netcat',
  'mkfs',
  'shutdown',
  'reboot',
  'halt',
];
export const HARMLESS = ['true', 'date', 'ls', 'id', 'hello', 'build'];

export function commandFrom(random: Random): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const chance = (share: number): boolean => random() < share;
  let names = 0;
  const fresh = (prefix: string): string => `${prefix}${(names += 1)}`;
  const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const double = (text: string): string => `"${text.replace(/[\\"$`]/g, '\\$&')}"`;
  const quoted = (text: string): string => (chance(0.7) ? single(text) : double(text));

  /** One word, written in one of the many ways the shell reads back as the same. */
  const disguise = (word: string): string => {
    const at = 1 + Math.floor(random() * (word.length - 1));
    const [left, right] = [word.slice(0, at), word.slice(at)];
    const octal = (text: string) =>
      Array.from(text)
        .map((c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`)
        .join('');
    const hex = (text: string) =>
      Array.from(text)
        .map((c) => `\\x${c.charCodeAt(0).toString(16)}`)
        .join('');
    switch (Math.floor(random() * 31)) {
      case 0:
        return single(word);
      case 1:
        return double(word);
      case 2:
        return `${left}\\${right}`;
      case 3:
        return `${left}""${right}`;
      case 4:
        return `${left}''${right}`;
      case 5:
        return `'${left}'"${right}"`;
      case 6:
        return `$'${hex(word)}'`;
      case 7:
        return `${left}$'${octal(right)}'`;
      case 8:
        return `$"${word}"`;
      case 9:
        return `${left}\\\n${right}`;
      case 10:
        return `\${${fresh('none')}:-${word}}`;
      case 11:
        return `\${${fresh('none')}-${left}}${right}`;
      case 12:
        return `${left}\${${fresh('none')}}${right}`;
      case 13:
        return `${left}$@${right}`;
      case 14:
        return `$(echo ${word})`;
      case 15:
        return `\`printf %s ${word}\``;
      case 16:
        return `$SHIMS/${word}`;
      case 17:
        return `$SHIMS/${left}*`;
      case 18:
        return `"$SHIMS"/${word.slice(0, -1)}?`;
      case 19:
        return `$SHIMS/[${word.charAt(0)}]${word.slice(1)}`;
      case 20:
        return `${left}{${right},}`;
      case 21:
        return `\${HOME:+${word}}`;
      case 22:
        return `$(tr A-Z a-z <<< ${word.toUpperCase()})`;
      case 23:
        return `$(rev <<< ${Array.from(word).reverse().join('')})`;
      case 24:
        return `$'\\x{${word.charCodeAt(0).toString(16)}}${word.slice(1)}'`;
      case 25:
        return `${left}$'\\u00${right.charCodeAt(0).toString(16)}${right.slice(1)}'`;
      case 26:
        return `${left}$(:)${right}`;
      case 27:
        return `${left}"\`:\`"${right}`;
      case 28:
        return `${left}\${${fresh('none')}:+x}${right}`;
      default:
        return word;
    }
  };

  const harmless = (): string => pick(['true', ':', 'echo hi', 'hello a b', 'ls', 'X=1', `echo 'a; b'`, 'date']);

  const wrapped = (word: string, args: string): string =>
    pick([
      `env ${word}${args}`,
      `env -i PATH="$PATH" ${word}${args}`,
      `env -u FOO A=1 ${word}${args}`,
      `env -S ${single(word.replace(/[^a-z]/g, '') || 'true')}${args}`,
      `nice ${word}${args}`,
      `nice -n 1 ${word}${args}`,
      `nice -n1 ${word}${args}`,
      `timeout 5 ${word}${args}`,
      `timeout -k 1 -s TERM 5 ${word}${args}`,
      `timeout --signal=TERM 5s ${word}${args}`,
      `timeout --sig TERM 5 ${word}${args}`,
      `nohup ${word}${args}`,
      `stdbuf -oL ${word}${args}`,
      `stdbuf --output=0 -e 0 ${word}${args}`,
      `setsid -w ${word}${args}`,
      `command ${word}${args}`,
      `exec ${word}${args}`,
      `exec -a x ${word}${args}`,
      `builtin command ${word}${args}`,
      `time ${word}${args}`,
      `time -p ${word}${args}`,
      `xargs ${word}${args} </dev/null`,
      `echo a | xargs -n 1 ${word}${args}`,
      `echo a | xargs -I% ${word}${args} %`,
      `echo a | xargs --replace ${word}${args} {}`,
      `echo ${word}${args} | xargs env`,
      `echo ${word} | xargs -I{} {}${args}`,
      `echo ${word} | xargs -i sh -c {}`,
      `find . -maxdepth 0 -exec ${word}${args} {} \\;`,
      `find . -maxdepth 0 -execdir ${word}${args} \\;`,
      `find . -maxdepth 0 -exec ${word}${args} {} +`,
      `find . -maxdepth 0 -exec env ${word}${args} \\;`,
      `2>/dev/null ${word}${args}`,
      `A=1 B=2 ${word}${args}`,
      `A=$(true) ${word}${args}`,
      `! ${word}${args}`,
      ...wrapperForms(word, args),
    ]);

  const indirect = (word: string, args: string): string => {
    const x = fresh('v');
    return pick([
      `${x}=${word}; $${x}${args}`,
      `${x}=${word}; "$${x}"${args}`,
      `${x}=${word} && \${${x}}${args}`,
      `${x}='${word.replaceAll("'", '')}${args}'; $${x}`,
      `export ${x}=${word}; $${x}${args}`,
      `declare ${x}=${word}; $${x}${args}`,
      `readonly ${x}=${word}; $${x}${args}`,
      `if true; then ${x}=${word}; fi; $${x}${args}`,
      `for ${x} in true ${word}; do $${x}${args}; done`,
      `read ${x} <<< ${word}; $${x}${args}`,
      `printf -v ${x} %s ${word}; $${x}${args}`,
      `: \${${x}:=${word}}; $${x}${args}`,
      `${x}=(${word} ${args}); "\${${x}[@]}"`,
      `${x}=${word}; ${x}r=${x}; \${!${x}r}${args}`,
      `declare -n ${x}=${x}t; ${x}t=${word}; $${x}${args}`,
      `${x}=x${word}; \${${x}#x}${args}`,
      `${x}=ls; unset ${x}; $${x} ${word}${args}`,
      `${x}=ls; ${x}=${word}; $${x}${args}`,
      `set -- ${word}${args}; "$@"`,
      `set -- ${word}${args}; $*`,
      `${x}() { "$@"; }; ${x} ${word}${args}`,
      `${x}() { $1; }; ${x} ${word}`,
      `${x}() { ${word}${args}; }; ${x}`,
      `function ${x} { ${word}${args}; }; ${x}`,
      `ls() { ${word}${args}; }; ls`,
      `${x}=${word} bash -c '$${x}${args}'`,
      `env ${x}=${word} sh -c '$${x}${args}'`,
      `bash -c '"$@"' _ ${word}${args}`,
      `bash -c '$0${args}' ${word}`,
      `shopt -s expand_aliases; alias ${x}=${word}\n${x}${args}`,
      `shopt -s expand_aliases; alias ${x}='echo;'\n${x} ${word}${args}`,
      `hash -p "$SHIMS/${word.replace(/[^a-z]/g, '')}" ${x}; ${x}${args}`,
      `IFS=-; ${x}=env-${word}; $${x}${args}`,
      `${x}='a[$(${word}${args} >&2)]'; echo $((${x}))`,
      `${x}='a[$(${word}${args} >&2)]'; [[ $${x} -eq 0 ]]`,
      `${x}='$(${word}${args})'; echo "\${${x}@P}"`,
      `${x}='a[$(${word}${args} >&2)]'; test -v "$${x}"`,
      `read 'a[$(${word}${args} >&2)]' <<< 1`,
      `mapfile -C ${single(`${word}${args};:`)} -c 1 ${x} <<< a`,
      `ln -sf "$SHIMS/${word.replace(/[^a-z]/g, '')}" ${x}; ./${x}${args}`,
      `echo ${single(`${word}${args}`)} > ${x}.sh; bash ${x}.sh`,
      `echo ${single(`${word}${args}`)} > ${x}.sh; . ./${x}.sh`,
      `echo ${single(`${word}${args}`)} | tee ${x}.sh; sh ./${x}.sh`,
      `PATH="$SHIMS:$PATH" ${word}${args}`,
      `: ${word}; $_${args}`,
      `${x}='a[$(${word}${args} >&2)]'; let ${x}`,
      `${x}='b[$(${word}${args} >&2)]'; a=([${x}]=1)`,
      `declare -A ${x}; k='$(${word}${args} >&2)'; [[ -v ${x}[$k] ]]`,
      `env 'BASH_FUNC_${x}%%=() { ${word.replaceAll("'", '')}${args.replaceAll("'", '')}; }' bash -c ${x}`,
      `${x}() { ${word}${args}; }; export -f ${x}; bash -c ${x}`,
      `BASH_CMDS[${x}]=$SHIMS/${word.replace(/[^a-z]/g, '')}; ${x}${args}`,
      `trap ${word} DEBUG; :`,
      `for ${x} in "$SHIMS"/${word.replace(/[^a-z]/g, '').slice(0, 2)}*; do "$${x}"${args}; done`,
    ]);
  };

  /** Programs that run what an option, a setting or a variable of theirs names. */
  const named = (script: string): string => {
    const x = fresh('n');
    const line = script.replaceAll('\n', ';');
    return pick([
      `git -c alias.${x}=${single(`!${line}`)} ${x}`,
      `git -calias.${x}=${single(`!${line}`)} ${x}`,
      `GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.${x} GIT_CONFIG_VALUE_0=${single(`!${line}`)} git ${x}`,
      `GIT_SSH_COMMAND=${single(`${line};:`)} git ls-remote ssh://h/x`,
      `git -c core.sshCommand=${single(`${line};:`)} ls-remote ssh://h/x`,
      `git init -q ${x}; git -C ${x} -c core.fsmonitor=${single(line)} status`,
      `git init -q ${x}; git ls-remote --upload-p=${single(line)} ${x}`,
      `git init -q ${x}; EDITOR=${single(`${line};:`)} git -C ${x} commit --allow-empty`,
      `tar cf /dev/null --checkpoint=1 --checkpoint-a=exec=${single(line)} .`,
      `tar cf ${x}.tar -I ${single(`sh -c ${single(line)}`)} .`,
      `echo a > ${x}; tar cf ${x}.tar ${x}; tar xf ${x}.tar --to-com=${single(line)}`,
      `make --ev=${single(`${x}:;${line.replaceAll('$', '$$$$')}`)} ${x}`,
      `make -f - ${x} <<< ${single(`${x}:;${line.replaceAll('$', '$$$$')}`)}`,
      `echo a | split --fil=${single(line)} -`,
      `${x}=${single(`$(${script}\n)`)}; : >&"$${x}"`,
      `: >&${single(`$(${line})`)}`,
      `x=()\`${line.replace(/[\\`]/g, '')}\``,
      `a[; do ]$(${script}\n)`,
      ...optionForms(line, x),
      ...evaluatedForms(line, x),
      ...composedForms(line, x),
    ]);
  };

  /** A text that a shell is made to run. */
  const viaText = (script: string): string =>
    pick([
      `bash -c ${quoted(script)}`,
      `sh -c ${quoted(script)}`,
      `bash -ec ${quoted(script)}`,
      `bash -c -x ${quoted(script)}`,
      `bash --norc -o pipefail -c ${quoted(script)}`,
      `eval ${quoted(script)}`,
      `eval "eval" ${quoted(script)}`,
      `bash <<< ${quoted(script)}`,
      `bash -s a b <<< ${quoted(script)}`,
      `bash <<'END'\n${script}\nEND`,
      `sh <<-END\n${script.replace(/[\\$`]/g, '\\$&')}\nEND`,
      `cat <<'END' | bash\n${script}\nEND`,
      `echo ${single(script)} | sh`,
      `printf '%s\\n' ${single(script)} | bash -s`,
      `base64 -d <<< ${Buffer.from(script).toString('base64')} | bash`,
      `bash <(echo ${single(script)})`,
      `source <(echo ${single(script)})`,
      `. /dev/stdin <<< ${quoted(script)}`,
      `bash -c "$(echo ${single(script)})"`,
      `trap ${quoted(script)} EXIT`,
      `find . -maxdepth 0 -exec sh -c ${single(script)} \\;`,
      `echo a | xargs sh -c ${single(script)}`,
      `echo ${single(`'${script.replaceAll("'", '')}'`)} | xargs bash -c`,
      `awk 'BEGIN { system(${JSON.stringify(script)}) }'`,
      `sed ${single(`1e ${script.replaceAll('\n', ';')}`)} <<< a`,
      `perl -e ${single(`system(q(${script}))`)}`,
      `exec bash -c ${quoted(script)}`,
      `env bash -c ${quoted(script)}`,
      `{ bash; } <<< ${quoted(script)}`,
      `exec 3<<< ${quoted(script)}; bash /dev/fd/3`,
      ...inputForms(script),
      ...streamForms(script),
      ...madeForms(script, fresh('m')),
    ]);

  /** A command put where commands may stand. */
  const within = (inner: string): string =>
    pick([
      `${harmless()}; ${inner}`,
      `${harmless()} && ${inner}`,
      `false || ${inner}`,
      `${harmless()} & ${inner}`,
      `${harmless()}\n${inner}`,
      `${harmless()} | ${inner}`,
      `${inner} | cat`,
      `${inner} |& cat`,
      `( ${inner} )`,
      `{ ${inner}\n}`,
      `if ${inner}\nthen :; fi`,
      `if true; then ${inner}\nfi`,
      `if false; then :; elif ${inner}\nthen :; else :; fi`,
      `if false; then :; else ${inner}\nfi`,
      `for i in 1; do ${inner}\ndone`,
      `for ((i=0; i<1; i++)); do ${inner}\ndone`,
      `while ${inner}\ndo break; done`,
      `until ${inner}\ndo break; done`,
      `case a in (b) :;; a|c) ${inner}\n;; esac`,
      `case a in a) :;& b) ${inner}\nesac`,
      `f() { ${inner}\n}; f`,
      `f() ( ${inner}\n) ; f`,
      `echo $(${inner}\n)`,
      `echo "$(${inner}\n)"`,
      `echo "a \${NONE:-$(${inner}\n)}"`,
      `x=$(${inner}\n)`,
      `x[$(${inner}\n)0]=1`,
      `cat <(${inner}\n)`,
      `true > >(${inner}\n)`,
      `cat <<END\n$(${inner}\n)\nEND`,
      `cat <<< "$(${inner}\n)"`,
      `[[ -n $(${inner}\n) ]]`,
      `[ -n "$(${inner}\n)" ]`,
      `echo $(( $(${inner}\n) + 1 )) 2>/dev/null`,
      `coproc { ${inner}\n}; wait`,
      `{ ${inner}\n} 2>/dev/null`,
      `${inner} # ${pick(BLOCKED)}`,
      `! { ${inner}\n}`,
      `echo '${pick(BLOCKED)} x'; ${inner}`,
      ...(inner.includes('`') || inner.includes('\\') ? [] : [`echo \`${inner}\``]),
    ]);

  /** Backticks where shells do not agree with themselves on what a backslash in them means. */
  const inBackticks = (inner: string): string => {
    const line = inner.replaceAll('\n', ';');
    const escaped = line.replace(/[\\`$]/g, '\\$&');
    const quote = pick(['\\"', '"', '\\\\"', "\\'", "'", '\\\\\\"']);
    const body = pick([
      escaped,
      `: ${quote}; ${escaped}; : ${quote}`,
      `: ${quote}a${quote}; ${escaped}`,
      `echo \\\`${escaped.replace(/[\\`$]/g, '\\$&')}\\\``,
      `: \\\`: ${quote}; ${escaped.replace(/[\\`$]/g, '\\$&')}; : ${quote}\\\``,
      `: ${quote}$(${escaped})${quote}`,
      `: # ${quote}\n${escaped}`,
    ]);
    const x = fresh('t');
    const tick = `\`${body}\``;
    return pick([
      `echo ${tick}`,
      `echo "${tick}"`,
      `echo "\${${x}:-${tick}}"`,
      `echo \${${x}:-${tick}}`,
      `echo "\${${x}:-"${tick}"}"`,
      `echo \${${x}:-"${tick}"}`,
      `echo "\${${x}:=\${y:-${tick}}}"`,
      `echo "\${HOME#${tick}}"`,
      `echo "\${HOME/${tick}/}"`,
      `echo "\${HOME/$(: /; ${line}\n)/}"`,
      `echo "\${HOME:$(: :; ${line}\n)0}"`,
      `echo "\${a[$(: ]; ${line}\n)0]}"`,
      `echo \${HOME//$(echo /; ${line}\n)/\`: /\`}`,
      `echo "\${HOME:${tick}0}"`,
      `cat <<END\n${tick}\nEND`,
      `cat <<END\n"${tick}"\nEND`,
      `cat <<END\n\${${x}:-${tick}}\nEND`,
      `cat <<END\n"\${${x}:-"${tick}"}"\nEND`,
      `cat <<< ${tick}`,
      `cat <<< "\${${x}-${tick}}"`,
      `[[ -n ${tick} ]]`,
      `[[ "\${${x}:-${tick}}" == a ]]`,
      `[[ a =~ ${tick} ]]`,
      `[[ a == "${tick}" ]]`,
      `: $(( ${tick} + 1 ))`,
      `: $(( "${tick}" + 1 ))`,
      `: "$(( ${tick} + 1 ))"`,
      `: $(( \${${x}:-${tick}} + 1 ))`,
      `(( ${tick} ))`,
      `(( "${tick}" ))`,
      `for ((i=${tick}0; i<0; i++)); do :; done`,
      `${x}=(1); : \${${x}[${tick}0]}`,
      `${x}=(1); : "\${${x}[${tick}0]}"`,
      `${x}[${tick}0]=1`,
      `${x}[0"${tick}"]=1`,
      `${x}=(["${tick}"0]=1)`,
      `${x}=(${tick})`,
      `declare -a ${x}=("${tick}")`,
      `case a in ${tick}) :;; esac`,
      `case a in "\${${x}:-${tick}}") :;; esac`,
      `case "${tick}" in a) :;; esac`,
      `case a in @(${tick}|b)) :;; esac`,
      `${x}="${tick}"`,
      `${x}="\${y:-${tick}}"`,
      `: > /dev/null"${tick}"`,
      `: $"${tick}"`,
      `for ${x} in "${tick}"; do :; done`,
      `export ${x}="${tick}"`,
      `echo "$(echo "${tick}")"`,
      `echo "\${${x}:-$(echo "${tick}")}"`,
    ]);
  };

  const program = chance(0.75) ? pick(BLOCKED) : pick(HARMLESS);
  const args = pick(['', ' a', ' -x b', ' "a b"', " 'c; d'", ' >/dev/null']);
  const word = disguise(program);
  const kind = random();
  let command = kind < 0.25 ? `${word}${args}` : kind < 0.6 ? wrapped(word, args) : indirect(word, args);
  // Much of what is allowed must be text that stands there and does nothing: only what is allowed can show an escape.
  if (chance(0.15)) command = pick(spokenForms(command, fresh('s')));
  const layers = Math.floor(random() * 4);
  for (let layer = 0; layer < layers; layer += 1)
    command = chance(0.45)
      ? viaText(command)
      : chance(0.15)
        ? named(command)
        : chance(0.2)
          ? inBackticks(command)
          : within(command);
  return chance(0.01) ? pick(floodForms(command)) : command;
}
