import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

const policy = policyOf(ShellRules.parse({}));
const verdict = (line: string) => judgeCommand(line, policy, { trust: 'trusted' }).verdict;

describe('what is put together when it runs asks, if it may decide what is run', () => {
  it.each([
    `python3 "-$(:)c" 'x'`,
    `python3 "-B\${z}c" 'x'`,
    `node "-$(:)e" 'x'`,
    'find . -maxdepth 0 "-ex$(:)ec" "s$(:)udo" id \\;',
    'tar cf a.tar "--use$z-compress-program=s$(:)udo" .',
    'make "--ev$(:)al=x:;s$(:)udo id" x',
    'make "--fi$(:)le=y"',
    'gcc "-wra$(:)pper" "s$(:)udo,id" -c x.c',
    'sort -S 1k "--compress-pro$(:)gram=s$(:)udo" x',
    'git grep "--open-files-in-pa$(:)ger=s$(:)udo" a',
    'npm exec "--cal$(:)l=s$(:)udo id"',
    'npm pkg set "scr$(:)ipts.test=s$(:)udo id"',
    'npm run "$(echo env)" -- x',
    "printf 'env -- x' | xargs npm run",
    "printf 'x id' | xargs -I A -n 2 env",
    'printf x | xargs -I A -I B env B',
    'touch y.c; make y CFLAGS="$(cat x)"',
    'eval ls *',
    'mkdir -p x && cd x && eval "$PWD"',
    'cd x; sh -c "cd $PWD && ls"',
    'let a*',
    'declare -a x*',
    '. /dev/null; COLUMNS="s$(:)udo id"; eval "$COLUMNS"',
    '. /dev/null; PWD="s$(:)udo id"; $PWD',
  ])('%s', (line) => {
    expect(verdict(line)).toBe('ask');
  });

  it.each([
    'make -j"$(nproc)"',
    'make -j"$JOBS" test',
    'gcc -I"$DIR" "-O$LEVEL" x.c -o x',
    'tar czf "backup-$(date +%F).tar.gz" src',
    'docker build -t app:$TAG .',
    'docker run -v "$PWD:/app" app npm test',
    'python3 script.py --out="$DIR/x" "$FILE"',
    'git checkout "feature$N"',
    'cp file$N.txt copy$N.txt',
    'head -n$N x',
    'find "$DIR" -name "*.$EXT"',
    'node server.js --port="$PORT"',
    'cd x && docker run -v "$PWD:/app" app',
    'for f in *.txt; do cp "$f" "old-$f"; done',
    'ls a*',
  ])('%s does not', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});

describe('what reads keys or code from its input, or a file that the line has made, asks', () => {
  it.each([
    "printf ':!x\\r:qa!\\r' | vim y",
    'view y < k',
    "echo 'x' | python3 -i /dev/null",
    'echo x | python3 -m unittest code.interact',
    "printf 'x' | jshell -q /dev/null",
    'echo x > y; sed -i.sh d y; sh y.sh',
    'echo x > y; touch z; cp -b -S .sh z y; sh y.sh',
    'echo x > Make; sed -ifile d Make; make',
    'echo x > y1; awk -f y*',
    'echo x > y1; make -f y?',
    'echo x > y.sh; make y; ./y',
    'echo x > y.c; gcc -w y.c; ./a.out',
    'echo x > Y.java; javac Y.java; java Y',
    'echo x > Y.java; java Y.java',
    'echo x > y.txt; ninja -f y.txt',
    'echo x > y.txt; cmake -C y.txt -S . -B b',
    'echo x > y.txt; ctest -S y.txt',
    'echo x > y.py; pydoc3 y',
    'echo x > y; groff -U y',
    'echo x > y; unheard-of y',
    'echo x > ~/.local/bin/foo2; foo2',
    'npm init -y; echo x > server.js; npm start',
    'JAVA_HOME=$PWD/j mvn -v',
    'git init -q; cd .git; mkdir -p hooks; cd hooks; echo x > pre-commit; cd ../..; git commit -m z',
    'mkdir -p node_modules/.bin; cd node_modules/.bin; echo x > zz; cd ../..; npx --no-install zz',
    'echo x > y1; rename.ul y z y1; sh z1',
  ])('%s', (line) => {
    expect(verdict(line)).toBe('ask');
  });

  it.each([
    'vim y',
    'gcc x.c && ./a.out',
    'echo x > y.txt; cat y.txt; wc -l y.txt',
    'echo x > a.py; ruff check a.py',
    'JAVA_HOME=/usr/lib/jvm/java-17 mvn test',
    'sed -i.bak s/a/b/ x && npm test',
    'echo done > log.txt && npm test',
  ])('%s does not', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});

describe('what another shell reads otherwise, and what programs keep of what they were told, asks', () => {
  it.each([
    "sh -c '[[ a || x ]]'",
    `bash -c 'sh -c "[[ a || x ]]"'`,
    `sh -c "echo \\$'\\\\'; x #'"`,
    "sh -c '((x))'",
    "dash -c 'x &> y'",
    "npx -c '[[ a || x ]]'",
    "sh <<'E'\n[[ a || x ]]\nE",
    'export $(cat .env); $PWD id',
    'readonly "$(x)"; eval "ls $PWD"',
    'export "$(x)"; git diff',
    "x | sed -e 't' -e e",
    "sed '/q/b\ne' x",
    `awk 'BEGIN{print "x", 1 &&\n1 > "y"}'; sh y`,
    `awk 'BEGIN{print "x;", (4)/2 > "y"}'; sh y`,
    'c""d a*; eval "ls $PWD"',
    `env -C a bash -c 'eval "ls $PWD"'`,
    ': {a[x]}>f',
    "git commit -m 'x'; sh .git/COMMIT_EDITMSG",
    'git init -q; . .git/HEAD',
    'chmod +x .git/COMMIT_EDITMSG; .git/COMMIT_EDITMSG',
    'ssh-keygen -f y; sh y.pub',
    'npm init -y; sh package.json',
    'echo x > y.c; gcc-12 -w y.c; ./a.out',
    'mkdir d; echo x > d/y.py; python3 -m d.y',
    'mkdir d; echo x > d/y.py; python3 -m unittest d/y.py',
    'echo x > y.js; node --test --test-reporter=./y.js a.js',
    'npm init -y --init-module=./y.js',
    '/usr/sbin/service ../../usr/bin/sudo id',
  ])('%s', (line) => {
    expect(verdict(line)).toBe('ask');
  });

  it.each([
    "sh -c 'echo hi && ls'",
    "bash -c '[[ -f x ]] && (( 1 ))'",
    "sh -c 'echo $((1 + 2))'",
    'export A=b C="$D"',
    'sh scripts/build.sh',
    'git commit -m x && git push',
  ])('%s does not', (line) => {
    expect(verdict(line)).toBe('allow');
  });
});

describe('harm is denied however it is called', () => {
  it.each([
    'cd / && find -delete',
    'find / -exec unlink {} \\;',
    'find / -type f -exec shred -u {} +',
    'find ~ -type f -exec truncate -s 0 {} +',
    'rm -rf ~/[a-zA-Z]*',
    'rm -rf ~/.[a-z]*',
    'rm -rf /var/lib',
    'pkill -9 .',
    'killall5',
  ])('%s', (line) => {
    expect(judgeCommand(line, policy, { trust: 'trusted' })).toMatchObject({ verdict: 'deny', unconditional: true });
  });

  it.each(['find -name x -delete', 'find build -exec rm {} +', 'pkill -f node', 'rm -rf ./[a-z]*.log'])(
    '%s is none',
    (line) => {
      expect(judgeCommand(line, policy, { trust: 'trusted' }).unconditional).toBe(false);
    },
  );
});
