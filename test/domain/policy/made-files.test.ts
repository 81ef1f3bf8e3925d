import { describe, expect, it } from 'vitest';
import { judgeCommand } from '../../../src/domain/policy/judge.ts';
import { policyOf } from '../../../src/domain/policy/policy.ts';
import { ShellRules } from '../../../src/domain/policy/policy.schema.ts';

const policy = policyOf(ShellRules.parse({}));
const judge = (command: string) => judgeCommand(command, policy, { trust: 'trusted' });

describe('what takes its commands from a file that the same line makes asks', () => {
  it.each([
    "echo 'int main(){}' > x.c; gcc x.c -o x; ./x",
    'echo x | gcc -x c - -o x; ./x',
    '(sleep 1; gcc main.c -o app) & echo x > main.c; wait; ./app',
    'cp a.c main.c; gcc main.c -o app; ./app',
    'gcc -E -DX=y f.c -o x.sh; sh x.sh',
    'mkdir d; echo x > d/__main__.py; python3 d',
    'echo x > main.go; go run .',
    'echo x > src/main.rs; cargo run',
    'echo x > Sources/a.swift; swift run',
    'echo x > mix.exs; mix test',
    'echo x > mix.exs; mix compile',
    'echo x > Procfile; foreman start',
    'echo x > shell.nix; nix-shell',
    'echo x > flake.nix; nix build',
    'echo x > .latexmkrc; latexmk',
    'echo x > build.zig; zig build',
    'echo x > a.scala; sbt run',
    'echo x > Package.swift; swift build',
    'echo x > lefthook.yml; lefthook run pre-commit',
    'echo x > a.cs; dotnet run',
    'echo x > SConstruct; scons',
    'echo x > site.yml; ansible-playbook site.yml',
    "printf 'all:;sudo id\\n' > Makefile; make",
    "printf 'all:;sudo id\\n' | tee GNUmakefile; make -s",
    "echo 'all:;sudo id' > y; cp y Makefile; make",
    "mkdir d; echo 'all:;sudo id' > d/Makefile; make -C d",
    'echo \'{"scripts":{"test":"sudo id"}}\' > package.json; npm test',
    "echo 'script-shell=sudo' > .npmrc; npm test",
    'jq . package.json > x && mv x package.json && npm install',
    "printf '[alias]\\nz=!sudo id\\n' >> .git/config; git z",
    "echo 'sudo id' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit -m x",
    "echo 'sudo id' > .husky/pre-commit; git commit -m x",
    "echo 'code' > x.js; node x",
    "echo 'code' > index.js; node .",
    "echo 'code' > a.test.js; node --test",
    "echo 'code' > node_modules/x/index.js; node app.js",
    "printf '#!/bin/sh\\nsudo id' > node_modules/.bin/zz; npx zz",
    "echo 'NODE_OPTIONS=--import=./x.js' > .env; node --env-file=.env app.js",
    "echo 'code' > m.py; python3 -m m",
    "echo 'code' > random.py; python3 -m http.server --help",
    "echo 'code' > conftest.py; python3 -m pytest",
    "echo 'code' > tests/test_a.py; pytest",
    "echo 'code' > setup.py; pip install .",
    "echo 'code' > setup.py; python3.12 -m pip install .",
    "echo 'code' > CMakeLists.txt; cmake .",
    "echo 'code' > vite.config.ts; npx vite build",
    "echo 'code' > build.rs; cargo build",
    "echo 'code' > t/a.t; prove",
    'sed -i s/a/b/ *.json && npm test',
    "for f in 1 2; do make; echo 'all:;sudo id' > Makefile; done",
    "f() { make; }; echo 'all:;sudo id' > Makefile; f",
    "make $(echo 'all:;sudo id' > Makefile)",
    "(sleep 1; make) & echo 'all:;sudo id' > Makefile; wait",
    "trap make EXIT; echo 'all:;sudo id' > Makefile",
  ])('%s', (command) => {
    expect(judge(command).verdict).toBe('ask');
  });

  it.each([
    'git log --output=x.sh --format=%s -1; sh x.sh',
    "git config -f x.sh user.name '$(sudo id)'; sh x.sh",
    "git config --file=x.sh user.name '$(sudo id)'; sh x.sh",
    'git mv x y; sh y',
    'echo sudo id | gzip > x.sh.gz; gunzip x.sh.gz; sh x.sh',
    'echo sudo id | gzip > x.sh.gz; gunzip -k x.sh.gz; sh x.sh',
    'echo sudo id | xz > x.sh.xz; xz -d x.sh.xz; sh x.sh',
    'tar cf a.tar --transform s/y/x.sh/ y; tar xf a.tar; sh x.sh',
    'tar cf a.tar --transform s/y/Makefile/ y; tar xf a.tar; make',
    'zip a.zip x.sh; unzip a.zip -d d; sh d/x.sh',
    'printf p | patch -p0; make',
    'printf p > p; patch -p0 < p; make',
    'printf p > p; patch -p0 -i p; make',
    'printf p > p; git apply p && npm test',
  ])('whatever has made it: %s', (command) => {
    expect(judge(command).verdict).toBe('ask');
  });

  it.each(["touch -- '-e1e sudo id' z; sed p *", 'touch ./-rf; ls *', 'echo x > -x; for f in *; do cat $f; done'])(
    'and so does a name that may become an option: %s',
    (command) => {
      expect(judge(command).verdict).toBe('ask');
    },
  );

  it('unless an allow rule names the program', () => {
    const allowing = policyOf(ShellRules.parse({ allow: ['make*', 'echo *'] }));
    expect(judgeCommand('echo x > Makefile; make', allowing).verdict).toBe('allow');
  });
});

describe('what a line makes besides does not matter', () => {
  it.each([
    'gcc -Wall -O2 -o app main.c && ./app',
    'g++ *.cpp -o main && ./main < in.txt',
    'gcc main.c -o app && ./app data.txt',
    'rustc main.rs && ./main',
    'echo x > src/main.rs; cargo build',
    'echo x > main.go; go vet ./...',
    'echo x > notes.txt; dotnet test',
    'echo x > a.py; ruff check a.py',
    "sed -i 's/a/b/' src/*.ts && npx vitest run",
    "npm run build && echo '{}' > dist/package.json",
    'patch -p1 < fix.patch && make',
    'patch -p1 < fix.patch && npm test 2>&1 | tee test.log',
    'git apply fix.patch && npm test',
    'npm test > log.txt',
    'make > build.log 2>&1; tail build.log',
    'echo x >> .gitignore && git add . && git commit -m x',
    'tar xzf a.tar.gz && cd a && make',
    'cp .env.example .env && npm run dev',
    'sed -i s/a/b/ README.md && git commit -am x',
    'gunzip data.csv.gz && python3 load.py data.csv',
    'unzip data.zip && python3 run.py',
    'mkdir build && cd build && cmake .. && make',
    'git log --output=log.txt && cat log.txt',
    'echo hi > a.txt && node server.js',
    'touch a b; ls *',
    'npm pack > name.txt && npm --version',
    'npm run build && npm test -- --watch=false 2>&1 | tee test.log',
    'ssh host make > build.log',
  ])('%s', (command) => {
    expect(judge(command)).toMatchObject({ verdict: 'allow' });
  });
});

describe('a variable that becomes a part of command lines', () => {
  it.each([
    "make 'CFLAGS=;sudo id;' x.o",
    "CFLAGS=';sudo id;' make x.o",
    "CFLAGS='$(shell sudo id)' make x.o",
    "export CFLAGS='|sudo id'; make x.o",
    "env CFLAGS='`sudo id`' make x.o",
    "make TARGET_ARCH=';sudo id;' x.o",
    "make 'OUTPUT_OPTION=-o x; sudo id' x.o",
    "make 'CFLAGS=-wrapper nice,x' x.o",
    ': ${CFLAGS:=;sudo id;}; export CFLAGS; make x.o',
    "for CFLAGS in ';sudo id;'; do export CFLAGS; make x.o; done",
    "CFLAGS=';sudo id;' ./configure",
    'npm test --userconfig=rc',
    'npm --globalconfig rc test',
    "ZIPOPT='-T -TT sudo' zip a.zip a",
    'APT_CONFIG=x apt-get update',
    'DBUS_SESSION_BUS_ADDRESS=unixexec:path=/usr/bin/sudo systemctl --user status',
    'SSH_SK_HELPER=./x ssh-keygen -t ed25519-sk -f k',
    ': ${EDITOR:=./x}; export EDITOR; git commit',
    "PS4='$(sudo id)'; set -x; ls",
  ])('asks: %s', (command) => {
    expect(judge(command).verdict).not.toBe('allow');
  });

  it.each([
    "make 'COMPILE.c=nice sudo' x.o",
    "LEX='nice sudo' make x.c",
    "make TEX='nice sudo' x.dvi",
    'MAKEINFO=sudo make x.info',
    'CMAKE_C_COMPILER_LAUNCHER=sudo cmake .',
    'env npm_config_script-shell=sudo npm test',
    'PIP_PYTHON=sudo pip list',
    ': ${EDITOR:=sudo}; export EDITOR; git commit',
  ])('is denied if it names what is blocked: %s', (command) => {
    expect(judge(command)).toMatchObject({ verdict: 'deny', unconditional: true });
  });

  it.each([
    'make CC=clang -j4',
    "CC=clang CFLAGS='-O2 -Wall' make",
    'make PREFIX=/usr/local install',
    'CFLAGS=-O2 ./configure',
    'make LDFLAGS="-L/x -lm" CFLAGS="-g -I/usr/include"',
    'VERSION=1.2 DIR=$PWD make dist',
    'PIP_INDEX_URL=x pip install y',
    'npm_config_loglevel=silent npm test',
    'CMAKE_BUILD_TYPE=Release cmake .',
    'CMAKE_C_COMPILER_LAUNCHER=ccache cmake ..',
    ': ${PORT:=3000}; node server.js',
    "MSG='a; b' node server.js",
  ])('and runs where it is none: %s', (command) => {
    expect(judge(command)).toMatchObject({ verdict: 'allow' });
  });

  it.each(['PS0', 'PS1', 'PS2', 'PS3', 'PS4'])('%s decides what a shell runs', (name) => {
    expect(judge(`${name}='$(id)'; ls`).reasons).toMatchObject([{ because: `${name} decides what later commands do` }]);
  });
});
