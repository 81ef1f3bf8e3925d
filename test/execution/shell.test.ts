import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { parseRules } from '../../src/domain/rules/parse-rules.ts';
import { findNamed, trustedPlaces } from '../../src/execution/find-program.ts';
import { executionRules } from '../../src/execution/rules.ts';
import { shellTool } from '../../src/execution/tools/shell.ts';
import { runShell } from '../../src/execution/shell/run.ts';
import type { ShellCommand } from '../../src/execution/shell/run.ts';
import { findSandbox } from '../../src/execution/sandbox.ts';
import { bashLine, findBash } from '../../src/execution/shell/bash.ts';

const cwd = mkdtempSync(join(tmpdir(), 'surety-shell-'));
const bash = '/bin/bash';
const none = { kind: 'none', because: 'not wanted here' } as const;
const run = (command: string, more: Partial<ShellCommand> = {}) =>
  runShell({
    ...{ command, bash, cwd, env: { PATH: process.env['PATH'] ?? '' }, timeoutMs: 20_000, maxOutputBytes: 65_536 },
    ...{ sandbox: none, confinement: { writable: [cwd], hidden: [], readOnly: [], network: true } },
    ...more,
  });

/** Living processes whose environment has this variable, as the system tells it. */
function carrying(variable: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(variable);
      } catch {
        return false;
      }
    });
}

it('answers output, exit code and signal', async () => {
  expect(await run('echo out; echo err >&2; exit 3')).toMatchObject({
    ...{ stdout: 'out\n', stderr: 'err\n', exitCode: 3, signal: null, truncated: false, timedOut: false },
  });
  expect(await run('kill -9 $$')).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
  expect(await run('cat', { input: 'given' })).toMatchObject({ stdout: 'given' });
  expect(await run('cat')).toMatchObject({ stdout: '', exitCode: 0 });
});

it('keeps beginning and end, cuts no character, and says what was not text', async () => {
  const cut = await run('seq 1 100000', { maxOutputBytes: 1000 });
  expect(cut).toMatchObject({ truncated: true, bytes: { stdout: 588_895 } });
  expect(cut.stdout.startsWith('1\n2\n')).toBe(true);
  expect(cut.stdout.endsWith('99999\n100000\n')).toBe(true);
  expect(cut.stdout.length).toBeLessThan(1100);
  const umlauts = await run("printf 'ä%.0s' $(seq 1 5000)", { maxOutputBytes: 1001 });
  expect(umlauts.encoding.stdout).toBe('utf8');
  expect(umlauts.stdout).not.toContain('\ufffd');
  const binary = await run(String.raw`printf '\377\000\001'`);
  expect(binary).toMatchObject({ stdout: '/wAB', encoding: { stdout: 'base64', stderr: 'utf8' } });
});

it.runIf(process.platform === 'linux')('leaves no process behind when its time is up', async () => {
  const mark = `TEST_MARK=${process.pid}-timeout`;
  const [name = '', value = ''] = mark.split('=');
  // One that ignores SIGTERM, one that forks twice, and one that leaves the group.
  const command = `trap '' TERM; (trap '' TERM; sleep 100) & ( (sleep 100 &) & ); setsid sleep 100 & sleep 100; sleep 100`;
  const running = run(command, { timeoutMs: 700, env: { PATH: process.env['PATH'] ?? '', [name]: value } });
  await sleep(500);
  expect(carrying(mark).length).toBeGreaterThanOrEqual(4);
  expect(await running).toMatchObject({ timedOut: true, exitCode: 124 });
  expect(carrying(mark)).toEqual([]);
});

it.runIf(process.platform === 'linux')('ends what a command leaves in the background, and says so', async () => {
  const mark = `TEST_MARK=${process.pid}-background`;
  const [name = '', value = ''] = mark.split('=');
  const ended = await run('sleep 100 & echo started', { env: { PATH: process.env['PATH'] ?? '', [name]: value } });
  expect(ended).toMatchObject({ stdout: 'started\n', exitCode: 0, leftBehind: 1 });
  expect(carrying(mark)).toEqual([]);
});

it('leaves no timer behind that would keep whoever called from its end', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
  const before = timers();
  await run('true');
  await run('sleep 100', { timeoutMs: 50 });
  expect(timers()).toBeLessThanOrEqual(before);
});

it('is stopped by its caller', async () => {
  const stop = new AbortController();
  const running = run('sleep 100', { stopped: stop.signal });
  setTimeout(() => stop.abort(), 100);
  expect(await running).toMatchObject({ cancelled: true, timedOut: false, signal: 'SIGTERM' });
});

it('ends when its time is up although its reader has stopped reading', async () => {
  const ended = await run('echo start; yes', { timeoutMs: 300, onOutput: () => new Promise(() => undefined) });
  expect(ended).toMatchObject({ timedOut: true, exitCode: 124 });
  expect(ended.stdout).toContain('start');
});

it('says so when whoever is told of the output stops taking it, and waits for one that is only slow', async () => {
  let told = 0;
  const stalling = () => ((told += 1) > 1 ? new Promise<void>(() => undefined) : Promise.resolve());
  const lost = await run('seq 20000', { timeoutMs: 800, onOutput: stalling });
  expect(lost).toMatchObject({ exitCode: 0, timedOut: false, truncated: true, unread: true });
  let heard = 0;
  const slow = await run('seq 30000', {
    ...{ timeoutMs: 1500, maxOutputBytes: 1_000_000 },
    onOutput: (_, chunk) => sleep(700).then(() => void (heard += chunk.length)),
  });
  expect(slow).toMatchObject({ exitCode: 0, truncated: false, unread: false, bytes: { stdout: 168_894 } });
  expect(heard).toBe(168_894);
});

it.runIf(process.platform === 'linux')('hands on no file that whoever started us has open', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'surety-inherited-')), 'open');
  writeFileSync(file, 'not for commands');
  const program = resolve('test/execution/programs/run-in-shell.ts');
  const { stdout } = spawnSync(
    'bash',
    ['-c', `exec 100<"$1"; exec "$2" --import tsx "$3" 'cat <&100'`, '-', file, process.execPath, program],
    {
      encoding: 'utf8',
    },
  );
  expect(stdout).toBe('');
});

it('waits for a reader that takes longer than the command, and does without one that fails', async () => {
  let heard = 0;
  const told = await run('seq 20000', { onOutput: (_, chunk) => sleep(1300).then(() => void (heard += chunk.length)) });
  expect(told.bytes.stdout).toBe(heard);
  const failing = await run('echo a; sleep 0.2; echo b', { onOutput: () => Promise.reject(new Error('gone')) });
  expect(failing).toMatchObject({ stdout: 'a\nb\n', exitCode: 0 });
});

it(
  'takes a gigabyte of output in bounded memory, and a slow reader slows the command',
  { timeout: 60_000 },
  async () => {
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 20);
    const ended = await run('head -c 1073741824 /dev/zero', { timeoutMs: 50_000 });
    clearInterval(watch);
    expect(ended).toMatchObject({ truncated: true, bytes: { stdout: 1_073_741_824 }, exitCode: 0 });
    expect(most - before).toBeLessThan(200 * 1024 * 1024);
    const slow = await run('head -c 100000000 /dev/zero', { timeoutMs: 500, onOutput: () => sleep(50) });
    expect(slow.timedOut).toBe(true);
    expect(slow.bytes.stdout).toBeLessThan(5_000_000);
  },
);

const sandbox = await findSandbox(await trustedPlaces([], []));
const confined = sandbox.kind === 'none' ? `skipped, ${sandbox.because}` : sandbox.kind;

it.skipIf(sandbox.kind === 'none')(`holds a command to its roots and off the network (${confined})`, async () => {
  const hidden = mkdtempSync(join(cwd, 'hidden-'));
  const outside = mkdtempSync(join(process.cwd(), 'node_modules', '.surety-outside-'));
  const rules = join(cwd, 'rules');
  writeFileSync(rules, 'as it is');
  const within = { sandbox, confinement: { writable: [cwd], hidden: [hidden], readOnly: [rules], network: false } };
  const tried = await run(
    `echo x > within && echo wrote; echo x > ${outside}/file || echo kept; echo x > ${hidden}/file; cat /proc/net/dev
     echo x > rules || cat rules; mv rules elsewhere || rm -f rules || echo ' still'`,
    within,
  );
  expect(tried.stdout).toContain('wrote\nkept\n');
  expect(tried.stdout).toContain('as it is still');
  expect(tried.stdout).not.toMatch(/eth|ens|enp|wlan/);
  expect(readdirSync(outside)).toEqual([]);
  expect(readdirSync(hidden)).toEqual([]);
  expect(readFileSync(join(cwd, 'within'), 'utf8')).toBe('x\n');
  const env = { PATH: process.env['PATH'] ?? '', TMPDIR: outside };
  expect(await run('mktemp', { ...within, env })).toMatchObject({
    stdout: expect.stringMatching(/^\/tmp\//) as string,
  });
  const settings = await run('find /proc/sys -writable 2> /dev/null', within);
  expect(settings).toMatchObject({ stdout: '' });
  expect(await run('setsid env -i sleep 100 & sleep 100', { ...within, timeoutMs: 300 })).toMatchObject({
    timedOut: true,
  });
});

it.skipIf(sandbox.kind !== 'bubblewrap')(
  'leaves the directories around Surety’s own files where they are',
  async () => {
    const [hidden, rules] = [join(cwd, 'around/home/data'), join(cwd, 'project/rules')];
    for (const directory of [hidden, join(cwd, 'project'), join(cwd, 'other')])
      mkdirSync(directory, { recursive: true });
    writeFileSync(rules, 'as it is');
    const missing = join(cwd, 'nowhere/rules');
    const confinement = { writable: [cwd], hidden: [hidden], readOnly: [rules, missing], network: true };
    const { stdout } = await run(
      'for d in around/home around project other; do mv $d moved && echo $d moved; done; echo x > project/new && echo written',
      { sandbox, confinement },
    );
    expect(stdout).toBe('other moved\nwritten\n');
    expect(readdirSync(join(cwd, 'around/home'))).toEqual(['data']);
  },
);

it.skipIf(sandbox.kind === 'none')(`lets a command that is out of time end by itself (${confined})`, async () => {
  const command = `trap 'echo told; exit 3' TERM; sleep 100 & wait`;
  const within = { sandbox, confinement: { writable: [cwd], hidden: [], readOnly: [], network: true } };
  expect(await run(command, { ...within, timeoutMs: 700 })).toMatchObject({ stdout: 'told\n', exitCode: 124 });
});

it.skipIf(sandbox.kind !== 'bubblewrap')(
  'leaves no process behind in a sandbox, whatever it does not listen to',
  async () => {
    const mark = `TEST_MARK=${process.pid}-confined`;
    const [name = '', value = ''] = mark.split('=');
    const command = `trap '' TERM; (trap '' TERM; sleep 100) & setsid sleep 100 & sleep 100; sleep 100`;
    const confinement = { writable: [cwd], hidden: [], readOnly: [], network: true };
    const env = { PATH: process.env['PATH'] ?? '', [name]: value };
    const running = run(command, { sandbox, confinement, timeoutMs: 700, env });
    await sleep(500);
    expect(carrying(mark).length).toBeGreaterThanOrEqual(4);
    expect(await running).toMatchObject({ timedOut: true, exitCode: 124 });
    expect(carrying(mark)).toEqual([]);
  },
);

it.skipIf(sandbox.kind !== 'bubblewrap')(
  'has devices, processes and settings of its own where the root is all there is',
  async () => {
    const confinement = { writable: ['/'], hidden: [], readOnly: [], network: true };
    const told = await run(
      `echo x > /dev/null && echo devices; echo x > within-all && echo wrote; ls -d /proc/${process.pid} || echo processes
     find /proc/sys -writable 2> /dev/null`,
      { sandbox, confinement },
    );
    expect(told.stdout).toBe('devices\nwrote\nprocesses\n');
    expect(readFileSync(join(cwd, 'within-all'), 'utf8')).toBe('x\n');
  },
);

it.skipIf(sandbox.kind !== 'bubblewrap')('runs no blocked program, whoever calls it and by which name', async () => {
  const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'surety-blocked-')));
  const forbidden = join(elsewhere, 'forbidden');
  writeFileSync(forbidden, '#!/bin/sh\necho it ran\n', { mode: 0o755 });
  symlinkSync(forbidden, join(elsewhere, 'friendly'));
  writeFileSync(join(cwd, 'script.sh'), 'forbidden\n');
  const env = { PATH: `${elsewhere}:${process.env['PATH'] ?? ''}` };
  const confinement = { writable: [cwd, elsewhere], hidden: [] as readonly string[], readOnly: [], network: true };
  expect(await run('sh script.sh; friendly', { sandbox, confinement, env })).toMatchObject({
    stdout: 'it ran\nit ran\n',
  });
  const hidden = await findNamed(/forbidden/, [elsewhere]);
  const tried = await run(
    `for way in 'sh script.sh' friendly 'sh ${forbidden}' "bash -c 'for''bidden'" 'cp ${forbidden} x && ./x' 'mv ${forbidden} x && ./x'; do eval "$way"; done; forbidden`,
    { sandbox, confinement: { ...confinement, hidden }, env },
  );
  expect(tried).toMatchObject({ stdout: '', exitCode: 126 });
  expect(tried.stderr).toContain('forbidden: Permission denied');
});

it('finds programs by their names, and leaves one alone that goes by others as well', async () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'surety-named-')));
  const [own, many, other] = ['own', 'many', 'other'].map((name) => join(directory, name));
  for (const each of [own, many, other]) mkdirSync(String(each));
  writeFileSync(join(String(own), 'mkfs.ext4'), '');
  writeFileSync(join(String(own), 'mkfs.md.txt'), '');
  writeFileSync(join(String(many), 'busybox'), '');
  symlinkSync(join(String(many), 'busybox'), join(String(many), 'wget'));
  symlinkSync(join(String(own), 'mkfs.ext4'), join(String(other), 'mkfs.ext3'));
  symlinkSync('/nowhere', join(String(other), 'mkfs'));
  const places = [String(own), String(many), String(other), join(directory, 'missing'), 'relative'];
  const found = await findNamed(/mkfs\.ext\d|mkfs|wget/, places);
  expect(found.filter((path) => path.startsWith(directory))).toEqual([join(String(own), 'mkfs.ext4')]);
});

it('runs what it is given by bash, as bash: neither the environment nor a leading dash changes what it means', async () => {
  const told = await run(`((1 + 1)) && [[ a == a && -n $BASH_VERSION ]] && echo $'\\x62ash' "$SHELLOPTS"`);
  expect(told.stdout).toMatch(/^bash (?!.*posix)/);
  expect(bashLine('bash', '-x').slice(-2)).toEqual(['--', '-x']);
  expect(await run('-x -c id')).toMatchObject({ stdout: '', exitCode: 127 });
  expect((await run('alias ls="echo aliased"\nls')).stdout).not.toContain('aliased');
});

/** What the shell tool of an installation answers. */
async function toldBy(
  command: string,
  { root = cwd, rules = {}, environment }: { root?: string; rules?: object; environment: Record<string, string> },
): Promise<string> {
  const given = { PATH: process.env['PATH'] ?? '', ...environment };
  const tool = shellTool(
    await executionRules(parseRules(rules), root),
    given,
    await findBash(await trustedPlaces([], [])),
  );
  const confinement = { writable: [root], hidden: [], readOnly: [], network: true };
  const { text } = await tool.run({ command }, { stopped: new AbortController().signal, sandbox: none, confinement });
  return text.trim();
}

it('keeps secrets of its own environment from a command, and nothing that says which session it is', async () => {
  const secrets = { DB_PW: 'hunter2', CI_JOB_JWT: 'hunter2', ID_RSA: 'hunter2', SENTRY_DSN: 'hunter2' };
  const told = await toldBy('env', { environment: { ...secrets, XDG_SESSION_ID: '3' } });
  expect(told).not.toContain('hunter2');
  expect(told).toMatch(/^XDG_SESSION_ID=3$/m);
});

it('begins where it was judged, whatever link led there', async () => {
  const [home, elsewhere] = ['home', 'else'].map((name) =>
    realpathSync(mkdtempSync(join(tmpdir(), `surety-${name}-`))),
  );
  const [work, link] = [join(String(home), 'work'), join(String(elsewhere), 'link')];
  mkdirSync(work);
  symlinkSync(work, link);
  const led = { root: work, rules: { runner: { passEnvironment: ['*'] } }, environment: { PWD: link } };
  expect(await toldBy('env', led)).toContain(`PWD=${work}`);
  expect(await toldBy('cd .. && pwd', led)).toBe(home);
});

it('takes bash from where systems keep it before the search path, and says what is missing where there is none', async () => {
  expect(await findBash(await trustedPlaces(['/nowhere'], []))).toEqual({ found: true, program: '/bin/bash' });
  const missing = await findBash([cwd]);
  if (missing.found) throw new Error('there is one');
  expect(`${missing.because}. ${missing.wayOut}`).toMatch(/no bash.*Install bash/);
  const tool = shellTool(await executionRules(parseRules({}), cwd), {}, missing);
  const { exitCode, failure } = await tool.run(
    { command: `touch ${cwd}/ran` },
    {
      stopped: new AbortController().signal,
      sandbox: none,
      confinement: { writable: [cwd], hidden: [], readOnly: [], network: true },
    },
  );
  expect(exitCode).toBe(null);
  expect(failure).toEqual({ category: 'permanent_failure', message: `${missing.because}. ${missing.wayOut}` });
  expect(readdirSync(cwd)).not.toContain('ran');
});

it('takes nothing that holds commands from where commands may write, whatever stands first on the search path', async () => {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'surety-search-')));
  const [own, link, other] = ['own', 'link', 'other'].map((name) => join(project, name));
  mkdirSync(String(own));
  mkdirSync(String(other));
  symlinkSync(String(own), join(cwd, 'led-in'));
  const searchPath = [String(own), join(cwd, 'led-in'), 'relative', String(link), String(other)];
  const places = await trustedPlaces(searchPath, [String(own)]);
  expect(places[0]).toBe('/bin');
  expect(places.filter((place) => place.startsWith(project))).toEqual([other]);
  expect(places).not.toContain(join(cwd, 'led-in'));
});

it('says why there is no sandbox, and does not take a program’s word for it', async () => {
  expect(await findSandbox([])).toMatchObject({ kind: 'none' });
  expect(await findSandbox([], 'win32')).toMatchObject({ kind: 'none', because: 'there is none for win32' });
});
