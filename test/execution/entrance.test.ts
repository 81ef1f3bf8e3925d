import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { openExecution } from '../../src/execution/open.ts';
import type { OpenExecution } from '../../src/execution/open.ts';

// The library as it is opened, without a ledger: what enters is what is checked, what runs and what is written down.

const opened: OpenExecution[] = [];
afterAll(async () => {
  await Promise.all(opened.map((each) => each.close()));
  vi.unstubAllEnvs();
});

async function open(rules: object = {}, onRulesRefused?: (problem: Error) => void) {
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'surety-entrance-')));
  const home = join(project, '.surety');
  vi.stubEnv('SURETY_HOME', home);
  writeFileSync(join(project, 'surety.json'), JSON.stringify({ runner: { sandbox: 'off' }, ...rules }));
  for (const name of ['safe', 'secret.env']) writeFileSync(join(project, name), name);
  const execution = await openExecution({ project, ...(onRulesRefused === undefined ? {} : { onRulesRefused }) });
  opened.push(execution);
  const lines = () =>
    readdirSync(join(home, 'audit'))
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) =>
        readFileSync(join(home, 'audit', name), 'utf8')
          .trim()
          .split('\n'),
      )
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { execution, project, lines };
}

const denying = { file: { denyRead: ['*.env'] } };

/** Says `safe` so many times, and another name from then on. */
function turncoat(times: number): () => string {
  let asked = 0;
  return () => ((asked += 1) <= times ? 'safe' : 'secret.env');
}

it('reads the arguments once, however they change afterwards', async () => {
  const { execution, lines } = await open(denying);
  const contents = new Set<unknown>();
  for (let times = 0; times < 8; times += 1) {
    const say = [turncoat(times), turncoat(times), turncoat(times)];
    const disguises = [
      { get path() { return say[0]?.(); } }, // prettier-ignore
      new Proxy({ path: '' }, { get: (_, key) => (key === 'path' ? say[1]?.() : undefined) }),
      { toJSON: () => ({ path: say[2]?.() }) },
    ];
    for (const args of disguises) {
      const executed = await execution.execute({ tool: 'read', args });
      if (executed.status === 'done') contents.add(JSON.stringify(executed.output.value).includes('secret'));
    }
  }
  expect([...contents]).toEqual([false]);
  const args: { path: string } = { path: 'safe' };
  const running = execution.execute({ tool: 'read', args });
  args.path = 'secret.env';
  expect(await running).toMatchObject({ status: 'done', output: { value: { content: 'safe' } } });
  expect(lines().at(-1)).toMatchObject({ arguments: { path: 'safe' }, result: 'success' });
});

it('takes the question for what was asked, not for what its holder makes of it', async () => {
  const { execution, project } = await open();
  const asked = await execution.execute({ tool: 'shell', args: { command: 'rm safe' } });
  if (asked.status !== 'ask') throw new Error(asked.status);
  const { args } = asked.question.call;
  expect(() => Object.assign(args as object, { command: 'rm secret.env' })).toThrow(TypeError);
  expect(() => Object.assign(asked.question.call, { args: { command: 'rm secret.env' } })).toThrow(TypeError);
  expect(readdirSync(project)).toContain('secret.env');
});

it('refuses what is no call, with a line for each', async () => {
  const { execution, lines } = await open();
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const odd = [
    { tool: 'read', args: cycle },
    { tool: 'read', args: 10n },
    { tool: 'read', args: JSON.parse('{"path":"safe","__proto__":{"offset":1}}') as unknown },
    { tool: 'read', args: { path: 'safe', constructor: 1 } },
    { tool: 'x'.repeat(5000), args: {} },
    { tool: 'shell', args: { command: 'echo safe' }, session: 's'.repeat(100_000) },
    { tool: 'read', args: { path: 'a\0b' } },
  ];
  for (const call of odd) expect((await execution.execute(call)).status).not.toBe('done');
  expect(await execution.execute({ tool: 'shell', args: { command: 'echo a\0b' } })).not.toMatchObject({
    status: 'done',
  });
  expect(lines()).toHaveLength(odd.length + 1);
  // What would be another text once it is run is that text already when it is judged.
  const half = await execution.execute({ tool: 'shell', args: { command: 'echo \ud800' } });
  expect(half).toMatchObject({ status: 'done', output: { value: { stdout: '\ufffd\n' } } });
  expect(lines().at(-1)).toMatchObject({ command: 'echo \ufffd' });
});

it('follows surety.json: the next call is judged by what was saved, and by the old rules if that is unusable', async () => {
  const refused: string[] = [];
  const { execution, project } = await open({}, ({ message }) => refused.push(message));
  const file = join(project, 'surety.json');
  const status = async () => (await execution.execute({ tool: 'read', args: { path: 'secret.env' } })).status;
  expect(await status()).toBe('done');
  writeFileSync(file, JSON.stringify({ runner: { sandbox: 'off' }, ...denying }));
  expect(await status()).toBe('refused');
  for (const broken of [
    '{"file":',
    '{"file":{"denyRead":["["]}}',
    '{"no such key":1}',
    '{"file":{"roots":["gone"]}}',
  ]) {
    writeFileSync(file, broken);
    expect(await status()).toBe('refused');
    expect(await status()).toBe('refused');
  }
  rmSync(file);
  expect(await status()).toBe('refused');
  expect(refused).toHaveLength(5);
  writeFileSync(file, JSON.stringify({ shell: { deny: ['echo *'] } }));
  expect(await status()).toBe('done');
  expect(await execution.execute({ tool: 'shell', args: { command: 'echo x' } })).toMatchObject({
    status: 'refused',
    refusal: { stage: 'policy' },
  });
});

it('to be in a directory is to read nothing: allow lists are about what a command names', async () => {
  const { execution, project } = await open({ file: { allowRead: ['src/**'] }, shell: { trust: 'trusted' } });
  mkdirSync(join(project, 'src'));
  for (const name of ['src/a', 'b']) writeFileSync(join(project, name), 'x');
  const status = async (command: string, more = {}) =>
    (await execution.execute({ tool: 'shell', args: { command, ...more } })).status;
  expect([await status('echo hi'), await status('cat src/a'), await status('cat a', { cwd: 'src' })]).toEqual(
    Array(3).fill('done'),
  );
  expect([await status('cat b'), await status('grep -r x .'), await status('pwd', { cwd: '/etc' })]).toEqual(
    Array(3).fill('refused'),
  );
  const inFile = await execution.execute({ tool: 'shell', args: { command: 'pwd', cwd: 'src/a' } });
  expect(inFile).toMatchObject({ status: 'failed', error: { category: 'invalid_parameters' } });
});

it('an authorisation rule about all paths is about the root as well', async () => {
  const authorization = {
    enabled: true,
    default: 'deny',
    rules: [{ action: 'allow', tools: ['shell', 'glob'], paths: ['**'] }],
  };
  const { execution } = await open({ authorization });
  const calls = [
    { tool: 'shell', args: { command: 'echo hi' } },
    { tool: 'glob', args: { pattern: '*' } },
    { tool: 'shell', args: { command: 'echo hi', cwd: '/etc' } },
  ];
  const ended = [];
  for (const call of calls) ended.push((await execution.execute(call)).status);
  expect(ended).toEqual(['done', 'done', 'refused']);
});

it('keeps its own files from the tools and from paths in commands', async () => {
  const { execution, project } = await open({ file: { allowRead: ['**'] }, shell: { trust: 'trusted' } });
  mkdirSync(join(project, '.surety/postgres'), { recursive: true });
  writeFileSync(join(project, '.surety/postgres/password'), 'PASSWORD');
  for (const command of [
    ...['cat .surety/postgres/password', 'cat < .surety/postgres/password', 'cat .sur*/*/password', 'ls .surety'],
    ...[
      'echo {} > surety.json',
      'cp safe surety.json',
      'rm surety.json',
      'cat later/../.surety/postgres/password',
      'mv .surety x',
    ],
  ]) {
    expect([command, await execution.execute({ tool: 'shell', args: { command } })]).toMatchObject([
      command,
      { status: 'refused', refusal: { stage: 'policy' } },
    ]);
  }
  expect(await execution.execute({ tool: 'shell', args: { command: 'pwd', cwd: '.surety' } })).toMatchObject({
    status: 'refused',
  });
});
