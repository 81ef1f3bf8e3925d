/**
 * Ways of options, inputs and files by which a text is run, that a table of programs is likely to forget. Each is text for a
 * real bash; `x` is a name that nothing else uses.
 */
const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Letters in clusters, abbreviated names, values that look like something else. */
export function optionForms(line: string, x: string): readonly string[] {
  const recipe = line.replaceAll('$', '$$$$').replaceAll('#', '\\#');
  const repository = `git init -q ${x}; cd ${x}; git -c user.name=a -c user.email=b commit -q --allow-empty -m a`;
  const [inPython, inNode] = [
    `import os; os.system(${JSON.stringify(line)})`,
    `require('child_process').execSync(${JSON.stringify(line)})`,
  ];
  return [
    `mkdir ${x}; echo ${single(inPython)} > ${x}/json.py; PYTHONPATH=${x} python3 -m json.tool <<< 1`,
    `mkdir ${x}; PYTHONPATH=${x} bash -c ${single(`echo ${single(inPython)} > ${x}/json.py; python3 -m json.tool <<< 1`)}`,
    `mkdir ${x}; echo ${single(inPython)} > ${x}/__main__.py; python3 ${x}`,
    `echo ${single(inNode)} > ${x}.js; NODE_OPTIONS='--no-warnings --require ./${x}.js' npm -v`,
    `${x}=${single(`-e1e ${line}`)}; sed "$${x}" --sandbox <<< a`,
    `git init -q ${x}; cd ${x}; git config alias.z ${single(`!${line}`)} list; git z`,
    `git init -q ${x}; cd ${x}; git config alias.z ${single(`!${line}`)} get; git z`,
    `${repository}; git -c user.name=a -c user.email=b commit -q --allow-empty -m b; git -c user.name=a -c user.email=b rebase -fx ${single(line)} HEAD~1`,
    `${repository}; git -c user.name=a -c user.email=b rebase -qfx${single(line)} --root`,
    `${repository}; echo 1 > f; git add f; git grep -cO${single(`${line};:`)} 1`,
    `git init -q ${x}; printf '%s\\0' ${single(`--upload-pack=${line}`)} | xargs -0 -I% git ls-remote % ${x}`,
    `set -k; git ls-remote ssh://h/x GIT_SSH_COMMAND=${single(`${line};:`)}`,
    `tar cfI ${x}.tar ${single(`sh -c ${single(line)}`)} .`,
    `tar cIf ${single(`sh -c ${single(line)}`)} ${x}.tar .`,
    `printf '%s\\0' --checkpoint=1 ${single(`--checkpoint-action=exec=${line}`)} | xargs -0 tar cf ${x}.tar .`,
    `${x}=$(printf %s ${single(`--use-compress-program=sh -c ${single(line)}`)}); tar cf ${x}.tar "$${x}" .`,
    `make ${single(`A!=${recipe}`)}`,
    `make ${single(`A:=$(shell ${recipe})`)}`,
    `printf '%s\\0' ${single(`A!=${recipe}`)} | xargs -0 make`,
    `strace -o ${single(`|${line}`)} true`,
    `strace -fo${single(`|${line}`)} true`,
    `printf '%s\\0' ${single(`.shell ${line}`)} | xargs -0 sqlite3 ${x}.db`,
    `echo '{}' > package.json; npm run env -- sh -c ${single(line)}`,
    `RANDOM=${single(`a[$(${line})]`)}`,
    `for OPTIND in ${single(`a[$(${line})]`)}; do :; done`,
    `printf %s ${single(`a[$(${line})]`)} > ${x}; read SRANDOM < ${x}`,
    `OPTIND=${single(`a[\`${line}\`]`)}; getopts a b`,
    `${x}=${single(`a[\`${line}\`]`)}; ((${x}))`,
    `${x}=${single(`a[\`${line}\`]`)}; ${x}b[${x}]=1`,
    `${x}=:; declare ${single(`${x}[0]=${line}`)}; bash -c "$${x}"`,
    `${x}=:; read ${single(`${x}[0]`)} <<< ${single(line)}; bash -c "$${x}"`,
    `REPLY=:; read <<< ${single(line)}; bash -c "$REPLY"`,
    `_=:; : ${single(line)}; bash -c "$_"`,
    `[ -v ${x} -o -v ${single(`a[$(${line})]`)} ]`,
    `awk -- ${single(`-v1==0{system(${JSON.stringify(line)})}`)} <<< a`,
    `git init -q; git config --list --no-list alias.z ${single(`!${line}`)}; git z`,
    `git init -q --bare ${x}; printf '[alias]\\nz = "!%s"\\n' ${single(line.replace(/["\\]/g, '\\$&'))} >> ${x}/config; git -C ${x} z`,
    `npm_config_call=${single(line)} npm exec`,
    `printf 'ref: refs/heads/main\\n' > HEAD; mkdir objects refs; git config -f config core.repositoryformatversion 0; git config -f config core.fsmonitor ${single(`${line};:`)}; git config -f config core.worktree .; git status`,
    `git init -q ${x}; cd ${x}; git config color.z ${single(`!${line}`)}; git config --rename-section color alias; git z`,
    `echo a | sed ${single(`1i\\\ns|\ne ${line}\n#||`)}`,
    `echo a | sed -e '1i\\' -e ${single(`s/a/\ne ${line}\n#/`)}`,
    `awk ${single(`/[^]/]"/{system(${JSON.stringify(line)})} /"/`)} <<< 'x"'`,
    `mkdir ${x}; echo ${single(`system(${JSON.stringify(line).replace(/[$@]/g, '\\$&')});1`)} > ${x}/strict.pm; PERLLIB=${x} prove --version`,
    `sed --e=${single(`1e ${line}`)} <<< a`,
    `sed --e ${single(`1e ${line}`)} <<< a`,
    `sed -be${single(`1e ${line}`)} <<< a`,
    `sed -nbe ${single(`1e ${line}`)} <<< a`,
    `echo a | sed ${single(`1e ${line}`)} - -- --version`,
    `perl -n /dev/null ${single(`${line};:|`)}`,
    `sqlite3 :memory: ${single(`select edit/**/('a','${line.replaceAll("'", '')};:')`)}`,
    `choom -n 0 -- awk ${single(`BEGIN { system(${JSON.stringify(line)}) }`)}`,
    `choom -n 0 -- sed ${single(`1e ${line}`)} <<< a`,
    `choom -n 0 -- python3 -c ${single(`import os; os.system(${JSON.stringify(line)})`)}`,
    `echo a > ${x}; printf '%s\\0' ${single(`-e1e ${line}`)} ${x} | xargs -0 sed p`,
    `awk -W exec /dev/stdin <<< ${single(`BEGIN { system(${JSON.stringify(line)}) }`)}`,
    `awk ${single(`{ x = /"/; print "" | ${JSON.stringify(line)}; y = /"/ }`)} <<< a`,
    `awk ${single(`{ x = NR / 1; ${JSON.stringify(line)} | getline; y = NR / 2 }`)} <<< a`,
    `perl -W -e ${single(`system(${JSON.stringify(line).replace(/[$@]/g, '\\$&')})`)}`,
    `python3 -v -c ${single(`import os; os.system(${JSON.stringify(line)})`)}`,
    `python3 -v <<< ${single(`import os; os.system(${JSON.stringify(line)})`)}`,
    `node --title x -e ${single(`require('child_process').execSync(${JSON.stringify(line)})`)}`,
    `node --disable_proto delete -e ${single(`require('child_process').execSync(${JSON.stringify(line)})`)}`,
  ];
}

/** Options that are put together when they are used, and texts that others read as more than names. */
export function composedForms(line: string, x: string): readonly string[] {
  const recipe = line.replaceAll('$', '$$$$').replaceAll('#', '\\#');
  const inPython = single(`import os; os.system(${JSON.stringify(line)})`);
  return [
    `python3 "-$(:)c" ${inPython}`,
    `python3 "-B\${${x}}c" ${inPython}`,
    `perl "-$(:)e" ${single(`system(${JSON.stringify(line).replace(/[$@]/g, '\\$&')})`)}`,
    `find . -maxdepth 0 "-ex$(:)ec" sh -c ${single(line)} \\;`,
    `find . -maxdepth 0 "-ex\${${x}}ec" sh -c ${single(line)} \\;`,
    `tar cf ${x}.tar "--use$(:)-compress-program=sh -c ${line.replace(/[\\"$`]/g, '\\$&')}" .`,
    `make "--ev$(:)al=x:;${recipe.replace(/[\\"$`]/g, '\\$&')}" x`,
    `touch ${single(`a;${line.replaceAll('/', '')}`)}; eval ls *`,
    `mkdir ${single(`a;${line.replaceAll('/', '')}`)}; cd a*; eval "ls $PWD"`,
    `mkdir ${single(`$(${line.replaceAll('/', '')})`)}; cd '$('*; sh -c "cd $PWD && ls"`,
    `. /dev/null; PWD=${single(line)}; eval "$PWD"`,
    `printf %s ${single(line)} | xargs -I A -I B sh -c B`,
    `printf '%s\\n' ${single(line)} > ${x}; sed -i.sh d ${x}; sh ${x}.sh`,
    `printf '%s\\n' ${single(line)} > ${x}; touch y; cp -b -S .sh y ${x}; sh ${x}.sh`,
    `printf '%s\\n' ${single(`x:;${recipe}`)} > ${x}1; make -f ${x}*`,
    `printf '%s\\n' ${single(line)} > ${x}.sh; make ${x}; ./${x}`,
    `git init -q; cd .git; mkdir -p hooks; cd hooks; printf '#!/bin/sh\\n%s\\n' ${single(line)} > pre-commit; chmod +x pre-commit; cd ../..; git -c user.name=a -c user.email=b@c commit -q --allow-empty -m z`,
  ];
}

/** Programs that run another one, found only by who knows how they read their arguments. */
export function wrapperForms(word: string, args: string): readonly string[] {
  return [
    `find . -maxdepth 0 -exec env -u + ${word}${args} \\;`,
    `find . -maxdepth 0 -exec flock + ${word}${args} \\;`,
    `find . -maxdepth 0 -exec true {} + -exec ${word}${args} \\;`,
    `find . -maxdepth 0 -exec true "$(echo \\;)" -exec ${word}${args} \\;`,
    `set -o history -H\n: ${word}\n!:1${args}`,
    `set -o history; set -o histexpand\n: ${word}\n!:1${args}`,
    `shopt -so history histexpand\n: ${word}\n!:1${args}`,
    `setarch -R ${word}${args}`,
    `setarch "$(uname -m)" ${word}${args}`,
    `unshare ${word}${args}`,
    `echo a > x.c; gcc -wrapper ${word},a x.c`,
    `echo a > x.c; cc -wrapper ${word},a -c x.c`,
    `choom -n 0 -- ${word}${args}`,
    `choom -n 0 -- env ${word}${args}`,
    `logsave -a log ${word}${args}`,
    `ionice -c 3 ${word}${args}`,
    `jobs -x ${word}${args}`,
    `/proc/self/exe -c ${single(`:;${word}${args}`)}`,
  ];
}

/** Text that bash evaluates where it looks for a number, a name or the elements of an array. */
export function evaluatedForms(line: string, x: string): readonly string[] {
  const [hidden, list] = [single(`a[$(${line} >&2)]`), single(`($(${line}))`)];
  return [
    `declare -a ${single(`${x}=($(${line}))`)}`,
    `${x}f() { local -A ${single(`${x}=([a]=$(${line}))`)}; }; ${x}f`,
    `${x}=(1); ${x}f() { declare -g "${x}=$1"; }; ${x}f ${list}`,
    `compgen -aW ${single(`$(${line} >&2)`)}`,
    `compgen -dC ${single(`${line};:`)} a`,
    `jobs -x sh -c ${single(line)}`,
    `: ${hidden}; echo $((_))`,
    `[[ ${hidden} =~ .* ]]; echo $((BASH_REMATCH))`,
    `getopts a: ${x} -a ${hidden}; (( OPTARG ))`,
    `echo ${hidden} | { read -r; echo $((REPLY)); }`,
    `echo ${hidden} | { mapfile -t; echo \${HOME:MAPFILE}; }`,
    `read -pu ${x} <<< ${hidden}; echo $((${x}))`,
    `${x}f() { echo $(( \${1} + 1 )); }; ${x}f ${hidden}`,
    `set -- ${hidden}; : \${HOME:\${1:-0}}`,
    `set -- ${hidden}; ${x}[\${1}]=2`,
    `${x}f() { unset "$1"; }; a=(1); ${x}f ${hidden}`,
    `${x}f() { local "$1=1"; }; ${x}f ${hidden}`,
    `[[ $(echo ${hidden}) -eq 0 ]]`,
    `echo $(( $(echo ${hidden}) ))`,
    `echo $(( ${single(`$(${line} >&2)`)} ))`,
    `cat <<END\n\${${x}:-'$(${line})'}\nEND`,
  ];
}

/** The input, under the names by which nobody calls it. */
export function streamForms(script: string): readonly string[] {
  const code = single(`import os; os.system(${JSON.stringify(script)})`);
  return ['/dev/./stdin', '//dev/stdin', '/dev/../dev/stdin', '/proc/self//fd/0', '/proc/self/task/../fd/0'].flatMap(
    (stream) => [
      `bash ${stream} <<< ${single(script)}`,
      `. ${stream} <<< ${single(script)}`,
      `python3 ${stream} <<< ${code}`,
    ],
  );
}

/** Text that is only text: if the policy is right, a real bash does nothing with it either. */
export function spokenForms(script: string, x: string): readonly string[] {
  const said = single(script);
  return [
    ...[`echo ${said}`, `printf '%s\\n' ${said}`, `: ${said}`, `x=${said}`, `grep -c ${said} /dev/null`],
    ...[`cat <<'END'\n${script}\nEND`, `true ${said} | cat`, `case ${said} in *) :;; esac`, `[[ -n ${said} ]]`],
    ...[
      `for y in ${said}; do echo "$y"; done`,
      `${x}f() { echo "$1"; }; ${x}f ${said}`,
      `echo a > ${single('f')}; cat f`,
    ],
    ...[
      `x=${said}; echo "\${#x}" "\${x%%a*}"`,
      `test -n ${said}`,
      `declare y=${said}; echo "$y"`,
      `set -- ${said}; echo "$@"`,
    ],
  ];
}

/** Inputs of which only one is read, and not the one that is easily seen. */
export function inputForms(script: string): readonly string[] {
  return [
    `bash 3<<'B' <<'A' <&3\n${script}\nB\ntrue\nA`,
    `bash /dev/fd/3 3<<'B' <<'A'\n${script}\nB\ntrue\nA`,
    `bash <<'A' 3<<'B' 0>&3\ntrue\nA\n${script}\nB`,
    `bash <<'A' <<'B'\ntrue\nA\n${script}\nB`,
    `bash <(echo ${single(script)}) <<< true`,
  ];
}

/** A script that is made and run by the same line. */
export function madeForms(script: string, x: string): readonly string[] {
  const lines = script.split('\n');
  const added = lines.map((each) => `+${each}`).join('\n');
  const patch = `--- /dev/null\n+++ b/${x}.sh\n@@ -0,0 +1,${lines.length} @@\n${added}`;
  const encoded = Buffer.from(`${script}\n`).toString('base64');
  return [
    `split -b 9999 - ${x} <<'END'\n${script}\nEND\nsh ${x}aa`,
    `openssl base64 -A -d -out ${x}.sh <<< ${encoded}; bash ${x}.sh`,
    `openssl base64 -A -d -out ${x} <<< ${encoded}; . ./${x}`,
    `patch -s -p1 <<'END'\n${patch}\nEND\nbash ${x}.sh`,
    `git apply <<'END'\n${patch}\nEND\nbash ${x}.sh`,
  ];
}

/** So much in front that whoever keeps lists stops keeping them. A rule of the test allows `:`. */
export function floodForms(inner: string): readonly string[] {
  return [`${':;'.repeat(1100)}${inner}`, `${': `:`;'.repeat(100)}${inner}`, `${': >a;'.repeat(2100)}${inner}`];
}
