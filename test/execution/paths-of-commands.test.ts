import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openExecution } from '../../src/execution/open.ts';
import type { OpenExecution } from '../../src/execution/open.ts';

type Verdict = 'allow' | 'ask' | 'deny';

/** A project with Surety's own files in it, files that the rules deny, and links that lead out. */
const base = realpathSync(mkdtempSync(join(tmpdir(), 'surety-commands-')));
const project = join(base, 'project');
for (const directory of ['outside', 'project/deep/b/c', 'project/src', 'project/docs', 'project/test', 'project/build'])
  mkdirSync(join(base, directory), { recursive: true });
for (const directory of ['packages/one', 'packages/two', 'locked', '.surety/audit', 'closed'])
  mkdirSync(join(project, directory), { recursive: true });
for (const file of ['a', 'a.txt', 'a.c', 'p.json', '.env', 'README.md', 'src/a.ts', '.surety/audit/line', 'got.tar'])
  writeFileSync(join(project, file), 'SECRET');
writeFileSync(join(base, 'outside/secret.txt'), 'SECRET');
symlinkSync(join(base, 'outside/secret.txt'), join(project, 'link_out'));
symlinkSync(join(base, 'outside'), join(project, 'link_dir'));
mkdirSync(join(base, 'project-evil'));
writeFileSync(join(base, 'project-evil/x.txt'), 'SECRET');
const rules = { file: { denyRead: ['**/.env'], denyWrite: ['locked'] }, runner: { sandbox: 'off' } };
writeFileSync(join(project, 'surety.json'), JSON.stringify(rules));

let execution: OpenExecution;
beforeAll(async () => {
  vi.stubEnv('SURETY_HOME', join(project, '.surety'));
  execution = await openExecution({ project });
});
afterAll(async () => {
  await execution.close();
  vi.unstubAllEnvs();
});

async function verdictOf(command: string, cwd = '.'): Promise<Verdict> {
  return (await execution.preview({ tool: 'shell', args: { command, cwd } })).verdict;
}

it.each([
  ...['sort --output=surety.json p.json', 'dd of=surety.json', 'sort -osurety.json a', 'gcc a.c -osurety.json'],
  ...['tar cf surety.json a', 'tar --create --file=surety.json a', 'uniq a surety.json', 'xxd a surety.json'],
  ...['openssl enc -aes-256-cbc -in a -out surety.json', ': > surety.[[:alpha:]]son', 'ln surety.json hl; echo x > hl'],
  ...['tar --remove-files -cf old.tar .surety', 'zip -qr x.zip .surety', 'find .surety -type f', 'git add -f .surety'],
  ...['python3 -m zipfile -c x.zip .surety', 'tar xf got.tar -C .surety', 'unzip -d .surety got.zip'],
  ...['tar -cfsurety.json a', 'unzip -d.surety x.zip', 'gzip surety.json', 'cp --target-directory=.surety a'],
  ...['git -C .surety status', 'cd src; tool ../.surety/audit', 'cd src && rev ../.surety/audit/line'],
  ...['tool @.surety/audit/line', 'tool file:.surety/audit/line', 'ln -s .surety here', 'env -u X tool .surety'],
  ...['timeout 5 tool .surety', 'bash -c "tool .surety"', 'docker run -v "$PWD/.surety":/x img', 'patch surety.json a'],
])('Surety keeps its own: %s', async (command) => {
  expect(await verdictOf(command)).toBe('deny');
});

it.each([
  ...['cat link_dir/secret.txt', 'echo x >/etc/motd', 'echo x > /etc/motd', 'cd /etc && cat passwd'],
  ...[`cat ${base}/project-evil/x.txt`, 'gcc --include=/etc/passwd a.c', 'gcc --include /etc/passwd a.c'],
  ...[
    'gcc --imacros=/etc/passwd -E a.c',
    'grep --file=/etc/passwd a',
    'sed --file=/etc/passwd a',
    'awk --file=/etc/passwd a',
  ],
])('whatever lies outside stays outside: %s', async (command) => {
  expect(await verdictOf(command)).toBe('deny');
});

it.each([
  ...["printf '/etc/hostname\\0' | sort --files0-from=-", 'wc --files0-from=a', 'du --fil=a', 'echo a | file -f -'],
  ...[
    'echo a | tar cf - -T -',
    'tar czf x.tgz --files-from=a',
    'tar cTf a x.tar',
    'echo a | zip x.zip -@',
    '7z a x.7z @a',
  ],
  ...[
    'ls | cpio -o',
    'cpio -idmu < got.tar',
    'ls | pax -w',
    'rsync -a --files-from=a src/ build/',
    'find -files0-from a',
  ],
])('a list of names may name anything: %s', async (command) => {
  expect(await verdictOf(command)).toBe('ask');
});

it.each([
  ...['gcc -Wp,-include,/etc/hostname -E a.c', 'gcc -Wl,-rpath,/usr/lib,-Map=/root/x a.c', 'TMPDIR=/root mktemp'],
  ...['DESTDIR=/root make install', 'env GOBIN=/root/x go install', 'export TMPDIR=/root; mktemp'],
  ...['gcc -I/root/x a.c', 'g++ -isystem/root/x a.c', 'cc -I../outside a.c', 'gcc -fprofile-use=/etc/passwd a.c'],
  ...['kubectl create secret generic x --from-file=k=/etc/passwd', 'helm template --set-file=a=/etc/passwd ./docs'],
  ...[
    'aws s3api put-object --key k --body /etc/passwd',
    'pytest --cov-report=html:/root/y',
    'mocha -R=html:../outside',
  ],
  ...['docker secret create x /etc/passwd', 'docker config create x /etc/passwd'],
])('where files go is seen in whichever place it is said: %s', async (command) => {
  expect(await verdictOf(command)).toBe('ask');
});

it.each([
  ...[
    'sort -f a.txt',
    'sort --field-separator=, a.txt',
    'tar czf x.tgz --totals src',
    'zip -r x.zip src',
    'cpio -t < got.tar',
  ],
  ...['gcc -Wall -Wl,-rpath,/usr/local/lib -Wl,-z,relro a.c', 'TMPDIR=/tmp npm test', 'NODE_V8_COVERAGE=build node a'],
  ...['gcc -Wall -O2 -Isrc -Icore/./inc -o build/a a.c -lm', 'pytest --cov=src --cov-report=html:build/cov'],
  ...['gh pr create --title x --body "see /etc/passwd"', 'git log --grep=/api/v1', 'mkdir new && cd new && touch ./x'],
  ...['git clone https://x/a && cd a && grep -rn foo .', 'npm run build && cp -a dist/. docs/', 'ls nofile/.'],
  ...['mkdir -p new && cp src/a.ts new/.', 'cargo new foo && cd foo && cat ./Cargo.toml', 'tool made/./x/./y'],
])('and nothing else is asked about: %s', async (command) => {
  expect(await verdictOf(command)).toBe('allow');
});

it.each([
  ...['cat surety.json', 'jq . surety.json', 'grep -n x surety.json', 'git diff surety.json', 'git add surety.json'],
  ...['wc -l surety.json', 'sed -n 1p surety.json', 'cp surety.json copy.json', 'diff surety.json p.json'],
])('anybody reads surety.json: %s', async (command) => {
  expect(await verdictOf(command)).toBe('allow');
});

it.each<[string, Verdict]>([
  ['rev .env', 'deny'],
  ...['fold', 'shuf', 'iconv', 'column', 'fmt', 'pr', 'base32'].map((each): [string, Verdict] => [
    `${each} link_out`,
    'deny',
  ]),
  ['tar cf - .env', 'ask'],
  ['openssl base64 -in .env', 'ask'],
  ['date -f .env', 'deny'],
  ['xargs -a .env echo', 'ask'],
  ['git diff --no-index a .env', 'ask'],
  ['git -C src diff --no-index a ../.env', 'ask'],
  ['diff --from-file=.env a', 'ask'],
  ['grep -eSECRET .env', 'deny'],
  ['grep -e SECRET .env', 'deny'],
  ['grep -A 3 SECRET .env', 'deny'],
  ["sed '' .env", 'deny'],
  ["sed -e '' .env", 'deny'],
  ["awk -F: '{print}' .env", 'deny'],
  ['column -t .env', 'deny'],
  ['grep -C SECRET .env', 'deny'],
  ['rsync -P .env x', 'deny'],
  ['cat <>.env', 'deny'],
  ['mv .env moved; cat moved', 'deny'],
  ['ln .env hl; cat hl', 'deny'],
  ['tar -cf../outside/t2.tar a', 'ask'],
  ['zip locked/z.zip a', 'ask'],
  ['git init -q locked/r', 'ask'],
  ['uniq a locked/z', 'deny'],
  ['tool /etc/hostname', 'ask'],
  ['tool --in=/etc/hostname', 'ask'],
  ['cat link_[[:alpha:]]ut', 'deny'],
  ['cat .e[[:lower:]]v', 'deny'],
  ['for f in .e[[:lower:]]v; do cat "$f"; done', 'deny'],
  ['tool link_[a-z]ut', 'ask'],
  ["bash -O dotglob -c 'cat *nv'", 'ask'],
  ["bash -O nocaseglob -c 'cat READM*'", 'ask'],
  ["bash +O extglob -c 'ls'", 'ask'],
  ['docker run -v /:/host img ls', 'ask'],
  ['docker run --mount type=bind,source=/etc,target=/x img', 'ask'],
  ['docker run -itv /:/h alpine cat /h/etc/shadow', 'ask'],
  ['docker run -itv/:/h alpine cat /h/etc/shadow', 'ask'],
  ['docker run -v=/:/h alpine cat /h/etc/shadow', 'ask'],
  ['docker run --volume=/:/h alpine', 'ask'],
  ['docker run -dv $SURETY_HOME:/h alpine', 'ask'],
  ['docker run -v .surety:/h alpine', 'deny'],
  ['docker run -dv ./.surety:/h alpine', 'deny'],
  ['docker create -v /:/h alpine', 'ask'],
  ['docker --context a --log-level b -H c run -v /:/h alpine', 'ask'],
  ['docker-compose run -v /:/h web', 'ask'],
  ['docker build --secret id=x,src=/etc/shadow .', 'ask'],
  ['docker build --secret=id=x,source=.surety/audit/line .', 'deny'],
  ['docker build --ssh default=/etc/shadow .', 'ask'],
  ['docker build --build-context x=/etc .', 'ask'],
  ['docker build -o type=local,dest=locked .', 'ask'],
  ['docker volume create -o type=none -o o=bind -o device=/etc v', 'ask'],
])('what the rules deny is not reached by another spelling: %s: %s', async (command, verdict) => {
  expect(await verdictOf(command)).toBe(verdict);
});

it.each<[string, Verdict]>([
  // What the shell remembers goes to a file and comes from one.
  ["history -s '{}'; history -w surety.json", 'deny'],
  ['history -a surety.json', 'deny'],
  ['history -cw surety.json', 'deny'],
  ['history -r /etc/passwd; history', 'deny'],
  ['history -n .env', 'deny'],
  ['HISTFILE=/etc/passwd; history -r', 'ask'],
  ['history -w', 'ask'],
  ['history $X', 'ask'],
  ['history -s "$X"', 'ask'],
  ['history', 'allow'],
  ['history 20', 'allow'],
  ['history -c', 'allow'],
  ['history -s word /etc/passwd', 'allow'],
  // After an option whose value is optional stands an operand.
  ['grep --color root /etc/passwd', 'deny'],
  ['grep --colour root /etc/passwd', 'deny'],
  ['diff --color /etc/passwd a.txt', 'deny'],
  ['diff --unified /etc/passwd a.txt', 'deny'],
  ['diff --context /etc/passwd a.txt', 'deny'],
  ['diff3 -x /etc/passwd a a.txt', 'deny'],
  ['ag --context root /etc/passwd', 'deny'],
  // Long options are cut short, letters stand together.
  ['grep --regex=root /etc/passwd', 'deny'],
  ['grep --r=root /etc/passwd', 'deny'],
  ['grep -5e root /etc/passwd', 'deny'],
  ['sed -n --expr=1p /etc/passwd', 'deny'],
  ['gawk --source=1 /etc/passwd', 'deny'],
  ['gawk -e 1 /etc/passwd', 'deny'],
  ['chmod --ref=a.txt ../outside', 'deny'],
  ['chmod -r ../outside/secret.txt', 'deny'],
  ['chmod -x ../outside/secret.txt', 'deny'],
  ['sed --in s/a/b/ surety.json', 'deny'],
  ['awk -i inplace 1 surety.json', 'deny'],
  ['sort --out=surety.json a', 'deny'],
  ['sort --output surety.json a', 'deny'],
  ['cp --target locked a', 'deny'],
  ['rsync --log-file surety.json a a.txt', 'deny'],
  ['sdiff -o surety.json a a.txt', 'deny'],
  ['xxd -ps a.txt surety.json', 'deny'],
  ['gzip -Sk surety.json', 'deny'],
  ['find -D none /etc -maxdepth 1 -name passwd', 'deny'],
  ['find -D none -L /etc', 'deny'],
  ['find -- /etc', 'deny'],
  ['fd --base-directory /etc passwd -x cat', 'deny'],
  ['fd --search-path=/etc passwd', 'deny'],
  // What stands where a pattern stands, and has the looks of a path, may be one after all.
  ['grep --new-option 1 root /etc/passwd', 'deny'],
  ['grep /etc/passwd', 'ask'],
  ['grep /etc/passw*', 'ask'],
  ['grep -A /etc/passwd', 'ask'],
  ['grep -m ~/../../etc/passwd a', 'ask'],
  ['sort -k ../outside/secret.txt', 'ask'],
  ['find . -newthing ../outside/secret.txt', 'ask'],
  ['chmod ../outside/secret.txt a', 'ask'],
  ['grep ../outsider a', 'allow'],
  ["grep '/etc/*' a", 'allow'],
  ['grep -rn src/a docs', 'allow'],
])('a program is not taken at the word of a table: %s: %s', async (command, verdict) => {
  expect(await verdictOf(command)).toBe(verdict);
});

it.each<[string, Verdict]>([
  ["find src -name '*.ts' -exec wc -l {} +", 'allow'],
  ['find . -exec grep -l foo {} \\;', 'allow'],
  ["git ls-files '*.ts' | xargs wc -l", 'allow'],
  ['find . -print0 | xargs -0 -n 10 ls -la', 'allow'],
  ['grep -rl foo src | xargs wc -l', 'allow'],
  ['cd src && find . -exec wc -l {} + | sort -n', 'allow'],
  // What they hold is another matter where some of it is not to be read.
  ['find . -name .env -exec cat {} +', 'ask'],
  ['find . -type f -exec grep -n foo {} +', 'ask'],
  ['find . -type f -print0 | xargs -0 cat', 'ask'],
  ['find ../outside -exec wc -l {} +', 'deny'],
  ['find -L . -exec wc -l {} +', 'ask'],
  ['find . -exec wc -l {} "$X" \\;', 'ask'],
  ['find . -exec rm {} +', 'ask'],
  ['find . -exec cp {} out \\;', 'ask'],
  ["find . -exec sh -c 'wc {}' \\;", 'ask'],
  ["find . -printf '/etc/passwd' | xargs wc -l", 'ask'],
  ['echo /etc/passwd | xargs wc -l', 'ask'],
  ['cat a | xargs -a .env wc -l', 'ask'],
  ['xargs wc -l < a', 'ask'],
])('what is found is handed on: %s: %s', async (command, verdict) => {
  expect(await verdictOf(command)).toBe(verdict);
});

// No sandbox covers it here.
it.each<[string, Verdict]>([
  ...[
    'grep -r x .',
    'grep -rn x',
    'rg x',
    'ag x .',
    'zgrep -r x .',
    'tar cf all.tar .',
    'zip -r all.zip .',
    '7z a x.7z .',
  ].map((each): [string, Verdict] => [each, 'ask']),
  ['diff -r . build', 'ask'],
  ['cd src && cd .. && grep -rl x .', 'ask'],
  ['tar xf got.tar -C .', 'allow'],
  ['grep -rn x src docs', 'allow'],
  ['rg x src', 'allow'],
  ['tar czf all.tgz src', 'allow'],
  ['ls -R', 'allow'],
  ["find . -name '*.ts'", 'allow'],
  ['grep x a a.txt', 'allow'],
])('what shows all below a directory may show what is denied there: %s: %s', async (command, verdict) => {
  expect(await verdictOf(command)).toBe(verdict);
});

it.each<[string, Verdict]>([
  ['for i in 1 2 3 4 5 6 7 8 9; do cd ..; done; cat etc/hostname', 'ask'],
  ['for i in 1 2 3; do cat etc/hostname; cd ..; done', 'ask'],
  ['f(){ cd ..; }; f; f; f; cat etc/x', 'ask'],
  ['while [ "$PWD" != / ]; do cd ..; done; cat etc/hostname', 'ask'],
  ['cd(){ :; }; cd ../../..; cat link_out', 'ask'],
  ['trap "cd .." DEBUG; cat x', 'ask'],
  ['eval "cd ../../.."; cat link_out', 'deny'],
  ['command cd ../../..; cat link_out', 'deny'],
  ['(cd ../../..; ls); cat link_out', 'allow'],
  ['bash -c "cd ../../.."; cat link_out', 'allow'],
  ['cd ../../.. | true; cat link_out', 'allow'],
  ['! cd ../../.. || cat link_out', 'deny'],
  ['if true; then cd ../../..; fi; cat link_out', 'deny'],
  ['true && cd ../../..; cat link_out', 'deny'],
  ['cd ../../../..; ls', 'deny'],
  ['CDPATH=/ cd etc; cat hostname', 'ask'],
])('a line is followed wherever it goes: %s: %s', async (command, verdict) => {
  expect(await verdictOf(command, 'deep/b/c')).toBe(verdict);
});

it.each<[string, string, Verdict]>([
  ['src', 'ln -s ../../outside/secret.txt ../l1; cat ../l1', 'ask'],
  ['src', 'ln -s ../outside/secret.txt ../l1; cat ../l1', 'ask'],
  ['.', 'ln -s ../README.md docs/README.md', 'allow'],
  ['.', 'ln -s README.md docs', 'allow'],
  ['.', 'ln -s a l; cat l', 'ask'],
  ['.', 'ln -s src l && cat l/a.ts', 'ask'],
  ['.', 'ln -s ../outside/secret.txt', 'ask'],
  ['.', 'cd nowhere; cat .env', 'deny'],
  ['.', 'rmdir closed; cd closed; cat .env', 'deny'],
  ['.', 'cd src > nowhere/x; cat .env', 'deny'],
  ['.', 'cd src extra; cat .env', 'deny'],
])('in %s, %s: %s', async (cwd, command, verdict) => {
  const answered = await verdictOf(command, cwd);
  expect(answered).toBe(verdict);
});

it.each([
  ...["sed -n '/foo/p' a.txt", "sed '/^#/d' a", "sed -e 's/a/b/' -e '/x/d' a", "awk '/foo/' a", "rg '/api' src"],
  ...["grep -rn '/api/users' src", "grep '~' a", "git log --grep='/api'", "git log -S'/api/users'", 'cut -d/ -f2 a'],
  ...["git log --grep '/etc'", "git commit -m '/etc'", "grep -A 3 '/etc' a", 'cut -d / -f 2 a', 'paste -d / a a.txt'],
  ...['sort -t/ -k2 a', 'sort -t / -k 2 a', "awk -F/ '{print $2}' a", "tr '/' '_' < a", 'basename /a/b/c'],
  ...['cd build && cmake ..', 'cd src && ls && cd .. && ls', 'cd src; cat ../README.md', 'cd test && node ../src/a.ts'],
  ...['cd src || exit 1; cat ../README.md', 'cd src && ls && cd - && ls', 'pushd src && cat ../a && popd && cat a'],
  ...[
    'for d in packages/*; do (cd "$d" && npm test); done',
    'docker exec web ls /app',
    'docker exec web cat /etc/hosts',
    'docker-compose exec web cat /etc/hosts',
    'docker run --rm -it -v data:/var/lib/x -e A=/etc/hosts --tmpfs /tmp postgres:16',
    'docker build -t app:latest --build-arg A=b .',
  ],
  ...['docker run --rm -v "$PWD":/app -w /app node:20 npm test', 'kubectl exec pod -- ls /app'],
  ...['kubectl exec pod -- cat /etc/hosts', "ssh host 'cat /etc/hosts'", 'bazel test //...', 'gh api /user'],
  ...[
    'npm run build -- --base=/app/',
    'aws logs tail /aws/lambda/x',
    'make PREFIX=/usr/local',
    'gcc a.c -I/usr/include',
  ],
  ...['npm test -- --watch=false 2>&1 | tee test.log', 'tar czf dist.tgz src', 'git checkout -b feature/x'],
  ...['mkdir -p out && cp a out/', 'find . -name "*.ts" -newer a', 'npx eslint .', 'python3 src/a.ts'],
])('everyday work goes on: %s', async (command) => {
  expect(await execution.preview({ tool: 'shell', args: { command } })).toMatchObject({ verdict: 'allow' });
});

it('says of a command what a run would say, and looks at no more words than somebody waits for', async () => {
  expect(await execution.preview({ tool: 'shell', args: { command: 'cat /etc/shadow' } })).toMatchObject({
    verdict: 'deny',
    because: expect.stringContaining('lies outside') as string,
  });
  expect(await execution.execute({ tool: 'shell', args: { command: 'cat /etc/shadow' } })).toMatchObject({
    status: 'refused',
  });
  const words = Array.from({ length: 800 }, (_, at) => `w${at}`).join(' ');
  expect(await verdictOf(`tool ${words}`)).toBe('ask');
  expect(await verdictOf(`cat ${Array.from({ length: 2500 }, (_, at) => `w${at}`).join(' ')} .env`)).toBe('deny');
});
